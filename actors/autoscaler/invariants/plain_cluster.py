"""PlainCluster: the cluster of one pass, laid out again with plain sums, to judge the pass by.

It shares no code with what it judges. It knows resources, cordons, taints, node selectors and node
affinity. What depends on other pods, such as affinity to them, it does not judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import attrs

from actors.autoscaler.invariants.passes import SeenPass, key_of
from testbed import Evidence
from testbed.objects import Node, Pod, requests_of, room_of
from testbed.objects.affinity import NO_EXECUTE, NO_SCHEDULE

NOMINATED = "scheduler.kubernetes.io/nominated-node-name"
UPCOMING = "upcoming:"
CONDITIONS = "node.kubernetes.io/"


def is_expendable(pod: Pod, cutoff: int) -> bool:
    """Whether its priority is set, and below the cutoff (CA-9)."""
    return pod.spec.priority is not None and pod.spec.priority < cutoff


def nomination_of(pod: Pod) -> str:
    """The node that it is nominated to, or nothing."""
    return pod.status.nominated_node_name or pod.meta.annotations.get(NOMINATED, "")


def is_nominated(pod: Pod, rule: str, nodes: Iterable[str]) -> bool:
    """Whether it waits for its victims, by that rule (CA-10)."""
    node = nomination_of(pod)
    return bool(node) and (rule == "always" or (rule == "if_node_exists" and node in nodes))


def is_daemon(pod: Pod) -> bool:
    """Whether a DaemonSet has made it."""
    return any(owner.kind == "DaemonSet" for owner in pod.meta.owners)


def stands_alone(pod: Pod) -> bool:
    """Whether other pods make no difference to where it may be."""
    spec, affinity = pod.spec, pod.spec.affinity
    among = affinity is not None and (affinity.pod_affinity or affinity.pod_anti_affinity)
    return not (among or spec.topology_spread or spec.host_ports)


def admits(pod: Pod, node: Node) -> bool:
    """Whether the node lets the pod in, whatever room it has."""
    taints = [each for each in node.spec.taints if each.effect in (NO_SCHEDULE, NO_EXECUTE)]
    is_kept_out = any(
        not any(toleration.tolerates(taint) for toleration in pod.spec.tolerations)
        for taint in taints
    )
    return (
        not is_kept_out
        and not node.spec.unschedulable
        and pod.spec.may_be_on(node.meta.name, node.meta.labels)
    )


def as_new(node: Node) -> Node:
    """The node without the taints that a new one like it does not have."""
    taints = tuple(t for t in node.spec.taints if not t.key.startswith(CONDITIONS))
    return attrs.evolve(node, spec=attrs.evolve(node.spec, taints=taints))


def has_room(pod: Pod, node: Node, there: Iterable[Pod]) -> bool:
    """Whether the node has room for the pod beside those that are there."""
    return not overfull(node, [*there, pod], requests_of(pod))


def overfull(node: Node, pods: Iterable[Pod], wanted: Mapping[str, int]) -> str:
    """The first wanted resource of which these pods take more than the node has, or nothing."""
    room, pods = room_of(node), list(pods)
    sums: dict[str, int] = {"pods": len(pods)}
    for pod in pods:
        for name, amount in requests_of(pod).items():
            sums[name] = sums.get(name, 0) + amount
    for name in (*wanted, "pods"):
        is_wanted = name == "pods" or wanted[name] > 0
        if is_wanted and (name in room or name != "pods") and sums[name] > room.get(name, 0):
            return name
    return ""


class PlainCluster:
    """The nodes, also those still to come, and the pods that count on them at the end of a pass:
    pods that are bound there, that are nominated there, and that were packed there."""

    def __init__(self, seen: SeenPass, *, has_daemons: bool) -> None:
        self._seen = seen
        self.has_daemons = has_daemons
        """Whether there are DaemonSets. Then it cannot tell what a new node would have room for."""
        cutoff, rule = seen.switches.expendable_cutoff, seen.switches.nominated_rule
        sight, record = seen.sight, seen.record
        self.nodes = {node.meta.name: node for node in sight.nodes}
        """The registered nodes, by name."""
        self.there: dict[str, list[Pod]] = {}
        """By node, the pods that count there."""
        self.packed: dict[str, list[str]] = {}
        """By node, the keys of those that were packed there in that pass."""
        for pod in sight.bound:
            if not is_expendable(pod, cutoff):
                self._put(pod, pod.spec.node_name)
        for pod in sight.unschedulable:
            if is_expendable(pod, cutoff):
                continue
            if is_nominated(pod, rule, self.nodes):
                self._put(pod, nomination_of(pod))
            elif key_of(pod) in record.pods:
                self._pack(pod, record.pods[key_of(pod)].node)
        for pod in sight.bound:
            if key_of(pod) in record.drained:
                self._pack(pod, record.drained[key_of(pod)].node)
        self.templates = {
            group.name: as_new(group.template)
            for group in sight.groups
            if group.template is not None
        }
        """By group, what a new node of it would be."""

    def _put(self, pod: Pod, node: str) -> None:
        self.there.setdefault(node, []).append(pod)

    def _pack(self, pod: Pod, node: str) -> None:
        if node:
            self._put(pod, node)
            self.packed.setdefault(node, []).append(key_of(pod))

    def get(self, name: str) -> Node | None:
        """The node of that name, or what it will be if it is still to come; None: no such node."""
        if not name.startswith(UPCOMING):
            return self.nodes.get(name)
        group, number = name.removeprefix(UPCOMING).rsplit(":", 1)
        coming = self._seen.upcoming
        if coming is not None and int(number) >= coming.get(group, 0):
            return None
        return self.templates.get(group)

    def places(self, pod: Pod) -> Iterator[str]:
        """The nodes that would still take the pod, also those that are still to come."""
        names = list(self.nodes)
        coming = {} if self.has_daemons else self._seen.upcoming or {}
        for group, count in coming.items():
            names += [f"{UPCOMING}{group}:{number}" for number in range(count)]
        for name in names:
            node = self.get(name)
            there = self.there.get(name, ())
            if node is not None and admits(pod, node) and has_room(pod, node, there):
                yield name

    @property
    def is_sure(self) -> bool:
        """Whether all that was packed is known. A nominated pod on a node that is drained is
        packed, too, and no record says where."""
        drained = {fate.drained_from for fate in self._seen.record.drained.values()}
        return not any(nomination_of(pod) in drained for pod in self._seen.sight.unschedulable)

    def groups_for(self, pod: Pod) -> Iterator[str]:
        """The groups where a new, empty node would take the pod."""
        for group, template in self.templates.items():
            if admits(pod, template) and has_room(pod, template, ()):
                yield group


def laid_out(seen: SeenPass, evidence: Evidence) -> PlainCluster:
    """The cluster of that pass."""
    return PlainCluster(seen, has_daemons=bool(list(evidence.store.snapshot("daemonsets/"))))
