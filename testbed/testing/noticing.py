"""Turned: a scenario with one thing turned that its claims should notice, or they are vacuous.

Of a pair it is the guard. If that alone is not noticed in so many Runs, or there is no guard, it is
one switch of a component after the other. A scenario of which no claim fires, whatever is turned,
claims nothing: it is vacuous.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from testbed.switches import Kind
from testbed.testing.mutant import play_until
from testbed.world.scenario import GUARD, Scenario
from testbed.world.world import World

RUNS_MAX = 300
"""How many Runs are played with the guard off; of each other switch, a tenth."""


@attrs.frozen
class Notice:
    """What a claim has noticed."""

    switch: str
    """What was turned: `guard=off`."""
    claim: str
    said: str
    runs: int
    """How many Runs were played, those in which nothing was noticed included."""


def noticed(recipe: Scenario, *, runs_max: int = RUNS_MAX, seed: int = 0) -> Notice | None:
    """The first thing turned that a claim of that scenario notices; None: it is vacuous."""
    played = 0
    for name, value in turned(recipe):
        usual = {GUARD: "on"} if recipe.has_guard else {}
        runs = runs_max if name == GUARD else max(runs_max // 10, 1)
        found: list[tuple[str, str]] = []

        def look(world: World, found: list[tuple[str, str]] = found) -> bool:
            assert world.verdict is not None
            found += [(each.invariant, each.said) for each in world.verdict.violations]
            return not found

        played += play_until(recipe, look, runs, seed, {**usual, name: value})
        if found:
            return Notice(f"{name}={value}", *found[0], played)
    return None


def turned(recipe: Scenario) -> Iterator[tuple[str, str]]:
    """Every switch that may be turned, with what it is turned to: the guard first."""
    usual = {}
    if recipe.has_guard:
        yield GUARD, "off"
        usual = {GUARD: "on"}
    in_force = recipe.world(usual).in_force
    flat = in_force.flat()
    for component in in_force.components:
        for switch, kind in component.kinds.items():
            name = f"{component.name}.{switch}"
            for word in _others(kind, flat.get(name, "")):
                yield name, word


def _others(kind: Kind, now: str) -> Iterator[str]:
    """What else a switch of that kind may be, of what it has words for: any claim that something
    comes notices if a number makes all slow."""
    return iter(() if kind.is_open else (word for word in kind.words if word != now))
