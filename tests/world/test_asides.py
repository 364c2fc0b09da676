"""Asides: what is held back comes back, time passes over it, and a trace tells all of it."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase

import pytest

from testbed.chooser import Chooser, Plan, RunInfo
from testbed.choosers.replayed import Replayed
from testbed.client.client import Client
from testbed.errors import HarnessBug, ReplayDiverged, Unavailable
from testbed.faults.crash import Crash
from testbed.objects.codec import decode
from testbed.objects.note import Note
from testbed.turns.option import HOLD, Choice, HoldBack, Release
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Trace
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.stage import Puppet, note, world_of

DRIVERS = ("trio", "direct")


class Holding(Chooser):
    """Calm, but it holds the first Option that a glob fits, until another has been performed."""

    def __init__(self, what: str, until: str = "", for_ms: int | None = None) -> None:
        self.what, self.until, self.for_ms = what, until, for_ms
        self.is_over = False
        self.last = ""

    def begin(self, run: RunInfo) -> Plan | None:
        return Plan("holding")

    def choose(self, options: Options | Alternatives) -> Choice:
        if isinstance(options, Alternatives):
            return 0
        if not options.ready:
            return Release(0)
        if self.until and fnmatchcase(self.last, self.until) and options.held:
            return Release(0)
        first = str(options[0].sentence)
        if not self.is_over and fnmatchcase(first, self.what):
            self.is_over = True
            return HoldBack(0, self.for_ms)
        self.last = first
        return 0


def two(world_does: Callable[[World], None] = lambda _: None) -> World:
    """Two writers of one Note; beta also sleeps for a second."""

    async def alpha(client: Client) -> None:
        await client.update(note(x="a"))

    async def beta(client: Client) -> None:
        await client.update(note(x="b"))
        await client.sleep(1000, "nap")
        await client.get(Note, "n")

    world = world_of(alpha=alpha, beta=beta)
    world.add(note(x=""))
    world_does(world)
    return world


def lines(trace: Trace) -> list[str]:
    """The Steps as sentences."""
    return [str(step.sentence) for step in trace.steps]


@each_row("driver", DRIVERS)
def test_time_passes_over_what_is_held(driver: str) -> None:
    """It is no pending Option any more: the nap ends, and only when nothing else is left does it
    come back, by itself."""
    world, trace = two(), Trace({}, keep=True)
    verdict = world.run(Holding("serve alpha/main update*"), driver=driver, trace=trace)
    said = lines(trace)
    assert verdict.is_held
    assert verdict.virtual_ms == 1000
    place = said.index("serve alpha/main update notes/default/n")
    assert said[place - 1] == "release alpha/main update notes/default/n"
    assert "serve beta/main get notes/default/n" in said[:place]


def test_what_is_released_comes_next() -> None:
    """Before anything else of that instant, though others have newer causes."""
    trace = Trace({}, keep=True)
    chooser = Holding("serve alpha/main update*", until="serve beta/main update*")
    two().run(chooser, driver="direct", trace=trace)
    said = lines(trace)
    place = said.index("serve beta/main update notes/default/n")
    assert said[place + 1 : place + 3] == [
        "release alpha/main update notes/default/n",
        "serve alpha/main update notes/default/n",
    ]


def test_what_is_held_for_a_time_is_due_then() -> None:
    """Half a second later, though the next timer is a whole one away."""
    trace = Trace({}, keep=True)
    two().run(Holding("serve alpha/main update*", for_ms=500), driver="direct", trace=trace)
    (served,) = [step for step in trace.steps if str(step.sentence).startswith("serve alpha")]
    assert served.now_ms == 500


@each_row("until", ["", "serve beta/main update*"])
@each_row("for_ms", [None, 500])
def test_a_trace_with_holds_replays(until: str, for_ms: int | None) -> None:
    """The same to the byte, from its lines alone."""
    trace = Trace({}, keep=True)
    chooser = Holding("serve alpha/main update*", until, for_ms)
    two().run(chooser, driver="direct", trace=trace)
    steps = tuple(c for line in trace.lines() if "do" in (c := decode(line)))
    again = Trace({}, keep=True)
    two().run(Replayed(steps, again="-"), driver="trio", trace=again)
    assert list(again.lines()) == list(trace.lines())


def test_a_replay_says_what_is_not_there_to_be_held() -> None:
    """The sentence of the Option is checked, as that of a choice is."""
    trace = Trace({}, keep=True)
    two().run(Holding("serve alpha/main update*"), driver="direct", trace=trace)
    steps = [c for line in trace.lines() if "do" in (c := decode(line))]
    (hold,) = [step for step in steps if step["do"] == HOLD]
    hold["key"] = "notes/default/other"
    with pytest.raises(ReplayDiverged, match="hold alpha/main update notes/default/other"):
        two().run(Replayed(tuple(steps), again="-"), driver="direct")


def test_a_crash_takes_what_is_held_with_it() -> None:
    """An answer that is held back has no caller any more; nothing is left to release."""

    class HoldThenCrash(Holding):
        def choose(self, options: Options | Alternatives) -> Choice:
            assert isinstance(options, Options)
            if options.held and options.faults:
                return options.ready
            return super().choose(options)

    trace = Trace({}, keep=True)
    world = two(lambda world: world.allow(Crash("alpha")))
    assert world.run(HoldThenCrash("answer alpha*"), driver="direct", trace=trace).is_held
    assert not [said for said in lines(trace) if said.startswith("release")]


def test_a_stall_keeps_what_is_held_from_moving() -> None:
    """It is put off with everything else of its actor, and comes back when both are over."""

    async def alpha(client: Client) -> None:
        await client.update(note(x="a"))

    world = world_of(alpha=alpha)
    world.add(note(x=""))

    class HoldThenStall(Holding):
        def choose(self, options: Options | Alternatives) -> Choice:
            table = world.table
            choice = super().choose(options)
            if isinstance(choice, HoldBack):
                life = table.roles["alpha"].life
                assert life is not None
                self.life = life
            elif self.is_over:
                table.postpone(self.life, 700, lambda _: True)
            return choice

    async def other(client: Client) -> None:
        await client.sleep(10)

    world.start(Puppet("other", other))
    trace = Trace({}, keep=True)
    world.run(HoldThenStall("answer alpha*"), driver="direct", trace=trace)
    (told,) = [step for step in trace.steps if str(step.sentence).startswith("answer alpha")]
    assert told.now_ms == 700


@each_row("choice", [HoldBack(99), Release(0)])
def test_what_is_not_there_cannot_be_held_or_released(choice: Choice) -> None:
    """A Chooser's mistake is named, and the Run ends by it."""

    class Wrong(Holding):
        def choose(self, options: Options | Alternatives) -> Choice:
            return choice

    with pytest.raises(HarnessBug, match=r"holding chose (HoldBack|Release)"):
        two().run(Wrong("-"), driver="direct")


def test_a_violation_ends_the_run_though_something_is_held() -> None:
    """It does not come back first: the Run is over."""

    async def dies(client: Client) -> None:
        await client.get(Note, "n")
        raise Unavailable("gone")

    world = two(lambda world: world.start(Puppet("delta", dies)))
    trace = Trace({}, keep=True)
    verdict = world.run(Holding("serve alpha/main update*"), driver="direct", trace=trace)
    assert verdict.is_violated
    assert not [said for said in lines(trace) if said.startswith("release")]
