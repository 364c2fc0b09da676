"""Mutant: a part with a bug put into it on purpose, and the claim that must find it.

A claim that never fired proves nothing. So a package of actors keeps, beside them, a list of what
could be wrong with them, each as a small World in which it is; whoever judges them must kill every
one. `testbed mutants` hunts them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from testbed.choosers.calm import Calm
from testbed.testing.seek import choosers
from testbed.world.scenario import of, play_runs
from testbed.world.world import World

RUNS_MAX = 300
"""How many Runs a mutant may outlive, unless it is said otherwise."""


@attrs.frozen
class Mutant:
    """One bug: what it is called, what it breaks, where it lives, and what must kill it."""

    name: str
    breaks: str
    """What it does wrong, in a few words."""
    build: Callable[[World], None]
    """Assembles a World in which it is; with the part as it should be, every claim there holds."""
    claim: str
    """The name of the claim that must fire."""


@attrs.frozen
class Hunt:
    """What became of a Mutant."""

    mutant: Mutant
    runs: int
    """How many were played."""
    said: str
    """What the claim has said; empty if it never fired."""
    others: tuple[str, ...] = ()
    """What else has fired on the way, in order."""

    @property
    def is_killed(self) -> bool:
        """Whether the claim that must fire has fired."""
        return bool(self.said)


def hunt(
    mutant: Mutant,
    *,
    runs_max: int = RUNS_MAX,
    seed: int = 0,
    switches: Mapping[str, Any] | None = None,
) -> Hunt:
    """Play the calm Run, then what samplers draw, then Runs of one deviation, until its claim
    fires. A Run goes on after what others find, so that none hides it."""
    said = ""
    others: dict[str, None] = {}

    def build(world: World) -> None:
        mutant.build(world)
        world.goes_on = True

    def look(world: World) -> bool:
        nonlocal said
        assert world.verdict is not None
        for violation in world.verdict.violations:
            if violation.invariant == mutant.claim:
                said = violation.said
            else:
                others[violation.invariant] = None
        return not said

    played, scenario = 0, of(build, mutant.name)
    few, *drawn, walk = choosers(runs_max, seed)
    for chooser, most in ((Calm(), 1), *drawn, few, walk):
        if not said:
            runs = min(most, runs_max - played)
            how: dict[str, Any] = {"runs_max": runs, "switches": switches, "driver": "direct"}
            played += play_runs(scenario, chooser, look, **how)
    return Hunt(mutant, played, said, tuple(others))
