"""Worth: which mistakes a claim of a user finds, and where it fires though none was put in.

It is asked in the World of each mutant, and of each pair with its guard off: there something is
wrong. Then in each pair with its guard on, and in each control and lesson: there nothing was put
in. A claim that finds no mistake is vacuous. One that fires where nothing was put in cries wolf, or
claims what that World does not promise: a guard prevents its own race, and no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from traceback import extract_tb
from typing import Any

import attrs

from testbed.code.whose import OWN, readers_frame, whose
from testbed.errors import HarnessError, ScenarioError, shown
from testbed.invariant import Invariant
from testbed.testing.mutant import Mutant, play_until
from testbed.world.scenario import GUARD, Scenario
from testbed.world.world import World

RUNS_MAX = 20
"""How many Runs are played of each World, at most."""
TURNS_MAX = 3_000
"""How many turns each of them has, at most."""
OWN_PREFIX = "own:"
Claims = Callable[[], Iterable[Invariant]]
"""Makes the claims, each anew, since a World has its own."""


@attrs.frozen
class Ground:
    """One World in which the claims are asked."""

    name: str
    """`unpaid`, a mutant; or `stolen_slot guard=off`."""
    is_wrong: bool
    """Whether there is a mistake in it."""
    scenario: Scenario = attrs.field(repr=False)
    switches: dict[str, str]


@attrs.frozen
class Answered:
    """What the claims have said in one World: by the name of each that fired, its first words."""

    fired: dict[str, str]
    runs: int


def grounds(mutants: Iterable[Mutant], scenarios: Iterable[Scenario]) -> list[Ground]:
    """Every World to ask in: those with a mistake first."""
    scenarios = list(scenarios)
    pairs = [each for each in scenarios if each.has_guard]
    others = [each for each in scenarios if not each.has_guard]
    return [
        *(Ground(each.name, True, each.scenario, {}) for each in mutants),
        *(Ground(f"{each.name} {GUARD}=off", True, each, {GUARD: "off"}) for each in pairs),
        *(Ground(f"{each.name} {GUARD}=on", False, each, {GUARD: "on"}) for each in pairs),
        *(Ground(each.name, False, each, {}) for each in others),
    ]


def made(claims: Any, where: str) -> list[Invariant]:
    """The claims, made anew; ScenarioError if they are none."""
    found: Any = claims() if callable(claims) else claims
    listed = list(found) if isinstance(found, Iterable) else [found]
    if not listed or not all(isinstance(each, Invariant) for each in listed):
        raise ScenarioError(
            f"{where}: expected a function that returns a list of claims, found {shown(found)}.\n"
            "Next: write it as `def claims(): return [always(all_is_well)]`."
        )
    return listed


def ask(ground: Ground, claims: Claims, where: str, *, runs_max: int, seed: int) -> Answered:
    """Play Runs of that World until each of the claims has fired, or there are enough."""
    names = [each.name for each in made(claims, where)]
    fired: dict[str, str] = {}
    build = ground.scenario.build

    def with_claims(world: World, **switches: object) -> None:
        build(world, **switches)
        theirs = made(claims, where)
        for each in theirs:
            # A claim of that World may have the same name.
            each.name = f"{OWN_PREFIX}{each.name}"
        world.claim(*theirs)
        # A breach of another claim could hide it. But what is wrong may go on for ever.
        world.goes_on = True
        world.limit(turns_max=min(TURNS_MAX, world.budget.turns_max))

    def look(world: World) -> bool:
        assert world.verdict is not None
        for each in world.verdict.violations:
            if each.invariant.startswith(OWN_PREFIX):
                fired.setdefault(each.invariant.removeprefix(OWN_PREFIX), each.said)
        return len(fired) < len(names)

    scenario = attrs.evolve(ground.scenario, build=with_claims)
    try:
        runs = play_until(scenario, look, runs_max, seed, ground.switches)
    except HarnessError:
        raise
    except Exception as error:
        frame = readers_frame(extract_tb(error.__traceback__))
        if frame is None or whose(frame.filename) != OWN:
            raise
        raise ScenarioError(
            f"{where}: in the World of {ground.name} a claim raised {type(error).__name__}: "
            f"{error} ({frame.filename}, line {frame.lineno}).\n"
            "Next: let it return a sentence or None in any World: one without nodes, or with pods "
            "that ask for nothing."
        ) from error
    return Answered(fired, runs)


def fired_in(name: str, asked: Sequence[tuple[Ground, Answered]], *, wrong: bool) -> dict[str, str]:
    """In which Worlds that claim has fired, of those with a mistake or of the others."""
    return {
        ground.name: each.fired[name]
        for ground, each in asked
        if ground.is_wrong is wrong and name in each.fired
    }
