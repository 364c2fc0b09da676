"""Runs in which everything may strike: every kind of fault, at anybody, with every refusal."""

from __future__ import annotations

import attrs

from testbed.chooser import Chooser
from testbed.fault import Fault
from testbed.faults.server_error import REFUSALS
from testbed.turns.option import DELIVER, FAULT
from testbed.world.fault_kinds import fault_kinds, fault_of
from testbed.world.scenario import Scenario, play_runs
from testbed.world.world import World


def all_faults() -> tuple[Fault, ...]:
    """One of each kind, and a server_error of each code."""
    others = (fault_of(word) for word in fault_kinds() if word != "server_error")
    return (*others, *(fault_of("server_error", code=code) for code in REFUSALS))


@attrs.frozen
class Told:
    """What came of some Runs."""

    runs: int
    struck: int
    """How many faults have struck in them."""
    words: frozenset[str]
    """The kinds of fault that have."""
    watches: bool
    """Whether an actor was told something by a watch."""
    breaches: tuple[str, ...]
    """What is not held, each with the number of its Run."""


def told(
    scenario: Scenario, chooser: Chooser, runs: int, switches: dict[str, str] | None = None
) -> Told:
    """Play that many Runs with all faults, on top of those that the scenario allows."""
    breaches: list[str] = []
    words: set[str] = set()
    struck = played = 0
    watches = False

    def look(world: World) -> bool:
        nonlocal struck, played, watches
        verdict = world.verdict
        assert verdict is not None
        struck += verdict.faults
        words.update(each.option.verb for each in world.trace.steps if each.kind == FAULT)
        watches |= any(each.kind == DELIVER for each in world.trace.steps)
        if not verdict.is_held:
            breaches.append(f"run {played}: {verdict}")
        played += 1
        return True

    play_runs(
        scenario, chooser, look, runs_max=runs, switches=switches, faults=all_faults(),
        driver="direct", keep=True,
    )  # fmt: skip
    return Told(played, struck, frozenset(words), watches, tuple(breaches))
