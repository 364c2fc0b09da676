"""Templates: what a new node of each group would be (CA-16).

1. A node of the group that has been ready for a minute and is not cordoned, with its daemon pods
   and mirror pods. Which one, if there are several, is random.
2. Else the last such node that was seen, for as long as this life lasts.
3. Else what the provider says, with the daemon pods that would run there.
4. Else any node of the group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import attrs

from actors.autoscaler.state.cloud_view import CloudView
from actors.autoscaler.state.readiness import (
    CANDIDATE,
    IGNORED_PREFIX,
    TO_BE_DELETED,
    is_usable,
    ready_since_ms,
)
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import info_of
from actors.shared.critical import is_mirror
from actors.shared.daemon_pods import is_daemon_pod, may_run, usual_tolerations
from actors.shared.node_groups import GroupView
from testbed.objects import DaemonSet, Meta, Node, Pod, Taint, requests_of
from testbed.objects.meta import evolved
from testbed.objects.node import HOSTNAME

STABLE_MS = 60_000
"""How long a node must have been ready to be a template."""
TRANSIENT = {
    TO_BE_DELETED,
    CANDIDATE,
    "CriticalAddonsOnly",
    "node.cloudprovider.kubernetes.io/uninitialized",
    "node.cloudprovider.kubernetes.io/shutdown",
    "cloud.google.com/impending-node-termination",
    "NodeWithImpairedVolumes",
    *(
        f"node.kubernetes.io/{name}"
        for name in (
            "not-ready", "unreachable", "unschedulable", "memory-pressure", "disk-pressure",
            "network-unavailable", "pid-pressure",
        )
    ),
}  # fmt: skip
"""Taints that say how one node is at the moment: a new one does not have them."""


@attrs.frozen
class NodeTemplate:
    """A node as it would be, with the pods that come with each node."""

    node: Node
    pods: tuple[Pod, ...]

    @property
    def likeness(self) -> object:
        """Equal for two nodes that are the same to a scheduler, but for their names."""
        labels = {name: v for name, v in self.node.meta.labels.items() if name != HOSTNAME}
        status, spec = self.node.status, self.node.spec
        pods = sorted(
            repr((pod.meta.namespace, pod.meta.labels, requests_of(pod), pod.spec.host_ports))
            for pod in self.pods
        )
        return repr((sorted(labels.items()), status.capacity, status.allocatable, spec, pods))

    @property
    def looks(self) -> object:
        """All that filters look at in a node like it, but for its name, to be compared."""
        labels = {name: v for name, v in self.node.meta.labels.items() if name != HOSTNAME}
        pods = [
            (pod.meta.namespace, pod.meta.labels, evolved(pod.spec, node_name=""))
            for pod in self.pods
        ]
        return labels, self.node.spec, self.node.status.allocatable, pods

    def copy(self, name: str) -> NodeInfo:
        """A new node of that name like it."""
        labels = self.node.meta.labels.having(**{HOSTNAME: name})
        meta = evolved(self.node.meta, name=name, labels=labels, uid=name)
        info = NodeInfo(name, evolved(self.node, meta=meta))
        for pod in self.pods:
            copied = evolved(pod.meta, name=f"{pod.meta.name}-{name}", uid="")
            spec = evolved(pod.spec, node_name=name)
            info.add(info_of(evolved(pod, meta=copied, spec=spec)))
        return info


Pick = Callable[[str, Sequence[str]], str]
"""Picks one of several names; the text says for what."""


class Templates:
    """The templates of all groups; it remembers the last good node of each."""

    def __init__(self) -> None:
        self._remembered: dict[str, NodeTemplate] = {}
        self.reused: tuple[str, ...] = ()
        """The groups with a template from an earlier pass. Any other template has a new name in
        each pass, and so have the nodes that are imagined from it."""
        self.origins: dict[str, str] = {}
        """By group, in words, after what its template was made."""

    def of_groups(
        self,
        cloud: CloudView,
        nodes: Iterable[Node],
        pods_on: Mapping[str, Sequence[Pod]],
        daemon_sets: Sequence[DaemonSet],
        now_ms: int,
        pick: Pick,
    ) -> dict[str, NodeTemplate]:
        """By group, its template, from nodes that can take pods; a group without one is left
        out."""
        good: dict[str, list[Node]] = {}
        others: dict[str, list[Node]] = {}
        for node in nodes:
            group = cloud.group_of(node.meta.name)
            if group is not None:
                is_good = is_usable(node) and ready_since_ms(node) + STABLE_MS < now_ms
                (good if is_good else others).setdefault(group.name, []).append(node)
        found = {}
        self.reused, self.origins = (), {}
        for group in cloud.groups:
            name = group.name
            if name in good:
                found[name] = self._remembered[name] = _one(name, good[name], pods_on, pick)
                self.origins[name] = "like those that it has"
            elif name in self._remembered:
                found[name] = self._remembered[name]
                self.reused = (*self.reused, name)
                self.origins[name] = "like one that it had"
            elif group.template is not None:
                found[name] = _imagined(group, daemon_sets)
                self.origins[name] = "as the provider says"
            elif name in others:
                found[name] = _one(name, others[name], pods_on, pick)
                self.origins[name] = "like those that it has"
        known = {group.name for group in cloud.groups}
        self._remembered = {n: each for n, each in self._remembered.items() if n in known}
        return found

    def digest(self) -> object:
        """What it remembers."""
        return self._remembered


def _one(
    group: str, nodes: Sequence[Node], pods_on: Mapping[str, Sequence[Pod]], pick: Pick
) -> NodeTemplate:
    """The template of a group by one of its nodes. There is a choice only between nodes that are
    not alike."""
    alike: dict[object, NodeTemplate] = {}
    for node in nodes:
        template = _real(node, pods_on)
        alike.setdefault(template.likeness, template)
    by_name = {each.node.meta.name: each for each in alike.values()}
    names = [*by_name]
    return by_name[pick(f"template of {group}", names) if len(names) > 1 else names[0]]


def _real(node: Node, pods_on: Mapping[str, Sequence[Pod]]) -> NodeTemplate:
    """A template like a node that exists."""
    pods = tuple(
        pod for pod in pods_on.get(node.meta.name, ())
        if not pod.meta.is_terminating and (is_mirror(pod) or is_daemon_pod(pod))
    )  # fmt: skip
    return NodeTemplate(_cleaned(node), pods)


def _imagined(group: GroupView, daemon_sets: Sequence[DaemonSet]) -> NodeTemplate:
    """A template by what the provider says of a group."""
    assert group.template is not None
    node = group.template
    pods = tuple(_daemon_pod(each) for each in daemon_sets if may_run(each, node)[0])
    return NodeTemplate(_cleaned(node), pods)


def _daemon_pod(item: DaemonSet) -> Pod:
    template = item.spec.template
    tolerations = (*template.spec.tolerations, *usual_tolerations())
    meta = Meta(item.meta.name, item.meta.namespace, labels=template.meta.labels)
    return Pod(meta, spec=attrs.evolve(template.spec, tolerations=tolerations))


def _cleaned(node: Node) -> Node:
    """Without the taints that a new node does not have."""
    spec = attrs.evolve(node.spec, taints=tuple(t for t in node.spec.taints if not _passes(t)))
    return attrs.evolve(node, spec=spec)


def _passes(taint: Taint) -> bool:
    """Whether a taint passes with the state of a node."""
    return taint.key in TRANSIENT or taint.key.startswith(IGNORED_PREFIX)
