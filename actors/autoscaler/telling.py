"""Telling: records that say why a pass got no node for a pod; a story is made of such records.

A reason that the pass before gave as well is not told again.
"""

from __future__ import annotations

from collections.abc import Iterator

from actors.autoscaler.asking import is_expendable
from actors.autoscaler.pass_record import (
    AWAITING,
    DAEMON,
    EXPENDABLE,
    IN_COOLDOWN,
    NO_OPTION,
    NO_OPTIONS,
    NOMINATED,
    SCHEDULABLE,
    TRIGGERED,
    UPCOMING,
    YOUNG,
    PassRecord,
    PodFate,
)
from actors.autoscaler.pass_sight import PassSight
from actors.autoscaler.state.readiness import TO_BE_DELETED, has_taint
from actors.autoscaler.switches import AutoscalerSwitches
from testbed import Client

PLAINLY = {
    YOUNG: "it is too young",
    DAEMON: "daemon pods never ask",
    AWAITING: "another group grows first",
    IN_COOLDOWN: "all that wait are too new",
    NO_OPTIONS: "the cluster has as many nodes as it may have",
}


def tell(
    client: Client, sight: PassSight | None, record: PassRecord, before: PassRecord | None
) -> None:
    """Record why each pod that waits gets no node, and what went wrong."""
    if sight is not None:
        switches: AutoscalerSwitches = client.switches
        record.reasons = {
            key: "; ".join(_reasons(fate, sight, switches))
            for key, fate in record.pods.items()
            if fate.fate != TRIGGERED
        }
    known = before.reasons if before is not None else {}
    for key, why in record.reasons.items():
        if why != known.get(key):
            said = f"asked for no node for pods/{key}: {why}"
            client.record("asks for no node", pod=f"pods/{key}", said=said)
    if record.error and (before is None or record.error != before.error):
        client.record("gives up", said=f"gave up a pass: {record.error}")


def _reasons(fate: PodFate, sight: PassSight, switches: AutoscalerSwitches) -> Iterator[str]:
    if fate.fate == EXPENDABLE:
        yield f"it is expendable, with a priority below {switches.expendable_cutoff}"
    elif fate.fate == NOMINATED:
        yield f"it is nominated to {fate.node}, to wait for its victims"
        if fate.node not in {node.meta.name for node in sight.nodes}:
            yield "there is no such node"
    elif fate.fate == SCHEDULABLE and fate.node.startswith(UPCOMING):
        yield from _upcoming(fate.node.split(":")[1], sight)
    elif fate.fate == SCHEDULABLE:
        yield f"it fits on {fate.node}"
        here = [pod for pod in sight.bound if pod.spec.node_name == fate.node]
        if yielding := [p for p in here if is_expendable(p, switches.expendable_cutoff)]:
            yield f"{yielding[0].key} there is expendable, and does not count"
    elif fate.fate == NO_OPTION:
        yield "no group helps it"
        for group, reasons in {**fate.rejected, **fate.skipped}.items():
            yield f"{group}: {', '.join(reasons)}"
    else:
        yield PLAINLY.get(fate.why or fate.fate, fate.why or "the pass ended before")


def _upcoming(name: str, sight: PassSight) -> Iterator[str]:
    """Why a node of that group seems to be on its way."""
    group = next(each for each in sight.groups if each.name == name)
    yield f"a node of {name} that fits it seems to be on its way, as {name} wants {group.target}"
    going = [n.meta.name for n in sight.nodes if has_taint(n, TO_BE_DELETED)]
    for node in going:
        if node in group.nodes:
            yield f"{node} is about to be deleted, and does not count"
