"""Mutant: an actor or part with a bug put into it on purpose, and the claim that must find it.

A claim that never fired proves nothing. So a package of actors has a list of Mutants: each is one
bug, with a small World in which it can show. A claim kills a Mutant if it fires in one of the Runs
of that World. Every Mutant must be killed; `testbed mutants` checks that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from testbed.choosers.calm import Calm
from testbed.testing.seek import choosers
from testbed.world.scenario import Scenario, of, play_runs
from testbed.world.world import World

RUNS_MAX = 300
"""How many Runs are played before a mutant counts as a survivor, by default."""


@attrs.frozen
class Mutant:
    """One bug: its name, what it breaks, a World that has it, and the claim that must fire."""

    name: str
    breaks: str
    """What goes wrong with it, in a few words."""
    build: Callable[[World], None]
    """Assembles a World that has the bug. Without the bug, every claim of that World would hold."""
    claim: str
    """The name of the claim that must fire."""

    @property
    def scenario(self) -> Scenario:
        """The scenario that assembles its World. A Run of it goes on after a Violation, which could
        hide the one that counts."""

        def assembled(world: World) -> None:
            self.build(world)
            world.goes_on = True

        return of(assembled, self.name)

    def hunted(self, *, runs_max: int, seed: int, switches: Mapping[str, Any] | None) -> Hunt:
        """Play Runs of its World until its claim fires."""
        return hunt(self, runs_max=runs_max, seed=seed, switches=switches)


@attrs.frozen
class Hunt:
    """The result of hunting one Mutant."""

    mutant: Mutant
    runs: int
    """How many were played."""
    said: str
    """The text of the claim's Violation; empty if it never fired."""
    others: tuple[str, ...] = ()
    """The other claims that fired, in the order in which they did."""

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
    """Play the calm Run, then sampled Runs, then Runs of one deviation, until its claim fires.

    A Run does not stop at the Violations of other claims: they could hide the one that counts.
    """
    said = ""
    others: dict[str, None] = {}

    def look(world: World) -> bool:
        nonlocal said
        assert world.verdict is not None
        for violation in world.verdict.violations:
            if violation.invariant == mutant.claim:
                said = violation.said
            else:
                others[violation.invariant] = None
        return not said

    played = play_until(mutant.scenario, look, runs_max, seed, switches)
    return Hunt(mutant, played, said, tuple(others))


def play_until(
    scenario: Scenario,
    look: Callable[[World], bool],
    runs_max: int,
    seed: int,
    switches: Mapping[str, Any] | None,
) -> int:
    """Play the calm Run, then sampled Runs, then Runs of one deviation, while `look` says to go on.
    Returns how many were played."""
    goes_on, played = True, 0

    def looked(world: World) -> bool:
        nonlocal goes_on
        goes_on = look(world)
        return goes_on

    one_deviation, *sampled, walk = choosers(runs_max, seed)
    for chooser, most in ((Calm(), 1), *sampled, one_deviation, walk):
        if goes_on:
            runs = min(most, runs_max - played)
            how: dict[str, Any] = {"runs_max": runs, "switches": switches, "driver": "direct"}
            played += play_runs(scenario, chooser, looked, **how)
    return played
