"""Objects: the nodes, pods, owners, budgets and groups of a recorded case."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from actors.cloud import Boot, CloudInstance, NodeGroup
from actors.shared.node_groups import OTHER_ERROR, OUT_OF_RESOURCES
from testbed.objects import (
    Condition,
    DaemonSet,
    Job,
    Map,
    Meta,
    Node,
    Object,
    Pod,
    PodDisruptionBudget,
    PodSpec,
    PodStatus,
    ReplicaSet,
    ReplicationController,
    ReplicationControllerSpec,
    StatefulSet,
)
from testbed.objects.affinity import Affinity, PodAffinity, PodAffinityTerm, Taint, Toleration
from testbed.objects.deployment import StatefulSetSpec
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from testbed.objects.labels import LabelSelector
from testbed.objects.meta import Owner
from testbed.objects.plain import frozen
from testbed.objects.pod import Container, Port, Resources
from testbed.objects.quantity import amounts
from testbed.objects.workload import DaemonSetSpec, JobSpec, PodTemplate, ReplicaSetSpec
from tests.conformance.autoscale.clock import CaseClock

Tree = dict[str, Any]
HOSTNAME = "kubernetes.io/hostname"
CLASSES = {"OutOfResources": OUT_OF_RESOURCES, "Other": OTHER_ERROR}
VERSIONS = {"Job": "batch/v1", "ReplicationController": "v1"}


@attrs.frozen
class CaseObjects:
    """Makes objects from what a case says, at the times of its clock."""

    clock: CaseClock

    def all(self, case: Tree) -> Iterator[Object]:
        """Everything that is there from the start."""
        for place, tree in enumerate(case["groups"]):
            yield self.group(tree, place)
            for name in tree.get("instances") or ():
                yield self.instance(name, tree["name"])
        for nth, tree in enumerate(case["nodes"]):
            yield self.node(tree)
            if tree.get("group"):
                yield self.instance(tree["name"], tree["group"], nth)
        for tree in case["pods"]:
            yield self.pod(tree)
        for tree in case.get("owners") or ():
            yield from self.owner(tree)
        for tree in case.get("daemonsets") or ():
            yield self.daemon_set(tree)
        for tree in case.get("pdbs") or ():
            yield self.budget(tree)

    # -- the cloud ------------------------------------------------------------------------------

    def group(self, tree: Tree, place: int) -> NodeGroup:
        """A node group; what a new node of it will be, if its provider can say."""
        template = tree["template"]
        made = None
        if template is not None:
            made = self._node(f"template-{tree['name']}", template)
        return NodeGroup(
            Meta(tree["name"]), min_size=tree["min"], max_size=tree["max"], target=tree["target"],
            template=made, boots=(boot_of(tree.get("boot")),), place=place,
            increase_errors=tree.get("increase_errors", 0),
            delete_errors=tree.get("delete_errors", 0),
            delete_ms=round(1000 * tree.get("delete_s", 2)), naming="rising",
        )  # fmt: skip

    def instance(self, name: str, group: str, number: int = -1) -> CloudInstance:
        """An instance that is there from the start."""
        return CloudInstance(Meta(name, uid=f"uid-of-{name}"), group=group, number=number)

    # -- nodes ----------------------------------------------------------------------------------

    def node(self, tree: Tree) -> Node:
        """A node that is there from the start, or is added by the script."""
        node = self._node(tree["name"], tree)
        since_ms = self.clock.whole_ms(tree["ready_since"])
        ready = Condition(
            "Ready", "True" if tree.get("ready", True) else "False", since_ms=since_ms
        )
        meta = attrs.evolve(
            node.meta, uid=f"uid-of-{tree['name']}",
            created_ms=self.clock.whole_ms(tree["created"]),
            labels=node.meta.labels.having(**{HOSTNAME: tree["name"]}),
            annotations=tree.get("annotations") or {},
        )  # fmt: skip
        return attrs.evolve(node, meta=meta, status=attrs.evolve(node.status, conditions=(ready,)))

    def _node(self, name: str, tree: Tree) -> Node:
        capacity = has_of(tree["capacity"])
        allocatable = has_of(tree["allocatable"]) if tree.get("allocatable") else capacity
        node = Node.of(
            name, labels=tree.get("labels") or {},
            taints=tuple([self._taint(each) for each in tree.get("taints") or ()]),
            unschedulable=tree.get("unschedulable", False),
        )  # fmt: skip
        status = attrs.evolve(node.status, capacity=capacity, allocatable=allocatable)
        return attrs.evolve(node, status=status)

    def _taint(self, tree: Tree) -> Taint:
        value = str(self.clock.unix(tree["at_s"])) if "at_s" in tree else tree.get("value", "")
        return Taint(tree["key"], value, tree["effect"])

    # -- pods -----------------------------------------------------------------------------------

    def pod(self, tree: Tree) -> Pod:
        """A pod, bound or pending."""
        namespace, name = tree.get("namespace") or "default", tree["name"]
        deleted_s = tree.get("deletion_time")
        owner = tree.get("owner")
        meta = Meta(
            name, namespace, uid=f"uid-of-{namespace}-{name}",
            created_ms=self.clock.whole_ms(tree["created"]),
            labels=tree.get("labels") or {}, annotations=tree.get("annotations") or {},
            deleted_ms=None if deleted_s is None else self.clock.whole_ms(deleted_s),
            grace_s=None if deleted_s is None else tree.get("grace", 30),
            owners=() if owner is None else (self._owner_of(owner, namespace),),
        )  # fmt: skip
        volumes = [{"name": f"v{n}", kind: {}} for n, kind in enumerate(tree.get("volumes") or ())]
        extra: Map[Any] = frozen({"spec": {"volumes": volumes}}) if volumes else Map()
        return Pod(meta, spec=self._spec(tree), status=self._status(tree), extra=extra)

    def _owner_of(self, tree: Tree, namespace: str) -> Owner:
        kind, name = tree["kind"], tree["name"]
        uid = f"uid-of-{kind}-{namespace}-{name}"
        return Owner(VERSIONS.get(kind, "apps/v1"), kind, name, uid, controller=True)

    def _spec(self, tree: Tree) -> PodSpec:
        affinity = tree.get("affinity") or {}
        ports = tuple([Port(port, port) for port in tree.get("host_ports") or ()])
        requests = amounts(requests_of_case(tree.get("requests")))
        main = Container("main", resources=Resources(requests), ports=ports)
        return PodSpec(
            containers=(main,), node_name=tree.get("node") or "", priority=tree.get("priority"),
            preemption_policy=tree.get("preemption_policy") or "",
            restart_policy=tree.get("restart_policy") or "Always",
            node_selector=Map(affinity.get("node_selector") or {}),
            affinity=affinity_of(affinity), grace_s=tree.get("grace", 30),
            tolerations=tuple([Toleration(**each) for each in tree.get("tolerations") or ()]),
        )  # fmt: skip

    def _status(self, tree: Tree) -> PodStatus:
        is_bound = bool(tree.get("node"))
        said = tree.get("condition", "Unschedulable")
        conditions: tuple[Condition, ...] = ()
        if not is_bound and said != "none":
            conditions = (self.unscheduled(said),)
        return PodStatus(
            tree.get("phase") or ("Running" if is_bound else "Pending"), conditions=conditions,
            nominated_node_name=tree.get("nominated_node") or "",
        )  # fmt: skip

    def unscheduled(self, reason: str) -> Condition:
        """The condition of a pod that a scheduler has tried and not bound."""
        return Condition("PodScheduled", "False", reason)

    # -- what stands behind pods ----------------------------------------------------------------

    def owner(self, tree: Tree) -> Iterator[Object]:
        """A controller's object; none if there is no such kind here."""
        kind, namespace = tree["kind"], tree.get("namespace") or "default"
        uid = f"uid-of-{kind}-{namespace}-{tree['name']}"
        meta, count = Meta(tree["name"], namespace, uid=uid), tree.get("replicas", 1)
        match kind:
            case "ReplicaSet":
                yield ReplicaSet(meta, spec=ReplicaSetSpec(replicas=count))
            case "ReplicationController":
                yield ReplicationController(meta, spec=ReplicationControllerSpec(replicas=count))
            case "StatefulSet":
                yield StatefulSet(meta, spec=StatefulSetSpec(replicas=count))
            case "Job":
                yield Job(meta, spec=JobSpec(parallelism=count))

    def daemon_set(self, tree: Tree) -> DaemonSet:
        """A DaemonSet; its pods ask for that much."""
        spec = self._spec({"requests": tree["requests"], "priority": 0, "affinity": {
            "node_selector": tree.get("node_selector") or {}}})  # fmt: skip
        namespace = tree.get("namespace") or "default"
        meta = Meta(tree["name"], namespace, uid=f"uid-of-DaemonSet-{namespace}-{tree['name']}")
        return DaemonSet(meta, spec=DaemonSetSpec(template=PodTemplate(spec=spec)))

    def budget(self, tree: Tree) -> PodDisruptionBudget:
        """A budget, as its status stands."""
        return PodDisruptionBudget(
            Meta(tree["name"], tree.get("namespace") or "default"),
            spec=PodDisruptionBudgetSpec(selector=LabelSelector(tree["match_labels"])),
            status=PodDisruptionBudgetStatus(disruptions_allowed=tree["disruptions_allowed"]),
        )


def boot_of(tree: Tree | None) -> Boot:
    """How the machines of a group come up; without a word of it, never."""
    said = tree or {}
    code = said.get("error_code", "")
    return Boot(
        register_ms=_ms(said.get("register_s")), ready_ms=_ms(said.get("ready_s")),
        stays_unready="ready_s" not in said, only=said.get("only"),
        error_ms=_ms(said.get("error_s")), error_code=code,
        error_class=CLASSES.get(said.get("error_class", ""), ""),
        error_message=f"message of {code}",
    )  # fmt: skip


def _ms(seconds: float | None) -> int | None:
    return None if seconds is None else round(1000 * seconds)


def requests_of_case(tree: Tree | None) -> dict[str, str | int]:
    """What a pod asks for, as a manifest says it."""
    said = dict(tree or {})
    found: dict[str, str | int] = {}
    if "cpu_milli" in said:
        found["cpu"] = f"{said.pop('cpu_milli')}m"
    return {**found, **said}


def has_of(tree: Tree) -> Map[Any]:
    """What a node has."""
    return amounts(requests_of_case(tree))


def affinity_of(tree: Tree) -> Affinity | None:
    """Which pods it wants to be near, and which not."""
    near, apart = (
        tuple([
            PodAffinityTerm(each["topology_key"], LabelSelector(each["match_labels"]))
            for each in tree.get(name) or ()
        ])
        for name in ("pod_affinity_required", "pod_anti_affinity_required")
    )  # fmt: skip
    return Affinity(pod_affinity=PodAffinity(near), pod_anti_affinity=PodAffinity(apart))
