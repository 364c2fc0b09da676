"""Run: one Run that is over, as a test holds it: what it has shown, and the claim that it held."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import attrs

from testbed.chooser import Chooser
from testbed.fault import Fault
from testbed.invariant import Verdict
from testbed.races.playing import race_of
from testbed.races.race import Expectation, Race
from testbed.testing.failure import told
from testbed.turns.trace import Trace
from testbed.words import counted
from testbed.world.fault_kinds import parse_fault
from testbed.world.scenario import Scenario, find, of
from testbed.world.world import World

Recipe = Scenario | Callable[..., None] | str
"""What tests may name a scenario by: itself, its function, its short name or `module:function`."""


class NotHeld(AssertionError):
    """A test asked a Run to hold, and it did not; the text tells the Run, and how to play it."""


@cache
def not_held(what: str) -> type[NotHeld]:
    """The error of just that claim: a test runner that shrinks what it has drawn tells two errors
    apart by their types, and must not slip from one claim to another on its way."""
    return type(f"NotHeld[{what}]", (NotHeld,), {"__module__": __name__})


@attrs.frozen(repr=False)
class Run:
    """One Run that is over."""

    recipe: Scenario
    switches: Mapping[str, Any]
    """Those that were given; the others had their defaults."""
    faults: tuple[Fault, ...]
    """Those allowed beside the scenario's own."""
    world: World
    is_last: bool = True
    """Whether it is worth being told in full; who shrinks plays hundreds that are not."""

    @property
    def verdict(self) -> Verdict:
        """What it has shown."""
        assert self.world.verdict is not None
        return self.world.verdict

    @property
    def trace(self) -> Trace:
        """Its record, every Step kept."""
        return self.world.trace

    def race(self) -> Race:
        """What deviates in it from the calm run, with its breach as what is expected."""
        race = race_of(self.recipe, self.switches, self.trace.choices, faults=self.faults)
        broken = self.verdict.violations[:1]
        expect = tuple(Expectation(violates=violation.invariant) for violation in broken)
        return attrs.evolve(race, expect=expect)

    def must_hold(self) -> None:
        """Raise, with the story of the Run, unless it has come to its end and breached no claim.
        The race is left in `.testbed/`, under a name that the scenario and the claim make."""
        __tracebackhide__ = True
        if not self.verdict.is_held:
            broken = [violation.invariant for violation in self.verdict.violations]
            raise not_held(broken[0] if broken else "undecided")(self._told(broken))

    def _told(self, broken: list[str]) -> str:
        if not self.is_last:
            return str(self.verdict)
        build = self.recipe.build
        is_found = broken and "<locals>" not in build.__qualname__
        name = f"{build.__name__}-{broken[0]}" if is_found else ""
        return told(self.verdict, self.trace, self.race(), name)

    def __repr__(self) -> str:
        given = "".join(f" {name}={value}" for name, value in self.world.switches.items())
        turns = counted(self.verdict.turns, "turn")
        return f"<{self.recipe.name}{given}: {self.verdict.outcome}, {turns}>"

    def _repr_pretty_(self, printer: Any, _: bool) -> None:
        """What Hypothesis asks for first: it would print every field otherwise."""
        printer.text(repr(self))


def recipe_of(given: Recipe) -> Scenario:
    """The Scenario that was named."""
    if isinstance(given, Scenario):
        return given
    return find(given) if isinstance(given, str) else of(given)


def faults_of(given: Iterable[Fault | str]) -> tuple[Fault, ...]:
    """The Faults that were named, as themselves or as texts such as `2*crash:alpha`."""
    return tuple(parse_fault(fault) if isinstance(fault, str) else fault for fault in given)


def play(
    recipe: Recipe,
    chooser: Chooser,
    *,
    switches: Mapping[str, Any] | None = None,
    faults: Iterable[Fault | str] = (),
    driver: str = "direct",
    number: int = 0,
    keep: bool = True,
) -> Run:
    """Play one Run of a scenario under that Chooser, with these faults allowed beside its own."""
    scenario, allowed = recipe_of(recipe), faults_of(faults)
    world = scenario.world(switches, faults=allowed)
    world.run(chooser, driver=driver, trace=Trace({}, keep=keep), number=number)
    return Run(scenario, switches or {}, allowed, world)
