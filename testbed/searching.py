"""Searching: what a test does with a scenario: random Runs until one breaches a claim."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from testbed.choosers.uniform import Uniform
from testbed.errors import UnknownName
from testbed.failing import told
from testbed.fault import Fault
from testbed.invariant import Verdict
from testbed.option import Choice
from testbed.run import Recipe, faults_of, not_held, recipe_of
from testbed.scenario import Scenario, play_runs
from testbed.shrink import Shrunk, shrink
from testbed.world import World

EFFORTS = {"quick": 400, "deep": 8_000}
"""How many Runs a word stands for."""


@attrs.frozen
class Searched:
    """What a search has found, and how far it looked."""

    recipe: Scenario
    runs: int
    """How many were played, shrinking apart."""
    undecided: tuple[Verdict, ...]
    """Those that reached a limit."""
    shrunk: Shrunk | None
    """The first breach, as the smallest race for it; None if there was none."""

    def must_hold(self) -> None:
        """Raise, with the story of the race, if one was found, or if no Run came to its end."""
        __tracebackhide__ = True
        if self.shrunk is not None:
            invariant = self.shrunk.violation.invariant
            raise not_held(invariant)(self.told(f"{self.recipe.build.__name__}-{invariant}"))
        if len(self.undecided) == self.runs:
            raise not_held("undecided")(f"{self.looked}\n{self.undecided[0]}")

    def told(self, name: str) -> str:
        """The race that was found, as a failing test shows it; it is left under that name."""
        assert self.shrunk is not None
        played = self.shrunk.played
        return f"{self.looked}\n{told(played.verdict, played.trace, self.shrunk.race, name)}"

    @property
    def looked(self) -> str:
        """How far it looked, in a line."""
        if self.shrunk is not None:
            return f"{self.recipe.name}: a breach in run {self.runs:,}, shrunk to this:"
        more = f", {len(self.undecided):,} of them undecided" if self.undecided else ""
        return f"{self.recipe.name}: no breach in {self.runs:,} runs{more}."


def runs_of(effort: str) -> int:
    """How many Runs that word stands for; UnknownName if for none."""
    if effort not in EFFORTS:
        raise UnknownName("effort", effort, EFFORTS, see="say runs=1000, or one of these")
    return EFFORTS[effort]


def search(
    recipe: Recipe,
    *,
    effort: str = "quick",
    runs: int | None = None,
    seed: int = 0,
    switches: Mapping[str, Any] | None = None,
    faults: Iterable[Fault | str] = (),
) -> Searched:
    """Play up to so many Runs of that seed; what is breached first is shrunk."""
    runs_max = runs or runs_of(effort)
    scenario, allowed = recipe_of(recipe), faults_of(faults)
    undecided: list[Verdict] = []
    found: list[list[Choice]] = []

    def look(world: World) -> bool:
        assert world.verdict is not None
        if world.verdict.outcome == "undecided":
            undecided.append(world.verdict)
        if world.verdict.is_violated:
            found.append(world.trace.choices)
        return not found

    played = play_runs(
        scenario,
        Uniform(seed),
        look,
        runs_max=runs_max,
        switches=switches,
        faults=allowed,
        driver="direct",
    )
    shrunk = shrink(scenario, switches or {}, found[0], faults=allowed) if found else None
    return Searched(scenario, played, tuple(undecided), shrunk)
