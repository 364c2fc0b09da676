"""Continued: a prefix of a Run to the letter, and then another Chooser's own Run."""

from __future__ import annotations

import pytest

from testbed.chooser import Chooser, Plan, RunInfo
from testbed.choosers.calm import Calm
from testbed.choosers.continued import Continued
from testbed.choosers.uniform import Uniform
from testbed.client.client import Client
from testbed.faults.crash import Crash
from testbed.objects import Note
from testbed.turns.option import Choice, HoldBack
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Step, Trace
from testbed.world.scenario import find
from testbed.world.world import World
from tests.shared.stage import note, world_of


def run(world: World, chooser: Chooser, number: int = 0) -> Trace:
    """The trace of one Run."""
    trace = Trace({}, keep=True)
    world.run(chooser, driver="direct", trace=trace, number=number)
    return trace


@pytest.mark.parametrize("name", ["lost_update", "tests.shared.lots:drawing_lots"])
def test_the_prefix_is_played_to_the_letter(name: str) -> None:
    """Turns, faults and picks alike; from there on the other Chooser decides."""
    switches = {"faults": "2"} if "lots" in name else {}
    first = run(find(name).world(switches), Uniform(1))
    for length in range(0, len(first.choices), 3):
        again = run(find(name).world(switches), Continued(first.choices[:length], Uniform(7)))
        assert again.choices[:length] == first.choices[:length]
        was, is_now = (
            [str(step.sentence) for step in trace.steps[:length]] for trace in (first, again)
        )
        assert was == is_now


def test_without_a_prefix_it_is_the_other_chooser() -> None:
    """Run i of it is that one's run i."""
    for number in range(4):
        alone = run(find("lost_update").world(), Uniform(3), number)
        continued = run(find("lost_update").world(), Continued((), Uniform(3)), number)
        assert continued.choices == alone.choices


def test_each_run_of_it_is_another_continuation() -> None:
    """The prefix is the same, what follows is not; and the same number is the same Run."""
    prefix = run(find("lost_update").world(), Calm()).choices[:2]
    chooser = Continued(prefix, Uniform(1))
    seen = [tuple(run(find("lost_update").world(), chooser, n).choices) for n in range(20)]
    assert {choices[:2] for choices in seen} == {tuple(prefix)}
    assert len(set(seen)) > 3
    assert tuple(run(find("lost_update").world(), chooser, 5).choices) == seen[5]


async def waits(client: Client) -> None:
    """One request, and then for work."""
    await client.get(Note, "n")
    await client.queue(idle=True).get()


async def get_twice(client: Client) -> None:
    """Two turns of the Store."""
    await client.get(Note, "n")
    await client.get(Note, "n")


class Heard(Calm):
    """Calm, and keeps what it was shown and told."""

    def __init__(self) -> None:
        self.chose: list[str] = []
        self.told: list[int] = []
        self.ready: list[int] = []

    def choose(self, options: Options | Alternatives) -> int:
        self.chose.append(str(options[0]))
        self.ready.append(options.ready)
        return 0

    def ended(self, step: Step) -> None:
        self.told.append(step.number)


def test_what_the_prefix_held_back_comes_back() -> None:
    """Else no continuation could choose it: all that is held is let go, oldest first, before the
    other Chooser is asked."""
    world = world_of(alpha=get_twice, beta=get_twice)
    world.add(note())
    heard = Heard()
    prefix: list[Choice] = [0, HoldBack(0), HoldBack(0)]
    trace = run(world, Continued(prefix, heard))
    kinds = [step.kind for step in trace.steps]
    assert kinds[:5] == ["start", "hold", "hold", "release", "release"]
    assert heard.ready[0] == 2


def test_the_other_chooser_hears_of_its_own_steps_alone() -> None:
    """What it did not choose it is not told of."""
    world = world_of(alpha=get_twice)
    world.add(note())
    heard = Heard()
    trace = run(world, Continued((0, 0), heard))
    assert heard.told == [step.number for step in trace.steps[2:]]
    assert len(heard.chose) == len(trace.steps) - 2


class Striking(Heard):
    """Lets the first fault strike once nothing else goes on."""

    def strike(self, options: Options) -> int | None:
        return options.ready if options.faults else None


@pytest.mark.parametrize("length", [0, 3, 4, 5, 6, 7])
def test_a_fault_strikes_at_rest_in_the_prefix_and_behind_it(length: int) -> None:
    """Only a fault goes on from there: without it the Run would end, before its prefix does."""

    def crashed(chooser: Chooser) -> Trace:
        world = world_of(alpha=waits)
        world.add(note())
        world.allow(Crash("alpha", restart_after_ms=10))
        return run(world, chooser)

    first = crashed(Striking())
    kinds = [step.kind for step in first.steps]
    assert kinds == ["start", "serve", "answer", "fault", "start", "serve", "answer"]
    heard = Striking()
    again = crashed(Continued(first.choices[:length], heard))
    assert [str(step.sentence) for step in again.steps] == [
        str(step.sentence) for step in first.steps
    ]
    assert heard.told == list(range(length + 1, 8))
    assert len(crashed(Continued(first.choices[:length], Calm())).steps) == (3 if length < 4 else 7)


def test_it_ends_with_the_other_chooser() -> None:
    """Which has no Run left, or has something to add."""

    class Done(Calm):
        def begin(self, run: RunInfo) -> Plan | None:
            return None

    class Wordy(Calm):
        ends = 0

        def end(self, trace: Trace, verdict: object) -> None:
            self.ends += 1

        @property
        def note(self) -> str:
            return "That was all."

    world = find("lost_update").world()
    assert not world.prepare(Continued((), Done()))
    wordy = Wordy()
    verdict = find("lost_update").world().run(Continued((0,), wordy))
    assert (verdict.note, verdict.chooser) == ("That was all.", "1 choices, then calm")
    assert wordy.ends == 1
