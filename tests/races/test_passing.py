"""PassedHold: ends of a hold in one stretch come to the same; others may not."""

from __future__ import annotations

import attrs

from testbed import Client, Evidence, World, always
from testbed.objects import Note
from testbed.races.noting import Names
from testbed.races.passing import PassedHold, passing
from testbed.races.playing import Played, play
from testbed.races.race import Race
from testbed.races.racefile import parse
from testbed.turns.option import DELIVER, SERVE
from testbed.world.scenario import Scenario, find, of
from tests.each_row import each_row
from tests.shared.stage import Puppet, note

HELD = (
    ("lost_update", "alpha update notes/default/list"),
    ("double_bind", "alpha bind pods/default/c"),
)


def quiet(name: str, what: str) -> tuple[Race, Scenario, Played]:
    """A hold of that until quiet, and its Run."""
    race = parse(f'scenario: {name}\nholds:\n  - hold: "{what}"\n    until: quiet\n', "quiet")
    return race, find(name), play(race, find(name))


@each_row(("name", "what"), HELD)
def test_ends_in_one_stretch_show_the_same(name: str, what: str) -> None:
    """Each end that a race file can name is played."""
    race, recipe, played = quiet(name, what)
    passed = passing(played, 0)
    assert passed is not None
    names, shown = Names.in_steps(played.trace.steps), dict[int, set[str]]()
    for end in passed.ends:
        if end.option.kind in (SERVE, DELIVER):
            hold = attrs.evolve(race.holds[0], until=names.of(end.option))
            verdict = play(attrs.evolve(race, holds=(hold,)), recipe).verdict
            said = "; ".join(violation.said for violation in verdict.violations)
            shown.setdefault(end.stretch, set()).add(said)
    assert all(len(said) == 1 for said in shown.values()), shown
    # It is for these that the stretches are told apart.
    assert len(set[str]().union(*shown.values())) > 1


def writes_and_reads(world: World) -> None:
    """Alpha writes `a`; beta looks at `b` twice, then at `a`, and after a second at `b` again."""

    async def alpha(client: Client) -> None:
        await client.update(note("a", by="alpha"), whatever_it_was=True)

    async def beta(client: Client) -> None:
        for name in ("b", "b", "a"):
            await client.get(Note, name)
        await client.sleep(1000)
        await client.get(Note, "b")

    def nothing(see: Evidence) -> str | None:
        return None

    world.add(note("a"), note("b"))
    world.start(Puppet("alpha", alpha), Puppet("beta", beta))
    world.claim(always(nothing, reads=()))


def of_alpha(what: str) -> PassedHold | None:
    """What passes a hold of that."""
    race = parse(f"scenario: x\nholds:\n  - hold: {what}\n    until: quiet\n", "quiet")
    return passing(play(race, of(writes_and_reads)), 0)


def test_a_stretch_ends_where_something_clashes_or_time_passes() -> None:
    """The first two reads are of another object."""
    passed = of_alpha("alpha update notes/default/a")
    assert passed is not None
    reads = [(end.option.key[-1], end.stretch) for end in passed.ends if end.option.kind == SERVE]
    (first, second, third, fourth) = reads
    assert [key for key, _ in reads] == ["b", "b", "a", "b"]
    assert first[1] == second[1] < third[1] < fourth[1] <= passed.last


def test_what_holds_nothing_is_passed_by_nothing() -> None:
    """It never came up."""
    assert of_alpha("alpha update notes/default/c") is None
