"""Displaced: a pod that begins to end because another one is to have its room (INV-20)."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from testbed import Evidence
from testbed.objects import Pod
from testbed.store.change import Change
from testbed.turns.trace import Record

PREEMPT, ADMIT, PRESSURE, YUNIKORN = "preempt", "admit", "pressure", "yk"
KINDS = {
    "cycle": PREEMPT,
    "makes room": PREEMPT,
    "preempting": ADMIT,
    "evicting": PRESSURE,
    "preempts": YUNIKORN,
}
"""The kind of a displacement, by the name of the record that it follows from."""
NAMED_BY = ("critical", "for", "pod")
"""The facts that may name the pod that is to have the room. In the records of all but schedulers,
`pod` is the one that goes."""


@attrs.frozen
class Displaced:
    """One pod that has begun to end, and what for."""

    kind: str
    """preempt: a scheduler or Rescheduler made room; admit: a kubelet did, for a pod that it
    admits; pressure: a kubelet had to relieve its node; yk: YuniKorn made room."""
    pod: Pod
    """The pod that goes, as it was."""
    born: int
    """The revision at which it was created."""
    revision: int
    """The revision at which it began to end."""
    now_ms: int
    by: str
    """The key of the pod that is to have its room. Under pressure no pod is named: it is empty."""
    by_uid: str
    """Its uid; empty if the record does not say."""

    @property
    def node(self) -> str:
        """Where the pod was."""
        return self.pod.spec.node_name


def displacements(evidence: Evidence) -> Iterator[Displaced]:
    """The displacements of the turn that has just ended, in the order of the commits.

    A write names the record that it follows from, so what a pod went for is known also if the write
    was late, or hit another pod than was meant.
    """
    record = _reason(evidence)
    if record is None:
        return
    kind = KINDS[record.name]
    by, uid = _named(record, kind)
    for change in evidence.changes:
        old = change.before
        if isinstance(old, Pod) and change.old is not None and begins_to_end(change):
            yield Displaced(
                kind, old, change.old.created, change.revision, evidence.now_ms, by, uid
            )


def begins_to_end(change: Change) -> bool:
    """Whether the change marks or removes a pod that was neither ending nor over."""
    old, new = change.before, change.after
    if not isinstance(old, Pod) or old.meta.is_terminating or old.is_over:
        return False
    return not isinstance(new, Pod) or new.meta.is_terminating or new.is_over


def workload_of(pod: Pod) -> str:
    """What the pod is an incarnation of: the uid of its controller, else its name, or what its name
    was generated from."""
    for owner in pod.meta.owners:
        if owner.controller:
            return owner.uid
    return f"{pod.meta.namespace}/{pod.meta.generate_name or pod.meta.name}"


def _reason(evidence: Evidence) -> Record | None:
    """The record that the request served in this turn names, if it is one of a displacement."""
    because = 0 if evidence.served is None else evidence.served.because
    record = evidence.records[because - 1] if because and evidence.changes else None
    return record if record is not None and record.name in KINDS else None


def _named(record: Record, kind: str) -> tuple[str, str]:
    """The key and the uid of the pod that is to have the room."""
    facts = record.facts
    for name in NAMED_BY if kind == PREEMPT else NAMED_BY[:-1]:
        if name in facts:
            return facts[name], facts.get("uid", "")
    return "", ""
