"""Deletions: which nodes are being deleted now, and what became of those that were."""

from __future__ import annotations

import attrs

OK = "ok"
"""The result of a deletion that went well."""


@attrs.frozen
class RunningDeletion:
    """A node that is being deleted."""

    node: str
    group: str
    drains: bool
    """Whether pods have to be moved first."""


class Deletions:
    """The deletions that run, and the results that no pass has reported yet.

    It is the memory of one life: what an earlier life has begun is not known here (CA-31).
    """

    def __init__(self) -> None:
        self._running: dict[str, RunningDeletion] = {}
        self._results: dict[str, str] = {}

    def start(self, deletion: RunningDeletion) -> None:
        """A deletion begins."""
        self._running[deletion.node] = deletion

    def end(self, node: str, result: str) -> None:
        """A deletion has ended: `ok`, or what went wrong."""
        self._running.pop(node, None)
        self._results[node] = result

    def count(self, group: str) -> int:
        """How many nodes of a group are being deleted."""
        return sum(each.group == group for each in self._running.values())

    @property
    def empty(self) -> list[str]:
        """The nodes that are being deleted without a drain, by name."""
        return sorted(each.node for each in self._running.values() if not each.drains)

    @property
    def drained(self) -> list[str]:
        """The nodes that are being drained, by name."""
        return sorted(each.node for each in self._running.values() if each.drains)

    def take_results(self) -> dict[str, str]:
        """The results since the last time that a pass asked."""
        results, self._results = self._results, {}
        return dict(sorted(results.items()))

    def digest(self) -> object:
        """All of it."""
        running = sorted((each.node, each.drains) for each in self._running.values())
        return tuple(running), tuple(sorted(self._results.items()))
