"""Affinity, taints, tolerations, topology spread: where a pod may be, by node and other pods."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from testbed.objects.labels import Labelled, LabelSelector, Requirement
from testbed.objects.meta import wire

NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE = "NoSchedule", "PreferNoSchedule", "NoExecute"


@attrs.frozen
class Taint:
    """A mark on a node that keeps pods away unless they tolerate it."""

    key: str
    """Its name, such as `node.kubernetes.io/not-ready`."""
    value: str = ""
    """Its value; a toleration with Equal must have the same."""
    effect: str = attrs.field(default="", metadata=wire(always=True))
    """NoSchedule, PreferNoSchedule (affects the score only) or NoExecute (also evicts)."""
    added_ms: int | None = attrs.field(default=None, metadata=wire("timeAdded", "time"))
    """When it was added, for NoExecute."""


@attrs.frozen
class Toleration:
    """Which taints a pod tolerates."""

    key: str = ""
    """Empty, with Exists: every key."""
    operator: str = ""
    """Equal (also if empty) or Exists."""
    value: str = ""
    """The value of the taint, for Equal."""
    effect: str = ""
    """Empty: every effect."""
    toleration_seconds: int | None = None
    """How long the pod stays after a NoExecute taint was added; None: for ever."""

    def tolerates(self, taint: Taint) -> bool:
        """Whether it tolerates that taint (API-61)."""
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        if self.operator == "Exists":
            return True
        return self.operator in ("", "Equal") and self.value == taint.value


def tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    """Whether any of these tolerations tolerates the taint."""
    return any(toleration.tolerates(taint) for toleration in tolerations)


@attrs.frozen
class NodeSelectorTerm:
    """Requirements on a node, all of which it must meet."""

    match_expressions: tuple[Requirement, ...] = ()
    """On its labels: In, NotIn, Exists, DoesNotExist, and Gt or Lt of a whole number."""
    match_fields: tuple[Requirement, ...] = ()
    """On its fields; `metadata.name` is the only one that Kubernetes knows."""

    def matches(self, name: str, labels: Labelled) -> bool:
        """Whether a node of that name with these labels matches. An empty term matches no node."""
        if not self.match_expressions and not self.match_fields:
            return False
        fields = {"metadata.name": name}
        return all(each.holds(labels) for each in self.match_expressions) and all(
            each.holds(fields) for each in self.match_fields
        )


@attrs.frozen
class NodeSelector:
    """Selects the nodes that match at least one of its terms."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = attrs.field(
        default=(), metadata=wire(always=True)
    )
    """A node is selected if it meets any one of these."""

    def matches(self, name: str, labels: Labelled) -> bool:
        """Whether it selects a node of that name with these labels."""
        return any(term.matches(name, labels) for term in self.node_selector_terms)


@attrs.frozen
class PreferredNodes:
    """Preferred nodes, and the weight of that preference."""

    weight: int
    """1 to 100."""
    preference: NodeSelectorTerm
    """Which nodes."""


@attrs.frozen
class NodeAffinity:
    """The nodes that a pod requires and those that it prefers."""

    required: NodeSelector | None = attrs.field(
        default=None, metadata=wire("requiredDuringSchedulingIgnoredDuringExecution")
    )
    """A node that this does not select is not feasible; None: all are."""
    preferred: tuple[PreferredNodes, ...] = attrs.field(
        default=(), metadata=wire("preferredDuringSchedulingIgnoredDuringExecution")
    )
    """Nodes that get more points."""


@attrs.frozen
class PodAffinityTerm:
    """Which other pods a pod is to be near, or not near."""

    topology_key: str = attrs.field(default="", metadata=wire(always=True))
    """A label of nodes. Two pods are near each other if their nodes have the same value of it."""
    label_selector: LabelSelector | None = None
    """Which pods; None: none, empty: all."""
    namespaces: tuple[str, ...] = ()
    """In which namespaces; if neither this nor the selector is given, the pod's own."""
    namespace_selector: LabelSelector | None = None
    """And in namespaces with such labels; empty: all."""


@attrs.frozen
class PreferredPods:
    """Preferred pods to be near, and the weight of that preference."""

    weight: int
    """1 to 100; as anti-affinity it counts against a node."""
    pod_affinity_term: PodAffinityTerm
    """Which pods, and what near means."""


@attrs.frozen
class PodAffinity:
    """The pods that a pod must be near and those that it prefers to be near. As anti-affinity: the
    pods that it must not be near, and those that it prefers not to be near."""

    required: tuple[PodAffinityTerm, ...] = attrs.field(
        default=(), metadata=wire("requiredDuringSchedulingIgnoredDuringExecution")
    )
    """Each of these must be met."""
    preferred: tuple[PreferredPods, ...] = attrs.field(
        default=(), metadata=wire("preferredDuringSchedulingIgnoredDuringExecution")
    )
    """What gives a node more points, or fewer."""


@attrs.frozen
class Affinity:
    """Node affinity, pod affinity and pod anti-affinity of a pod."""

    node_affinity: NodeAffinity | None = None
    """Which nodes it requires and prefers."""
    pod_affinity: PodAffinity | None = None
    """Which pods it must or wants to be near."""
    pod_anti_affinity: PodAffinity | None = None
    """Which pods it must not, or does not want to, be near."""


@attrs.frozen
class TopologySpreadConstraint:
    """How unevenly pods may be spread over the values of a node label."""

    max_skew: int
    """By how many pods the fullest value may exceed the emptiest."""
    topology_key: str
    """The label of nodes whose values are compared: `topology.kubernetes.io/zone`."""
    when_unsatisfiable: str
    """DoNotSchedule or ScheduleAnyway."""
    label_selector: LabelSelector | None = None
    """Which pods are counted."""
    min_domains: int | None = None
    """How many values there should be at least."""
    node_affinity_policy: str | None = None
    """Honor (also if None): only nodes that its affinity allows count; or Ignore."""
    node_taints_policy: str | None = None
    """Ignore (also if None), or Honor: only nodes whose taints it tolerates count."""
    match_label_keys: tuple[str, ...] = ()
    """Labels of the pod itself that the counted pods must share."""
