"""A Run that is judged up to a time: what is still to come then, and what is not."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from textwrap import dedent

import pytest

from testbed import Client, World, eventually, quiescent
from testbed.chooser import Chooser, Plan, RunInfo
from testbed.choosers.calm import Calm
from testbed.cli import main
from testbed.errors import RaceRefused, ScenarioError, UnknownName
from testbed.faults.crash import Crash
from testbed.faults.stall import Stall
from testbed.objects import Note
from testbed.races.playing import play as play_race
from testbed.races.racefile import parse
from testbed.turns.option import Choice, HoldBack, Release
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Trace
from testbed.world.scenario import of
from tests.each_row import each_row
from tests.shared.stage import Puppet

UNTIL_MS = 4_500


async def beats(client: Client) -> None:
    """Writes on the note every second."""
    for number in count():
        client.record("beats")
        await client.update((await client.get(Note, "n")).saying(beat=str(number)))
        await client.sleep(1000, "beat")


def beating(world: World) -> None:
    """A note, and who writes on it for ever."""
    world.add(Note("n"))
    world.start(Puppet("a", beats))
    world.limit(until_ms=UNTIL_MS)


def at_ms(world: World) -> list[int]:
    """When something was recorded."""
    return [record.now_ms for record in world.table.records]


def test_no_timer_goes_off_later() -> None:
    """The Run is at rest then, and judged; its verdict says up to when."""
    world = of(beating).world()
    world.claim(quiescent(lambda see: f"at {see.now_ms}"))
    verdict = world.run(Calm(), driver="direct")
    assert at_ms(world) == [0, 1000, 2000, 3000, 4000]
    assert [v.said for v in verdict.violations] == ["at 4000"]
    world = of(beating).world()
    assert str(world.run(Calm(), driver="direct")).startswith("Held up to 4,500 ms. Looked at: ")


def test_what_comes_to_its_own_end_before_is_held_without_more_words() -> None:
    """No timer is left then."""

    def build(world: World) -> None:
        world.start(Puppet("a", lambda client: client.create(Note("m"))))
        world.limit(until_ms=UNTIL_MS)

    assert str(of(build).world().run(Calm(), driver="direct")).startswith("Held. ")


def test_what_is_on_its_way_then_comes_in() -> None:
    """A request that takes ten seconds is served, and answered; its caller sleeps no more."""
    world = of(beating).world()
    world.latency("update notes", serve_ms=10_000)
    verdict = world.run(Calm(), driver="direct")
    assert (verdict.end, verdict.virtual_ms, verdict.until_ms) == ("quiet", 10_000, UNTIL_MS)
    assert at_ms(world) == [0]


class HoldsFirst(Chooser):
    """Holds back the first Option that fits, until it must let it go or for a while."""

    def __init__(self, kind: str, for_ms: int | None) -> None:
        self._kind = kind
        self._for_ms = for_ms

    def begin(self, run: RunInfo) -> Plan | None:
        return Plan("holds")

    def choose(self, options: Options | Alternatives) -> Choice:
        if not options.ready and isinstance(options, Options):
            return Release(0)
        if self._kind and options[0].kind == self._kind:
            self._kind = ""
            return HoldBack(0, self._for_ms)
        return 0


@each_row(
    ("kind", "for_ms", "told"),
    [
        ("serve", None, [0]),  # let go when nothing else is left
        ("wake", None, [0, 1000, 2000, 3000, 4000]),  # and then there is time to go on
        ("wake", 9_000, [0, 9_000]),  # due in time, so it goes off, however late
    ],
)
def test_what_is_held_then_is_let_go(kind: str, for_ms: int | None, told: list[int]) -> None:
    """Nothing that was due in time is lost."""
    world = of(beating).world()
    verdict = world.run(HoldsFirst(kind, for_ms), driver="direct")
    assert verdict.end == "quiet"
    assert not world.table.pending.held
    if kind == "serve":
        assert at_ms(world)[:1] == told
    else:
        assert at_ms(world) == told


class Sees(Calm):
    """Notes when a fault could strike, and lets the first that fits do so."""

    def __init__(self, word: str) -> None:
        self._word = word
        self.offered_ms: list[int] = []
        self.turns_ms: list[int] = []

    def choose(self, options: Options | Alternatives) -> int:
        if not isinstance(options, Options):
            return 0
        self.turns_ms.append(options.now_ms)
        self.offered_ms += [options.now_ms] * bool(options.faults)
        found = [n for n, fault in enumerate(options.faults) if fault.verb == self._word]
        self._word = "" if found else self._word
        return options.ready + found[0] if found else 0


def test_no_fault_strikes_later() -> None:
    """Nor while what is late comes in; up to then each may."""
    world = of(beating).world()
    world.allow(Crash("a"), Stall("a", by_ms=60_000))
    chooser = Sees("stall")
    assert world.run(chooser, driver="direct").faults == 1
    assert max(chooser.offered_ms) <= UNTIL_MS < max(chooser.turns_ms)


def test_eventually_means_by_then() -> None:
    """What comes true after that time does not."""

    def build(world: World, *, until_ms: int = 2_000) -> None:
        world.start(Puppet("a", late))
        world.claim(eventually(there))
        world.limit(until_ms=until_ms)

    async def late(client: Client) -> None:
        await client.sleep(3_000)
        await client.create(Note("m"))

    def there(see) -> str | None:  # type: ignore[no-untyped-def]
        return None if see.store.peek("notes/default/m") else "it is not there"

    for until_ms, outcome in ((2_000, "violated"), (3_000, "held")):
        world = of(build).world({"until_ms": until_ms})
        assert world.run(Calm(), driver="direct").outcome == outcome


# -- how it is said -----------------------------------------------------------------------------


MINE = """
    from testbed import Actor
    from testbed.objects import Note

    class Beat(Actor):
        async def run(self, client):
            while True:
                await client.update((await client.get(Note, "n")).saying(at=str(client.now())))
                await client.sleep(1000)

    def beats(world):
        world.add(Note("n"))
        world.start(Beat("a"))
"""


def test_a_user_says_it_on_the_command_line(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of one Run and of a search; what is printed to be pasted says it, too."""
    (own / "mine.py").write_text(dedent(MINE))
    limit = ("--limit", "until_ms=3s")
    assert main(["run", "mine:beats", *limit]) == 0, capsys.readouterr()
    said = capsys.readouterr().out
    assert said.startswith("Held up to 3,000 ms. ")
    assert "Again: testbed run mine:beats --switch limit.until_ms=3s" in said
    words = ["search", "mine:beats", *limit, "--effort", "complete", "--out", "proof", "--json"]
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["said"].startswith("Held up to 3,000 ms: complete")
    assert found["until_ms"] == 3_000
    (proof,) = map(str, Path("proof").glob("*.certificate.jsonl"))
    assert main(["certify", proof, "--scenario-path", ".", "--replay", "5"]) == 0
    assert ": held up to 3,000 ms, in 1 class of " in capsys.readouterr().out
    assert main(["run", "mine:beats", "--limit", "3s"]) == 2
    assert "--limit 3s: expected NAME=N." in capsys.readouterr().err


def test_a_race_file_says_it() -> None:
    """As a limit, under the name that it has in a scenario."""
    race = parse("scenario: s\nlimits: {until_ms: 2s}\n", "a.race.yaml")
    assert race.text() == "scenario: s\nlimits: {until_ms: 2s}\n"
    recipe = of(lambda world: (world.add(Note("n")), world.start(Puppet("a", beats)))[1], "s")
    assert play_race(race, recipe).verdict.until_ms == 2_000


@each_row(
    ("limits", "said"),
    [
        ({"limit.until": "1"}, "there is no limit 'until'. Did you mean 'until_ms'?"),
        ({"limit.until_ms": "soon"}, "limit until_ms=soon: expected a whole number, or a duration"),
        ({"limit.turns_max": "5s"}, "limit turns_max=5s: expected a whole number.\n"),
    ],
)
def test_a_limit_that_is_none_is_refused(limits: dict[str, str], said: str) -> None:
    """With what was expected."""
    with pytest.raises((ScenarioError, UnknownName)) as refused:
        of(beating).world(limits)
    assert said in str(refused.value)


def test_a_limit_of_a_race_file_that_is_none_is_refused_at_its_line() -> None:
    """Nothing was played by then."""
    with pytest.raises(RaceRefused, match=r"line 2.*there is no limit 'until'"):
        parse("scenario: s\nlimits: {until: 2s}\n", "a.race.yaml")


def test_a_trace_replays_what_a_user_has_limited() -> None:
    """Its header says so, among the switches."""
    recipe = of(beating)
    world = recipe.world({"limit.until_ms": 1_000})
    trace = Trace({}, keep=True)
    world.run(Calm(), driver="direct", trace=trace)
    assert trace.header["switches"] == {"limit.until_ms": "1000"}
    assert at_ms(world) == [0, 1000]
