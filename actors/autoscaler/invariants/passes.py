"""Passes: what each pass of each autoscaler saw and decided, given to claims once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import attrs

from actors.autoscaler.autoscaler import Autoscaler
from actors.autoscaler.pass_record import PassRecord
from actors.autoscaler.pass_sight import PassSight
from actors.autoscaler.settings import AutoscalerSettings
from actors.autoscaler.state.cluster_state import ClusterState
from actors.autoscaler.switches import AutoscalerSwitches
from testbed import Evidence, Invariant
from testbed.invariant import TURN
from testbed.objects import Node, Pod
from testbed.turns.found import FORBIDDEN, Found, Wrong, told
from testbed.turns.trace import Step

GOING = "ToBeDeletedByClusterAutoscaler"
STARTUP_MS = 900_000
"""How long a node that is not ready may be starting."""


@attrs.frozen(eq=False)
class SeenPass:
    """One pass that has ended, with the autoscaler that made it."""

    role: Any
    record: PassRecord
    sight: PassSight
    missing_ms: int
    """How long that life has known the oldest of the instances that have no Node."""

    @property
    def life(self) -> tuple[str, int]:
        """The autoscaler, and which life of it that is."""
        return self.role.name, self.role.lives

    @property
    def settings(self) -> AutoscalerSettings:
        """The settings of the autoscaler."""
        settings: AutoscalerSettings = self.role.actor.settings
        return settings

    @property
    def switches(self) -> AutoscalerSwitches:
        """The switches in force."""
        switches: AutoscalerSwitches = self.role.switches
        return switches

    @property
    def state(self) -> ClusterState:
        """What the autoscaler remembers of groups, as it is now."""
        state: ClusterState = self.role.life.shown["loop"].memory.state
        return state

    @property
    def upcoming(self) -> dict[str, int] | None:
        """By group, how many nodes are still to come, counted here again (CA-21). None if it cannot
        be told: an instance has had no Node for so long that it may count as lost."""
        if self.missing_ms > self.settings.max_node_provision_time_ms // 2:
            return None
        coming = {}
        for group in self.sight.groups:
            there = [node for node in self.sight.nodes if node.meta.name in group.nodes]
            count = group.target - sum(self._counts(node) for node in there)
            if count > 0:
                coming[group.name] = count
        return coming

    def _counts(self, node: Node) -> bool:
        """Whether a node counts towards the target of its group. One that is about to go counts as
        gone, unless the provider can say that it is not."""
        if has_taint(node, GOING) and not self.switches.has_instance:
            return False
        is_old = (node.meta.created_ms or 0) // 1000 * 1000 + STARTUP_MS <= self.record.at_ms
        return is_ready(node) or is_old


def key_of(pod: Pod) -> str:
    """What a record calls the pod: namespace and name."""
    return f"{pod.meta.namespace}/{pod.meta.name}"


def group_key(name: str) -> str:
    """The key of a group of nodes."""
    return f"nodegroups/{name}"


def node_key(name: str) -> str:
    """The key of a node."""
    return f"nodes/{name}"


def has_taint(node: Node, key: str) -> bool:
    """Whether the node has a taint with that key."""
    return any(taint.key == key for taint in node.spec.taints)


def is_ready(node: Node) -> bool:
    """Whether the node says that it is ready, and nothing speaks against it."""
    says = [each.status for each in node.status.conditions if each.type == "Ready"]
    ailing = ("DiskPressure", "NetworkUnavailable")
    ails = any(each.type in ailing and each.status == "True" for each in node.status.conditions)
    marks = [taint.key for taint in node.spec.taints if taint.effect != "PreferNoSchedule"]
    is_marked = any(
        key.startswith("ignore-taint.")
        or key in {f"node.kubernetes.io/{n}" for n in ("not-ready", "disk-pressure",
                                                       "network-unavailable")}
        for key in marks
    )  # fmt: skip
    return bool(says) and set(says) == {"True"} and not ails and not is_marked


class JudgesPasses(Invariant):
    """What claims about passes share: each pass of each autoscaler is judged once, at its end."""

    looks_at: ClassVar[frozenset[str]] = frozenset({TURN})
    breach_reason = FORBIDDEN

    def __init__(self) -> None:
        self._judged: dict[str, PassRecord] = {}
        self._since_ms: dict[tuple[str, int, str], int] = {}
        """By autoscaler, life and instance, the first pass that found it without a Node."""

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        """Judge the passes that have ended in this turn."""
        for seen in self._passes(evidence):
            if wrong := self.wrong_with(seen, evidence):
                who = seen.role.name
                return told(
                    wrong, before=f"{who}, in its pass at {seen.record.at_ms} ms, ", actors=who
                )
        return None

    def wrong_with(self, seen: SeenPass, evidence: Evidence) -> Found | None:
        """What is wrong with a pass; None if nothing is."""
        raise NotImplementedError

    def _passes(self, evidence: Evidence) -> Iterator[SeenPass]:
        for role in autoscalers(evidence):
            record: PassRecord | None = role.life.shown.get("pass")
            if record is None or self._judged.get(role.name) is record:
                continue
            self._judged[role.name] = record
            sight: PassSight | None = role.life.shown.get("sight")
            # Without an answer of the cloud a pass ends before it has seen anything.
            if sight is not None and sight.at_ms == record.at_ms:
                yield self._seen(role, record, sight)

    def _seen(self, role: Any, record: PassRecord, sight: PassSight) -> SeenPass:
        registered = {node.meta.name for node in sight.nodes}
        names = dict.fromkeys(name for group in sight.groups for name in group.nodes)
        # It believes for two minutes what it has last read of instances.
        for instances in role.life.shown["loop"].memory.cloud.instances.values():
            names.update(dict.fromkeys(each.name for each in instances))
        missing = tuple(name for name in names if name not in registered)
        keys = [(role.name, role.lives, name) for name in missing]
        self._since_ms = {key: self._since_ms.get(key, record.at_ms) for key in keys} | {
            key: at_ms for key, at_ms in self._since_ms.items() if key[0] != role.name
        }
        oldest_ms = min((self._since_ms[key] for key in keys), default=record.at_ms)
        return SeenPass(role, record, sight, record.at_ms - oldest_ms)


def autoscalers(evidence: Evidence) -> Iterator[Any]:
    """The roles of the autoscalers that are up."""
    for role in evidence.actors:
        if isinstance(role.actor, Autoscaler) and role.is_up:
            yield role
