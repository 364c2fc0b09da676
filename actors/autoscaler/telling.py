"""Telling: records that say why a pass got no node for a pod; a story is made of such records.

A reason that the pass before gave as well is not told again.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

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
        reasons = _Reasons(sight, client.switches)
        record.reasons = {
            key: "; ".join(reasons.of(fate))
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


class _Reasons:
    """Says why a pod gets no node. What it looks up for one pod it knows for all others."""

    def __init__(self, sight: PassSight, switches: AutoscalerSwitches) -> None:
        self._sight = sight
        self._cutoff = switches.expendable_cutoff

    def of(self, fate: PodFate) -> Iterator[str]:
        """The reasons for that fate, one after another."""
        if fate.fate == EXPENDABLE:
            yield f"it is expendable, with a priority below {self._cutoff}"
        elif fate.fate == NOMINATED:
            yield f"it is nominated to {fate.node}, to wait for its victims"
            if fate.node not in self._nodes:
                yield "there is no such node"
        elif fate.fate == SCHEDULABLE and fate.node.startswith(UPCOMING):
            yield from self._upcoming(fate.node.split(":")[1])
        elif fate.fate == SCHEDULABLE:
            yield f"it fits on {fate.node}"
            if fate.node in self._expendable:
                yield f"{self._expendable[fate.node]} there is expendable, and does not count"
        elif fate.fate == NO_OPTION:
            yield "no group helps it"
            for group, reasons in {**fate.rejected, **fate.skipped}.items():
                yield f"{group}: {', '.join(reasons)}"
        else:
            yield PLAINLY.get(fate.why or fate.fate, fate.why or "the pass ended before")

    def _upcoming(self, name: str) -> Iterator[str]:
        """Why a node of that group seems to be on its way."""
        group = next(each for each in self._sight.groups if each.name == name)
        wants = f"as {name} wants {group.target}"
        yield f"a node of {name} that fits it seems to be on its way, {wants}"
        for node in self._going:
            if node in group.nodes:
                yield f"{node} is about to be deleted, and does not count"

    @cached_property
    def _nodes(self) -> set[str]:
        return {node.meta.name for node in self._sight.nodes}

    @cached_property
    def _going(self) -> list[str]:
        return [node.meta.name for node in self._sight.nodes if has_taint(node, TO_BE_DELETED)]

    @cached_property
    def _expendable(self) -> dict[str, str]:
        """By node, the first expendable pod on it."""
        found: dict[str, str] = {}
        for pod in self._sight.bound:
            if is_expendable(pod, self._cutoff):
                found.setdefault(pod.spec.node_name, pod.key)
        return found
