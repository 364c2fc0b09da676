"""On the nodes: which kubelet serves which node, and which containers really run there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from actors.kubelet.containers import Report
from actors.kubelet.kubelet import Kubelet
from actors.kubelet.runtime import Runtime, runtime_of
from testbed import Evidence
from testbed.turns.trace import Record

STARTED, RESTARTED = "started", "restarted"


def kubelets(see: Evidence) -> Iterator[tuple[str, Any]]:
    """Each node that has a kubelet, with the role of that kubelet."""
    for role in see.actors:
        if isinstance(role.actor, Kubelet):
            yield role.actor.node, role


def node_of(see: Evidence, role: Any) -> str:
    """The node of a kubelet, by its role; empty if the role is no kubelet's."""
    return role.actor.node if isinstance(role.actor, Kubelet) else ""


def node_of_record(see: Evidence, record: Record) -> str:
    """The node of the kubelet that wrote a Record; empty if no kubelet did."""
    role = see.table.roles.get(record.path.partition("/")[0])
    return "" if role is None else node_of(see, role)


def is_reachable(see: Evidence, role: Any) -> bool:
    """Whether a kubelet runs and is not cut off."""
    return bool(role.is_up and role.cut_off_until_ms <= see.now_ms)


def runtime_at(see: Evidence, node: str) -> Runtime | None:
    """The runtime of a node; None if it has none."""
    post = see.wire.posts.get(runtime_of(node))
    endpoint: Any = None if post is None else post.endpoint
    return endpoint if isinstance(endpoint, Runtime) else None


def reports(see: Evidence, node: str) -> list[Report]:
    """All containers of a node, as they are now."""
    runtime = runtime_at(see, node)
    return [] if runtime is None else runtime.reports(see.now_ms)


def report_of(see: Evidence, node: str, uid: str) -> Report | None:
    """The containers of one pod on a node; None if there are none."""
    found = (report for report in reports(see, node) if report.pod.meta.uid == uid)
    return next(found, None)


class News:
    """The Records since the last look."""

    def __init__(self) -> None:
        self._seen = 0

    def of(self, see: Evidence, *names: str) -> list[Record]:
        """Those with one of these names."""
        records = see.records
        if self._seen == len(records):
            return []
        new, self._seen = records[self._seen :], len(records)
        return [record for record in new if record.name in names]
