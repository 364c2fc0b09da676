"""Run: one Run that is over, as a test gets it, with the assertion that it held."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import attrs

from testbed.chooser import Chooser
from testbed.fault import Fault
from testbed.races.playing import race_of
from testbed.races.race import Expectation, Race
from testbed.testing.failure import failure_text
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict
from testbed.words import counted
from testbed.world.fault_kinds import check_aim, parse_fault
from testbed.world.scenario import Scenario, find, of
from testbed.world.world import World

Recipe = Scenario | Callable[..., None] | str
"""How a test may name a scenario: itself, its function, its short name or `module:function`."""


class NotHeld(AssertionError):
    """A Run did not hold. The text tells its story, and how to play it again."""


@cache
def not_held(what: str) -> type[NotHeld]:
    """The error class for that claim alone. Hypothesis tells two failures apart by their type: with
    one class for all claims, it could shrink a breach of one claim into a breach of another."""
    return type(f"NotHeld[{what}]", (NotHeld,), {"__module__": __name__})


@attrs.frozen(repr=False)
class Run:
    """One Run that is over."""

    recipe: Scenario
    switches: Mapping[str, Any]
    """The switches that were set; the others had their defaults."""
    faults: tuple[Fault, ...]
    """The Faults that were allowed beside the scenario's own."""
    world: World
    is_last: bool = True
    """Whether a failure gets its full text. While Hypothesis shrinks, it plays hundreds of Runs
    that nobody reads."""
    is_one_of_many: bool = False
    """Whether it was drawn, with its World. Then one in which there is nothing to do is no failure:
    the next has more."""

    @property
    def verdict(self) -> Verdict:
        """Whether its claims held."""
        assert self.world.verdict is not None
        return self.world.verdict

    @property
    def trace(self) -> Trace:
        """Its record, every Step kept."""
        return self.world.trace

    def race(self) -> Race:
        """The Run as a race: its deviations from the calm run; it expects the same breach."""
        race = race_of(self.recipe, self.switches, self.trace.choices, faults=self.faults)
        broken = self.verdict.violations[:1]
        expect = tuple(Expectation(violates=violation.invariant) for violation in broken)
        return attrs.evolve(race, expect=expect)

    def must_hold(self) -> None:
        """Raise NotHeld, with the story of the Run, if it breached a claim or did not come to its
        end. The race file is left in `.testbed/`, named after the scenario and the claim."""
        __tracebackhide__ = True
        verdict = self.verdict
        if (verdict.among_others if self.is_one_of_many else verdict.outcome) != "held":
            broken = [violation.invariant for violation in verdict.violations]
            raise not_held(broken[0] if broken else "undecided")(self._text(broken))

    def _text(self, broken: list[str]) -> str:
        if not self.is_last:
            return str(self.verdict)
        # A race file can only name a scenario that can be imported.
        build = self.recipe.build
        is_found = broken and "<locals>" not in build.__qualname__
        name = f"{build.__name__}-{broken[0]}" if is_found else ""
        return failure_text(self.verdict, self.trace, self.race(), name)

    def __repr__(self) -> str:
        given = "".join(f" {name}={value}" for name, value in self.world.switches.items())
        turns = counted(self.verdict.turns, "turn")
        return f"<{self.recipe.name}{given}: {self.verdict.outcome}, {turns}>"

    def _repr_pretty_(self, printer: Any, _: bool) -> None:
        """What Hypothesis prints: without this, it prints every field."""
        printer.text(repr(self))


def recipe_of(given: Recipe) -> Scenario:
    """The Scenario that a test has named."""
    if isinstance(given, Scenario):
        return given
    return find(given) if isinstance(given, str) else of(given)


def faults_of(given: Iterable[Fault | str]) -> tuple[Fault, ...]:
    """The Faults that a test has named: as objects, or as texts such as `2*crash:alpha`."""
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
    for fault in allowed:
        check_aim(fault, (*world.table.roles, *world.wire.posts))
    world.run(chooser, driver=driver, trace=Trace({}, keep=keep), number=number)
    return Run(scenario, switches or {}, allowed, world)
