"""Telling: what ours did, in the words of the recording."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from actors.autoscaler.pass_record import (
    LEFT,
    PassRecord,
    PodFate,
    ScaleDownRecord,
    ScaleUpRecord,
    Unremovable,
)
from actors.autoscaler.passing import NOT_CHOSEN
from testbed.objects import Node
from testbed.store.store import Store
from tests.conformance.autoscale.clock import CaseClock
from tests.conformance.autoscale.journal import Entry, Journal

Told = dict[str, Any]
DECIMALS = 9
ENDED = "before pods were looked at"


def outcome_of(journal: Journal, store: Store, clock: CaseClock) -> Told:
    """All of a play: its passes, its log, and how it ends."""
    return {
        "passes": [pass_of(each, clock) for each in journal.passes],
        "log": deletions_in_order(folded(journal.log)),
        "final": final_of(store),
    }


def final_of(store: Store) -> Told:
    """The targets of all groups, and the taints of all nodes."""
    groups: list[Any] = [entry.value for entry in store.snapshot("nodegroups/")]
    nodes: list[Any] = [entry.value for entry in store.snapshot("nodes/")]
    return {
        "targets": {group.meta.name: group.target for group in groups},
        "node_taints": {node.meta.name: taints_of(node) for node in nodes},
    }


def taints_of(node: Node) -> list[str]:
    """The keys of its taints."""
    return sorted(taint.key for taint in node.spec.taints)


def folded(log: list[Entry]) -> list[Entry]:
    """The log with each NotTriggerScaleUp once, and its later times beside it."""
    found: list[Entry] = []
    known: dict[tuple[str, ...], Entry] = {}
    for entry in log:
        if entry.get("reason") == "NotTriggerScaleUp":
            key = (entry["object"], entry["message"])
            if key in known:
                known[key].setdefault("also_at", []).append(entry["t"])
                continue
            known[key] = entry = dict(entry)
        found.append(entry)
    return found


def deletions_in_order(log: list[Entry]) -> list[Entry]:
    """The log with the calls of one instant that delete nodes of one group in order of the nodes:
    which of them comes first was not recorded, only by how much the target falls."""
    calls: dict[tuple[Any, str], list[Entry]] = {}
    for entry in log:
        if entry["verb"] == "delete-instances" and entry["result"] == "ok":
            calls.setdefault((entry["t"], entry["object"]), []).append(entry)
    nodes = {
        id(entry): names
        for each in calls.values()
        for entry, names in zip(each, sorted(e["nodes"] for e in each), strict=True)
    }
    return [{**entry, "nodes": nodes[id(entry)]} if id(entry) in nodes else entry for entry in log]


# -- passes ---------------------------------------------------------------------------------------


def pass_of(record: PassRecord, clock: CaseClock) -> Told:
    """One pass; what is empty is left out, as it was recorded."""
    told: Told = {"t": clock.second(record.at_ms), "status": status_of(record)}
    if record.error:
        told["error"] = record.error
    if record.ended_early:
        return {**told, "ended": ENDED}
    told["pods"] = {_name(key): fate_of(fate) for key, fate in record.pods.items()}
    # A pod that is nominated to a node that is drained was told of once only.
    drained = {key: each for key, each in record.drained.items() if key not in record.pods}
    if drained:
        told["drained_pods"] = {_name(key): fate_of(each) for key, each in drained.items()}
    if upcoming := {group: count for group, count in record.upcoming.items() if count}:
        told["upcoming"] = upcoming
    told["scale_up"] = scale_up_of(record.scale_up)
    told["scale_down"] = scale_down_of(record.scale_down, clock)
    return told


def status_of(record: PassRecord) -> Told:
    """What the status ConfigMap says, of the cluster and of each group."""
    groups = {name: dict(said) for name, said in record.status.items() if name}
    return {**record.status.get("", {}), "groups": groups}


def fate_of(fate: PodFate) -> Told:
    """What becomes of a pod. The recording has one word for all of which a pass said nothing."""
    told: Told = {"fate": fate.fate}
    if fate.node:
        told["node"] = fate.node
    if fate.why or fate.fate == LEFT:
        told["why"] = fate.why or NOT_CHOSEN
    for name in ("rejected", "skipped"):
        if said := getattr(fate, name):
            told[name] = {group: list(reasons) for group, reasons in said.items()}
    if fate.drained_from:
        told["from"] = fate.drained_from
    return told


def scale_up_of(record: ScaleUpRecord) -> Told:
    """The half that makes the cluster larger."""
    told: Told = {"result": record.result}
    if record.options:
        told["options"] = sorted(
            ({"group": each.group, "nodes": each.nodes, "pods": sorted(map(_name, each.pods))}
             for each in record.options), key=lambda each: str(each["group"]),
        )  # fmt: skip
    if record.best:
        told["best"] = record.best
    if record.resizes:
        told["infos"] = [
            {"group": each.group, "from": each.old, "to": each.new, "max": each.max_size}
            for each in record.resizes
        ]
    if record.error:
        told["error"] = record.error
    return told


def scale_down_of(record: ScaleDownRecord, clock: CaseClock) -> Told:
    """The half that makes it smaller."""
    told: Told = {"ran": record.ran, "result": record.result}
    if not record.ran:
        return told
    if record.in_cooldown:
        told["in_cooldown"] = True
    told["utilization"] = {
        node: {"cpu": _decimal(cpu), "memory": _decimal(memory)}
        for node, (cpu, memory) in record.utilization.items()
    }
    told["unneeded_since"] = {n: clock.second(ms) for n, ms in record.unneeded_since.items()}
    told["unremovable"] = {n: unremovable_of(each) for n, each in record.unremovable.items()}
    if record.deleting_empty:
        told["deleting_empty"] = sorted(record.deleting_empty)
    if record.deleting_drain:
        told["deleting_drain"] = _sorted_pods(record.deleting_drain)
    if record.delete_results:
        told["delete_results"] = dict(record.delete_results)
    return told


def unremovable_of(said: Unremovable) -> Told:
    """Why a node stays."""
    told = {"reason": said.reason}
    if said.pod:
        told["pod"] = _name(said.pod)
    if said.pod_reason:
        told["pod_reason"] = said.pod_reason
    return told


def _sorted_pods(pods: Mapping[str, tuple[str, ...]]) -> Told:
    return {node: sorted(map(_name, keys)) for node, keys in pods.items()}


def _decimal(share: Fraction) -> float:
    return round(float(share), DECIMALS)


def _name(key: str) -> str:
    return key.rpartition("/")[2]
