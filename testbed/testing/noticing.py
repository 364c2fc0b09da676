"""Noticing: one switch of a scenario is set otherwise, and its claims should notice.

Of a pair it is the guard. If that alone is not noticed in so many Runs, or there is no guard, it is
another switch of its own, or one of a component, each after the other. A scenario of which no claim
fires, whatever is set otherwise, claims nothing: it is vacuous.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from testbed.policy import Parts
from testbed.races.expecting import of_every_world
from testbed.switches import PROFILE, Kind
from testbed.testing.mutant import play_until
from testbed.world.scenario import GUARD, Scenario
from testbed.world.world import World

RUNS_MAX = 300
"""How many Runs are played with the guard off; of each other switch, the calm Run first, then so
many times fewer than these."""
RARER, TIMES = 20, "_ms"
TURNS_MAX = 5_000
"""How many turns each of them has, at most."""


@attrs.frozen
class Notice:
    """What a claim has noticed."""

    switch: str
    """What was set otherwise: `guard=off`."""
    claim: str
    said: str
    runs: int
    """How many Runs were played, those in which nothing was noticed included."""


def noticed(recipe: Scenario, *, runs_max: int = RUNS_MAX, seed: int = 0) -> Notice | None:
    """What a claim of that scenario notices first; None: it is vacuous."""
    played, of_all = 0, of_every_world()
    usual = {GUARD: "on"} if recipe.has_guard else {}
    others = [(name, value) for name, value in settings(recipe) if name != GUARD]
    tries = [(GUARD, "off", runs_max)] if recipe.has_guard else []
    tries += [(name, value, 1) for name, value in others]
    tries += [(name, value, max(runs_max // RARER, 1)) for name, value in others]
    limited = _limited(recipe)
    for name, value, runs in tries:
        found: list[tuple[str, str]] = []

        def look(world: World, found: list[tuple[str, str]] = found) -> bool:
            assert world.verdict is not None
            breaches = world.verdict.violations
            found += [(b.invariant, b.said) for b in breaches if b.invariant not in of_all]
            return not found

        played += play_until(limited, look, runs, seed, {**usual, name: value})
        if found:
            return Notice(f"{name}={value}", *found[0], played)
    return None


def _limited(recipe: Scenario) -> Scenario:
    """The same, in which no Run goes on for ever: with a switch set otherwise, one may."""
    build = recipe.build

    def limited(world: World, **switches: object) -> None:
        build(world, **switches)
        world.limit(turns_max=min(TURNS_MAX, world.budget.turns_max))

    return attrs.evolve(recipe, build=limited)


def settings(recipe: Scenario) -> Iterator[tuple[str, str]]:
    """Every switch that may be set otherwise, with that other value: the guard first."""
    usual = {}
    if recipe.has_guard:
        yield GUARD, "off"
        usual = {GUARD: "on"}
    for own, its in recipe.switches.items():
        if own != GUARD and its.kind is bool:
            yield own, "off" if its.default else "on"
    in_force = recipe.world(usual).in_force
    yield from ((PROFILE, profile) for profile in in_force.profiles)
    flat = in_force.flat()
    for component in in_force.components:
        for switch, kind in component.kinds.items():
            name = f"{component.name}.{switch}"
            for word in _others(switch, kind, flat.get(name, "")):
                yield name, word


def _others(switch: str, kind: Kind, now: str) -> Iterator[str]:
    """The other words of a switch; each part less, of one that names several; and 1 instead of 0.
    Times are left out: one that makes all slow breaches any claim that something happens."""
    if isinstance(kind, Parts):
        yield from (f"-{name}" for name in kind.built_in)
    elif not kind.is_open:
        yield from (word for word in kind.words if word != now)
        if kind.least is not None and now == "0" and not switch.endswith(TIMES):
            yield "1"
