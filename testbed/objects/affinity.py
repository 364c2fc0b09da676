"""Affinity, taints, tolerations, spreading: where a pod may be, by its node and its neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from testbed.objects.labels import LabelSelector, Requirement
from testbed.objects.meta import wire

NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE = "NoSchedule", "PreferNoSchedule", "NoExecute"


@attrs.frozen
class Taint:
    """What keeps pods away from a node unless they tolerate it."""

    key: str
    value: str = ""
    effect: str = attrs.field(default="", metadata=wire(always=True))
    """NoSchedule, PreferNoSchedule (a score only) or NoExecute (evicts, too)."""
    added_ms: int | None = attrs.field(default=None, metadata=wire("timeAdded", "time"))


@attrs.frozen
class Toleration:
    """What taints a pod puts up with."""

    key: str = ""
    """Empty, with Exists: any."""
    operator: str = ""
    """Equal, which is what empty means, or Exists."""
    value: str = ""
    effect: str = ""
    """Empty: any."""
    toleration_seconds: int | None = None
    """How long it stays after a NoExecute taint; None: for ever."""

    def tolerates(self, taint: Taint) -> bool:
        """Whether it puts up with that taint (API-61)."""
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        if self.operator == "Exists":
            return True
        return self.operator in ("", "Equal") and self.value == taint.value


def tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    """Whether any of these puts up with it."""
    return any(toleration.tolerates(taint) for toleration in tolerations)


@attrs.frozen
class NodeSelectorTerm:
    """What one node must be; of several terms one is enough."""

    match_expressions: tuple[Requirement, ...] = ()
    """In, NotIn, Exists, DoesNotExist, and Gt or Lt of a whole number."""
    match_fields: tuple[Requirement, ...] = ()
    """The same of its fields; `metadata.name` is the only one there is."""

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether a node of that name with these labels is so; an empty term is met by none."""
        if not self.match_expressions and not self.match_fields:
            return False
        fields = {"metadata.name": name}
        return all(each.holds(labels) for each in self.match_expressions) and all(
            each.holds(fields) for each in self.match_fields
        )


@attrs.frozen
class NodeSelector:
    """Which nodes: those that meet one of its terms."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = attrs.field(
        default=(), metadata=wire(always=True)
    )

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether a node of that name with these labels is one of them."""
        return any(term.matches(name, labels) for term in self.node_selector_terms)


@attrs.frozen
class PreferredNodes:
    """Which nodes are liked, and how much."""

    weight: int
    preference: NodeSelectorTerm


@attrs.frozen
class NodeAffinity:
    """To which nodes a pod may go, and to which it likes to."""

    required: NodeSelector | None = attrs.field(
        default=None, metadata=wire("requiredDuringSchedulingIgnoredDuringExecution")
    )
    preferred: tuple[PreferredNodes, ...] = attrs.field(
        default=(), metadata=wire("preferredDuringSchedulingIgnoredDuringExecution")
    )


@attrs.frozen
class PodAffinityTerm:
    """Near, or not near, which other pods."""

    topology_key: str = attrs.field(default="", metadata=wire(always=True))
    """The label of nodes within one value of which pods are near each other."""
    label_selector: LabelSelector | None = None
    """Which pods; None: none, empty: all."""
    namespaces: tuple[str, ...] = ()
    """Of which namespaces; none said: the pod's own."""
    namespace_selector: LabelSelector | None = None
    """And of those with such labels; empty: all."""


@attrs.frozen
class PreferredPods:
    """Near which other pods is liked, and how much."""

    weight: int
    pod_affinity_term: PodAffinityTerm


@attrs.frozen
class PodAffinity:
    """Near which other pods a pod must be (or, as anti-affinity, must not), or likes to."""

    required: tuple[PodAffinityTerm, ...] = attrs.field(
        default=(), metadata=wire("requiredDuringSchedulingIgnoredDuringExecution")
    )
    preferred: tuple[PreferredPods, ...] = attrs.field(
        default=(), metadata=wire("preferredDuringSchedulingIgnoredDuringExecution")
    )


@attrs.frozen
class Affinity:
    """All of it."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


@attrs.frozen
class TopologySpreadConstraint:
    """How unevenly pods may stand over the values of a label of their nodes."""

    max_skew: int
    topology_key: str
    when_unsatisfiable: str
    """DoNotSchedule or ScheduleAnyway."""
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()
