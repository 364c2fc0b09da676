"""Idle nodes: small clusters for tests of scale-down, as one pass of an autoscaler sees them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import attrs

from actors.autoscaler.listing_order import Order, as_sorted
from actors.autoscaler.scale_down.deletions import Deletions
from actors.autoscaler.scale_down.drainability import DrainRules
from actors.autoscaler.scale_down.planning.outlook import Outlook
from actors.autoscaler.scale_down.planning.parallel_planner import ParallelPlanner
from actors.autoscaler.scale_down.planning.planner import ScaleDownPlanner
from actors.autoscaler.settings import AutoscalerSettings
from actors.autoscaler.simulation.packer import Packer, RoundRobin
from actors.autoscaler.simulation.simulation import Simulation
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import info_of
from actors.shared.node_groups import GroupView
from testbed.objects import (
    Condition,
    LabelSelector,
    Map,
    Node,
    NodeStatus,
    Object,
    Owner,
    Pod,
    PodDisruptionBudget,
    PodDisruptionBudgetStatus,
    PodStatus,
    ReplicaSet,
)
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec
from testbed.objects.workload import ReplicaSetSpec

GIB = 2**30


def idle_node(name: str, *, cpu_m: int = 4000, ready: str = "True", **spec: Any) -> Node:
    """A node with that readiness."""
    node = Node.of(name, cpu_m=cpu_m, memory=8 * GIB, labels={"host": name}, **spec)
    status = attrs.evolve(node.status, conditions=(Condition("Ready", ready),))
    return attrs.evolve(node, status=status)


def owned(
    name: str, node: str = "", cpu_m: int = 500, owner: str = "ReplicaSet/rs", **spec: Any
) -> Pod:
    """A pod on a node, of an owner written as `kind/name`; of none if that is empty."""
    pod = Pod.of(name, cpu_m=cpu_m, memory=GIB, node_name=node, labels={"app": "web"}, **spec)
    kind, _, called = owner.partition("/")
    owners = (Owner("apps/v1", kind, called, called, True),) if owner else ()
    running = PodStatus("Running") if node else PodStatus("Pending")
    return attrs.evolve(pod.with_meta(owners=owners, uid=name), status=running)


def annotated(item: Any, **annotations: str) -> Any:
    """The object with these annotations; `__` stands for what a name cannot have in Python."""
    prefix = "cluster-autoscaler.kubernetes.io/"
    given = {prefix + name.replace("_", "-"): value for name, value in annotations.items()}
    return item.with_meta(annotations={**item.meta.annotations, **given})


def budget(allowed: int, namespace: str = "default", **labels: str) -> PodDisruptionBudget:
    """A budget for pods with these labels that allows so many disruptions."""
    return PodDisruptionBudget(
        f"{namespace}/budget",
        spec=PodDisruptionBudgetSpec(min_available=1, selector=LabelSelector(Map(labels))),
        status=PodDisruptionBudgetStatus(disruptions_allowed=allowed),
    )


def replica_set(kind: str, namespace: str, name: str) -> Object | None:
    """The only owner there is: the ReplicaSet `rs` of the namespace `default`, with three
    replicas."""
    if (kind, namespace, name) != ("ReplicaSet", "default", "rs"):
        return None
    return ReplicaSet("rs", spec=ReplicaSetSpec(replicas=3))


def info(node: Node, *pods: Pod) -> NodeInfo:
    """A node with pods on it."""
    made = NodeInfo(node.meta.name, node)
    for pod in pods:
        made.add(info_of(pod))
    return made


def group(name: str, *nodes: str, least: int = 0, target: int | None = None) -> GroupView:
    """A group of these nodes."""
    return GroupView(name, least, 10, len(nodes) if target is None else target, nodes)


@attrs.define
class IdleCluster:
    """Nodes, pods and groups, and a planner that looks at them pass by pass."""

    nodes: Sequence[Node]
    pods: Sequence[Pod]
    groups: Sequence[GroupView]
    settings: AutoscalerSettings = attrs.field(factory=AutoscalerSettings)
    budgets: Sequence[PodDisruptionBudget] = ()
    upcoming: Iterable[NodeInfo] = ()
    order: Order = as_sorted
    deletions: Deletions = attrs.field(factory=Deletions)
    planner: ScaleDownPlanner = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        rules = DrainRules(min_replica_count=self.settings.min_replica_count)
        packer = Packer(RoundRobin())
        kind = ParallelPlanner if self.settings.parallel_drain else ScaleDownPlanner
        self.planner = kind(self.settings, packer, self.deletions, rules)

    def at(self, seconds: float) -> Outlook:
        """What a pass at that time sees; its planner has looked at it."""
        infos = [
            info(node, *(pod for pod in self.pods if pod.spec.node_name == node.meta.name))
            for node in self.nodes
        ]
        outlook = Outlook(
            int(seconds * 1000), Simulation([*infos, *self.upcoming]), self.nodes, self.groups,
            replica_set, self.budgets, self.order,
        )  # fmt: skip
        self.planner.update(outlook)
        return outlook

    def went(self, seconds: float) -> tuple[str, list[str], list[str]]:
        """What a pass at that time chooses: the result, the empty nodes, those to drain."""
        chosen = self.planner.choose(self.at(seconds))
        empty, drained = ([node.meta.name for node in n] for n in (chosen.empty, chosen.drained))
        return chosen.result, empty, drained

    @property
    def reasons(self) -> dict[str, str]:
        """Why each node stays."""
        return {name: why.reason for name, why in self.planner.unremovable.reasons.items()}


def without_room(node: Node) -> Node:
    """The node, which does not say how much it has."""
    return attrs.evolve(node, status=NodeStatus())
