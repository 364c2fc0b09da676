"""A Run that was called idle, and the same Run going on: nothing may change in it any more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from testbed.chooser import Chooser, Plan, RunInfo, fault_of
from testbed.choosers.sampling.chance import Chance
from testbed.invariants.lasso.idle import Idle
from testbed.invariants.lasso.moment import EVENTS
from testbed.turns.option import Choice, HoldBack, Release
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Trace
from testbed.world.world import World
from tests.models.worlds.drawn_world import Drawn

ROUNDS = 20
"""For how many rounds of the slowest a Run goes on."""
SHORTEST_MS = 1_000
"""How long a round is taken to be at least."""


class Holding(Chooser):
    """Any ready Option with equal chances; now and then it holds one back, for long."""

    def __init__(self, seed: int) -> None:
        self._chance = Chance(seed, 0)

    def begin(self, run: RunInfo) -> Plan | None:
        return Plan("holding")

    def choose(self, options: Options | Alternatives) -> Choice:
        if isinstance(options, Alternatives):
            return self._chance.pick(options)
        held, below = len(options.held), self._chance.below
        if held and (not options.ready or not below(32)):
            return Release(below(held))
        if held < 2 and not below(16):
            return HoldBack(below(options.ready))
        return below(options.ready)


class GoingOn(Chooser):
    """The choices of another Run; from where these end, calm ones, or drawn ones of a seed. It
    lets no fault strike there."""

    def __init__(self, choices: list[Choice], seed: int = 0) -> None:
        self._choices = iter(choices)
        self._next = next(self._choices, None)
        self._chance = Chance(seed, 0) if seed else None

    def begin(self, run: RunInfo) -> Plan | None:
        return Plan("going on")

    def choose(self, options: Options | Alternatives) -> Choice:
        choice = self._next
        if choice is not None:
            self._next = next(self._choices, None)
            return choice
        if isinstance(options, Alternatives):
            return self._chance.pick(options) if self._chance else 0
        if not options.ready:
            return Release(0)
        return self._chance.below(options.ready) if self._chance else 0

    def strike(self, options: Options) -> int | None:
        fault = None if self._next is None else fault_of(self._next, options)
        if fault is not None:
            self._next = next(self._choices, None)
        return fault


def played(drawn: Drawn, chooser: Chooser, **limits: int) -> World:
    """A Run of it, with its trace."""
    world = drawn.scenario().world()
    world.limit(**limits)
    world.run(chooser, driver="direct", trace=Trace({}, keep=True))
    return world


def commits(world: World) -> list[str]:
    """What was written in it, but for Events."""
    log = world.store.log(plural=None).changes
    return [change.key for change in log if not change.key.startswith(EVENTS)]


def judged(world: World) -> tuple[str, tuple[str, ...]]:
    """What the Run has shown: held or violated, and what was breached."""
    verdict = world.verdict
    assert verdict is not None
    violated = tuple(sorted({each.invariant for each in verdict.violations}))
    return ("violated" if violated else verdict.end), violated


def changes_after(drawn: Drawn, make: Callable[[], Chooser], seeds: range) -> str | None:
    """What changes in a Run after it was called idle, calmly and with these seeds; None if it was
    not called that, empty if nothing changes."""
    laps: list[int] = []
    told: Any = vars(Idle)["told"]

    def noted(idle: Idle) -> str:
        laps[:] = [each.lap_ms for each in idle._rounds.values()]
        said: str = told.fget(idle)
        return said

    with patch.object(Idle, "told", property(noted)):
        short = played(drawn, make())
    verdict = short.verdict
    assert verdict is not None
    if "Idle from" not in verdict.note:
        return None
    until_ms = verdict.virtual_ms + ROUNDS * max([SHORTEST_MS, *laps])
    limits = {"until_ms": until_ms, "turns_max": 10**6, "virtual_ms_max": 10**9}
    for seed in (0, *seeds):
        with patch.object(Idle, "is_reached", lambda _: False):
            long = played(drawn, GoingOn(list(short.trace.choices), seed), **limits)
        if commits(long) != commits(short):
            more = commits(long)[len(commits(short)) :]
            return f"going on with seed {seed}, {more} are written; {verdict}"
        if judged(long) != judged(short):
            return f"going on with seed {seed}, {judged(long)}, not {judged(short)}; {verdict}"
    return ""
