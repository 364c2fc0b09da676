"""Refusals: what no search can be complete of, and what there is nothing to certify of."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from testbed.chooser import RunInfo
from testbed.errors import ScenarioError


def check_run(run: RunInfo, *, is_first: bool) -> None:
    """Refuse a scenario of which no search is complete; once, if two hold what can change."""
    check_delays(run)
    if is_first:
        _check_apart(run)


def check_delays(run: RunInfo) -> None:
    """Refuse a scenario in which time may pass over what is ready."""
    if run.delay_max_ms:
        raise ScenarioError(
            f"{run.scenario} lets time pass over what is ready (delay_max_ms="
            f"{run.delay_max_ms}), so which turns can change places depends on the clock, and "
            "no search of it is complete.\n"
            "Next: world.limit(delay_max_ms=0), or sample it with --chooser uniform."
        )


def _check_apart(run: RunInfo) -> None:
    both = run.shares()
    if both is not None:
        one, other = both.one, both.other
        raise ScenarioError(
            f"{one.party} and {other.party} share {both.what}: {one.words} ({one.party}), and "
            f"{other.words} ({other.party}). No footprint names what is in it, so no search of "
            f"{run.scenario} is complete.\n"
            "Next: let them share it in the Store; give each its own, made in `run`; or hold what "
            "cannot change, such as a tuple, a frozenset or an @attrs.frozen class. Without that, "
            "search with --effort deep."
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
