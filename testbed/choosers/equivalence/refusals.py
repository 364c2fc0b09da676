"""Refusals: what no search can be complete of, and what there is nothing to certify of."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from testbed.chooser import RunInfo
from testbed.errors import ScenarioError


def check_delays(run: RunInfo) -> None:
    """Refuse a scenario in which time may pass over what is ready."""
    if run.delay_max_ms:
        raise ScenarioError(
            f"{run.scenario} lets time pass over what is ready (delay_max_ms="
            f"{run.delay_max_ms}), so which turns can change places depends on the clock, and "
            "no search of it is complete.\n"
            "Next: world.limit(delay_max_ms=0), or sample it with --chooser uniform."
        )


def check_ended(path: str | Path, *, is_complete: bool, keeps: bool, summary: str) -> None:
    """Refuse a search that has not ended, or has only counted its classes."""
    if not is_complete or not keeps:
        raise ScenarioError(
            f"{path}: there is nothing to certify, since this search "
            f"{'has not ended' if keeps else 'kept no classes'}: {summary}.\n"
            "Next: play Complete(keeps=True) until `is_complete`, then ask again."
        )


def check_limits(path: str | Path, limits: Iterable[str]) -> None:
    """Refuse a search in which a Run has reached a limit."""
    if reached := sorted(limits):
        raise ScenarioError(
            f"{path}: there is nothing to certify, since what comes after a limit was not seen.\n"
            f"Next: raise {' and '.join(reached)} (world.limit), and search again."
        )
