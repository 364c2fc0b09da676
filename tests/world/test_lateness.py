"""How late anything may be: what is held back comes back in time, in Runs and in race files."""

from __future__ import annotations

import pytest

from testbed import Client, Evidence, World, eventually
from testbed.choosers.sampling.sampler import Sampler
from testbed.choosers.surw import SURW
from testbed.choosers.urw import URW
from testbed.cli import main
from testbed.errors import ScenarioError
from testbed.faults.lag import Lag
from testbed.faults.partition import Partition
from testbed.faults.stall import Stall
from testbed.objects import Note
from testbed.races.playing import play, race_of
from testbed.races.racefile import parse
from testbed.turns.option import ASIDE, PICK
from testbed.turns.trace import Trace
from testbed.world.scenario import Scenario, find, of
from tests.each_row import each_row
from tests.shared.stage import Puppet


def late_ms(trace: Trace) -> int:
    """How late the latest turn was."""
    turns = [step for step in trace.steps if step.kind not in (*ASIDE, PICK)]
    return max(step.now_ms - step.option.due_ms for step in turns)


def test_nothing_is_later_than_that() -> None:
    """In whatever a sampler holds back, and in the race of that Run, which is the same Run."""
    latest, limits = 0, {"limit.lateness_ms": "1000"}
    recipe = find("web_server")
    for seed in range(14):
        sampler: type[Sampler] = (URW, SURW)[seed % 2]
        world, trace = recipe.world(limits), Trace({}, keep=True)
        verdict = world.run(sampler(seed), driver="direct", trace=trace)
        latest = max(latest, late_ms(trace))
        race = parse(race_of(recipe, limits, trace.choices).text(), "a.race.yaml")
        again = play(race, recipe).verdict
        assert (again.outcome, again.turns) == (verdict.outcome, verdict.turns)
    assert latest == 1000


async def asks(client: Client) -> None:
    """Creates a note; it has a minute of other things to do."""
    client.spawn("others", others, client)
    await client.create(Note("a"))


async def others(client: Client) -> None:
    """Lets a minute pass, second by second."""
    for _ in range(60):
        await client.sleep(1000, "tick")


def there(see: Evidence) -> str | None:
    """The note is there."""
    return None if see.store.peek("notes/default/a") else "it is not there"


def asked(world: World, *, lateness_ms: int = 0) -> None:
    """A note must be there within three seconds."""
    world.start(Puppet("alpha", asks))
    world.claim(eventually(there, within_ms=3_000))
    if lateness_ms:
        world.limit(lateness_ms=lateness_ms)


@each_row("until", ["quiet", "30s", "wake of tick#40 of alpha/others"])
def test_a_race_file_holds_nothing_for_longer(until: str) -> None:
    """Whatever its line says; a deadline is met then that is missed otherwise."""
    text = f"scenario: s\nholds:\n- hold: alpha create notes/default/a\n  until: {until}\n"
    race, recipe = parse(text, "a.race.yaml"), of(asked, "s")
    missed = play(race, recipe).verdict
    assert [v.invariant for v in missed.violations] == ["there"]
    assert play(race, recipe, switches={"lateness_ms": 2_000}).verdict.is_held


@each_row(
    ("fault", "said"),
    [
        (Lag("alpha", by_ms=6_000), "lag,by=6s: nothing may be later than lateness_ms=2_000"),
        (Stall("alpha", by_ms=6_000), "Next: allow stall,by=2s, or say a larger lateness_ms"),
        (Partition("alpha", for_ms=6_000), "partition,for=6s: nothing may be later than"),
    ],
)
def test_a_fault_that_makes_things_later_is_refused(fault: Lag, said: str) -> None:
    """Before the first turn."""
    recipe = of(asked)
    with pytest.raises(ScenarioError) as refused:
        run(recipe, fault)
    assert said in str(refused.value)


def run(recipe: Scenario, fault: Lag) -> None:
    """Play it with that fault, where nothing may be later than two seconds."""
    recipe.world({"lateness_ms": 2_000}, faults=[fault]).run(SURW(0), driver="direct")


def test_a_search_says_that_any_hold_breaks_a_deadline(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Unless it is said how late anything may be."""
    name = f"{__name__}:asked"
    assert main(["search", name, "--runs", "100"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("Note: there must come true in time, and what is held back may be late")
    assert main(["search", name, "--runs", "100", "--limit", "lateness_ms=2s"]) == 0
    assert "Note: there must" not in capsys.readouterr().out
