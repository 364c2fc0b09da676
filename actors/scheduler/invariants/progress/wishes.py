"""Wishes: whether somebody outside wanted something, after which nothing is a repetition."""

from __future__ import annotations

from collections.abc import Iterable

from actors.scheduler.invariants.progress.displacements import (
    Displaced,
    begins_to_end,
    workload_of,
)
from testbed import Evidence
from testbed.objects import Pod
from testbed.store.change import Change

WORKLOADS = (
    "daemonsets", "deployments", "jobs", "replicasets", "replicationcontrollers", "statefulsets",
)  # fmt: skip
READ = frozenset(f"log:{plural}" for plural in ("pods", "nodes", *WORKLOADS))
"""What a claim reads that asks for wishes."""


class OutsideWishes:
    """Tells a wish from outside from what the cluster does by itself (INV-20).

    A wish is: a workload is created, changed or deleted; a node comes or goes; a pod without a
    controller is created, or deleted by something else than a displacement. A pod that is created
    in place of one that was displaced is no wish, also if no object owns it.
    """

    def __init__(self) -> None:
        self._displaced: set[str] = set()
        """The workloads of which a pod was displaced."""

    def is_in(self, evidence: Evidence, gone: Iterable[Displaced]) -> bool:
        """Whether there is one in the turn that has just ended, with its displacements."""
        forced = {each.pod.meta.uid for each in gone}
        self._displaced |= {workload_of(each.pod) for each in gone}
        return any(self._is_wish(change, forced) for change in evidence.changes)

    def _is_wish(self, change: Change, forced: set[str]) -> bool:
        old, new = change.before, change.after
        plural = change.key.partition("/")[0]
        if plural in WORKLOADS:
            return old is None or new is None or _spec(old) != _spec(new)
        if plural == "nodes":
            return old is None or new is None
        if isinstance(new, Pod) and old is None:
            return not _is_owned(new) and workload_of(new) not in self._displaced
        is_asked = isinstance(old, Pod) and not _is_owned(old) and old.meta.uid not in forced
        # That a pod is over is its own doing, or its kubelet's.
        is_over = isinstance(new, Pod) and new.is_over
        return is_asked and not is_over and begins_to_end(change)


def _is_owned(pod: Pod) -> bool:
    return any(owner.controller for owner in pod.meta.owners)


def _spec(item: object) -> object:
    return getattr(item, "spec", None)
