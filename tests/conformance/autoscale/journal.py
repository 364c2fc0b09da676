"""Journal: what happens in a World, written down turn by turn in the words of the recording."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from actors.autoscaler.pass_record import PassRecord
from testbed import Evidence, Invariant
from testbed.client.request import Request
from testbed.errors import ApiError
from testbed.invariant import TURN
from testbed.objects import DeleteOptions, Node, condition
from testbed.objects.affinity import Taint
from testbed.store.change import Change
from testbed.turns.trace import Record, Step
from tests.conformance.autoscale.clock import CaseClock

Entry = dict[str, Any]
AUTOSCALER, CLOUD_SIDE = "autoscaler", "cloud-controller"
VALUED = ("ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler")
"""Taints whose value is a time."""


class Journal(Invariant):
    """Keeps the passes of an autoscaler, and every write and cloud call of it and around it."""

    name = "journal"
    looks_at: ClassVar[frozenset[str]] = frozenset({TURN})

    def __init__(self, clock: CaseClock) -> None:
        self._clock = clock
        self._records = 0
        self.log: list[Entry] = []
        self.passes: list[PassRecord] = []

    def look(self, step: Step | None, evidence: Evidence) -> None:
        """Write down what this turn has done."""
        now = self._clock.second(evidence.now_ms)
        for record in evidence.records[self._records :]:
            self._records += 1
            if entry := _of_record(record):
                self.log.append({**entry, "t": self._clock.second(record.now_ms)})
        request = evidence.served
        if request is not None:
            self.log += [{**entry, "t": now} for entry in self._of_request(request, evidence)]
        role = evidence.table.roles.get(AUTOSCALER)
        shown = None if role is None or role.life is None else role.life.shown.get("pass")
        if shown is not None and not any(each is shown for each in self.passes[-1:]):
            self.passes.append(shown)

    def _of_request(self, request: Request, evidence: Evidence) -> Iterator[Entry]:
        who, operation = request.role.name, request.operation
        for change in evidence.changes:
            yield from self._of_change(who, change)
        if who != AUTOSCALER or not request.is_served:
            return
        if operation.endpoint == "cloud":
            yield from _of_call(request)
        elif operation.asked == "create/eviction":
            options: DeleteOptions | None = operation.body.delete_options
            yield {
                "verb": "evict", "object": operation.name, "result": _code(request.error),
                "grace": None if options is None else options.grace_s,
            }  # fmt: skip

    def _of_change(self, who: str, change: Change) -> Iterator[Entry]:
        old: Any = change.before
        new: Any = change.after
        kind = change.key.partition("/")[0]
        if kind == "pods" and who == AUTOSCALER and old is None:
            yield {"actor": "controller", "verb": "create", "object": new.meta.name}
        if kind == "nodes" and who == CLOUD_SIDE:
            yield from _of_cloud_side(old, new)
        if kind == "nodes" and who == AUTOSCALER and old is not None and new is not None:
            yield from self._of_node(old, new)

    def _of_node(self, old: Node, new: Node) -> Iterator[Entry]:
        name = new.meta.name
        for taint in new.spec.taints:
            if taint not in old.spec.taints:
                yield {"verb": "taint", "object": name, **self._told(taint)}
        kept = {taint.key for taint in new.spec.taints}
        for taint in old.spec.taints:
            if taint.key not in kept:
                yield {"verb": "untaint", "object": name, "key": taint.key}
        if new.spec.unschedulable != old.spec.unschedulable:
            yield {"verb": "cordon", "object": name, "unschedulable": new.spec.unschedulable}

    def _told(self, taint: Taint) -> Entry:
        told: Entry = {"key": taint.key, "effect": taint.effect}
        if taint.value:
            told["value_s"] = self._clock.second(1000 * int(taint.value))
        return told


def _of_record(record: Record) -> Entry | None:
    facts = record.facts
    match record.name:
        case "announced":
            kind, _, name = facts["item"].partition("/")
            is_status = kind == "configmaps"
            return {
                "verb": "event", "kind": kind.removesuffix("s"),
                "object": "status" if is_status else name.rpartition("/")[2],
                "type": facts["type"], "reason": facts["reason"], "message": facts["message"],
            }  # fmt: skip
        case "pod-removed":
            return {"actor": "kubelet", "verb": "pod-removed", "object": facts["pod"]}
        case "node-removed":
            return {"actor": "cloud", "verb": "node-removed", "object": facts["node"]}
        case "node-ready":
            return {
                "actor": "cloud", "verb": "node-ready", "object": facts["node"],
                "ready": facts["ready"],
            }  # fmt: skip
        case "restart":
            return {"actor": "script", "verb": "restart", "object": AUTOSCALER}
    return None


def _of_call(request: Request) -> Iterator[Entry]:
    """A call of the cloud; what it answered."""
    operation, error = request.operation, request.error
    said: Entry = {"object": operation.name, "result": "ok" if error is None else "error"}
    if error is None:
        said["target"] = request.value
    match operation.verb:
        case "increase":
            yield {"verb": "increase", "delta": operation.options["by"], **said}
        case "decrease":
            del said["result"]
            yield {"verb": "decrease-target", "delta": -operation.options["by"], **said}
        case "delete-nodes":
            yield {"verb": "delete-instances", "nodes": list(operation.body), **said}


def _of_cloud_side(old: Node | None, new: Node | None) -> Iterator[Entry]:
    """A machine has become a node, its node is Ready, or it is gone."""
    told = {"actor": "cloud"}
    if new is None:
        if old is not None:
            yield {**told, "verb": "node-removed", "object": old.meta.name}
    elif old is None:
        yield {**told, "verb": "node-registered", "object": new.meta.name, "ready": is_ready(new)}
    elif is_ready(new) != is_ready(old):
        yield {**told, "verb": "node-ready", "object": new.meta.name, "ready": is_ready(new)}


def is_ready(node: Node) -> bool:
    """Whether its condition says so."""
    found = condition.find(node.status.conditions, "Ready")
    return found is not None and found.is_true


def _code(error: ApiError | None) -> int:
    return 200 if error is None else error.code
