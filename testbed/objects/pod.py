"""Pod: what is to run, where it was bound, and how it fares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import attrs

from testbed.objects.affinity import Affinity, Toleration, TopologySpreadConstraint
from testbed.objects.condition import Condition
from testbed.objects.meta import Map, Object, named, texts, wire
from testbed.objects.quantity import CPU, Quantity, amounts, counted, milli, whole

BEST_EFFORT, BURSTABLE, GUARANTEED = "BestEffort", "Burstable", "Guaranteed"
ANYWHERE = "0.0.0.0"
"""As the address of a port: each one of the node."""
TCP = "TCP"
PENDING, RUNNING, SUCCEEDED, FAILED = "Pending", "Running", "Succeeded", "Failed"


@attrs.frozen
class Resources:
    """What a container is promised, and what it may use at most."""

    requests: Map[Quantity] = attrs.field(factory=Map, converter=amounts)
    limits: Map[Quantity] = attrs.field(factory=Map, converter=amounts)


@attrs.frozen
class Port:
    """A port of a container, and of its node if it takes one of those."""

    container_port: int = attrs.field(default=0, metadata=wire(always=True))
    host_port: int = 0
    """No two pods of one node have the same."""
    host_ip: str = attrs.field(default="", metadata=wire("hostIP"))
    protocol: str = ""
    """TCP, which is what empty means, UDP or SCTP."""
    name: str = ""

    def clashes(self, other: Port) -> bool:
        """Whether no node can have both: the same port of it for the same protocol, at the same
        address, or where one of them takes it at each."""
        if self.host_port != other.host_port or (self.protocol or TCP) != (other.protocol or TCP):
            return False
        here, there = self.host_ip or ANYWHERE, other.host_ip or ANYWHERE
        return here == there or ANYWHERE in (here, there)


@attrs.frozen
class Container:
    """One program of a pod."""

    name: str = attrs.field(default="", metadata=wire(always=True))
    image: str = ""
    resources: Resources = Resources()
    ports: tuple[Port, ...] = ()


@attrs.frozen
class SchedulingGate:
    """What keeps a pod from being scheduled at all until somebody takes it away."""

    name: str


@attrs.frozen
class PodSpec:
    """What its owner asked for, and the node a scheduler bound it to (API-58)."""

    node_name: str = ""
    """Empty until bound."""
    scheduler_name: str = ""
    """Whose it is to bind; the server writes `default-scheduler` if nobody is named."""
    priority: int | None = None
    """The larger the more important; set by admission, of its class."""
    priority_class_name: str = ""
    preemption_policy: str = ""
    """PreemptLowerPriority, or Never."""
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    overhead: Map[Quantity] = attrs.field(factory=Map, converter=amounts)
    restart_policy: str = ""
    """Always, OnFailure or Never."""
    grace_s: int | None = attrs.field(default=None, metadata=wire("terminationGracePeriodSeconds"))
    """How long it may take to end."""
    active_deadline_s: int | None = attrs.field(
        default=None, metadata=wire("activeDeadlineSeconds")
    )
    node_selector: Map[str] = attrs.field(factory=Map, converter=texts)
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    topology_spread: tuple[TopologySpreadConstraint, ...] = attrs.field(
        default=(), metadata=wire("topologySpreadConstraints")
    )
    scheduling_gates: tuple[SchedulingGate, ...] = ()

    @property
    def host_ports(self) -> tuple[Port, ...]:
        """The ports of its node that it takes."""
        ports = (port for container in self.containers for port in container.ports)
        return tuple(port for port in ports if port.host_port > 0)

    def may_be_on(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether its selector and its affinity let it be on a node of that name, so labelled."""
        if any(labels.get(key) != value for key, value in self.node_selector.items()):
            return False
        nodes = self.affinity.node_affinity if self.affinity is not None else None
        return nodes is None or nodes.required is None or nodes.required.matches(name, labels)


@attrs.frozen
class Waiting:
    """A container that does not run yet, or not again yet."""

    reason: str = ""
    message: str = ""


@attrs.frozen
class Running:
    """A container that runs."""

    started_ms: int | None = attrs.field(default=None, metadata=wire("startedAt", "time"))


@attrs.frozen
class Terminated:
    """A container that has ended."""

    exit_code: int = attrs.field(default=0, metadata=wire(always=True))
    reason: str = ""
    message: str = ""
    started_ms: int | None = attrs.field(default=None, metadata=wire("startedAt", "time"))
    finished_ms: int | None = attrs.field(default=None, metadata=wire("finishedAt", "time"))


@attrs.frozen
class ContainerState:
    """What a container does: one of the three."""

    waiting: Waiting | None = None
    running: Running | None = None
    terminated: Terminated | None = None


@attrs.frozen
class ContainerStatus:
    """How one container fares."""

    name: str = attrs.field(default="", metadata=wire(always=True))
    ready: bool = attrs.field(default=False, metadata=wire(always=True))
    restart_count: int = attrs.field(default=0, metadata=wire(always=True))
    image: str = attrs.field(default="", metadata=wire(always=True))
    image_id: str = attrs.field(default="", metadata=wire("imageID", always=True))
    state: ContainerState | None = None
    last_state: ContainerState | None = None


@attrs.frozen
class PodStatus:
    """What is known of how it fares; most of it its kubelet says."""

    phase: str = ""
    """Pending, Running, Succeeded or Failed; the server begins with Pending."""
    reason: str = ""
    message: str = ""
    conditions: tuple[Condition, ...] = ()
    nominated_node_name: str = ""
    """Where a scheduler has made room for it."""
    qos_class: str = ""
    """BestEffort, Burstable or Guaranteed; computed once, by the server (GEN-13)."""
    start_ms: int | None = attrs.field(default=None, metadata=wire("startTime", "time"))
    """When its kubelet took it on."""
    pod_ip: str = attrs.field(default="", metadata=wire("podIP"))
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()


@attrs.frozen
class Pod(Object):
    """What is to run, and where."""

    kind: ClassVar[str] = "Pod"
    plural: ClassVar[str] = "pods"

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @classmethod
    def of(
        cls,
        name: str,
        *,
        cpu_m: int | None = None,
        memory: int | None = None,
        labels: Mapping[str, str] | None = None,
        **spec: Any,
    ) -> Self:
        """One of a single container that asks for so much; what else its spec says, by name."""
        asked = {CPU: milli(cpu_m)} if cpu_m is not None else {}
        if memory is not None:
            asked["memory"] = whole(memory)
        main = Container("main", resources=Resources(requests=Map(asked)))
        return cls(named(name, labels), spec=PodSpec(**{"containers": (main,), **spec}))

    @property
    def is_bound(self) -> bool:
        """Whether a node was chosen for it."""
        return bool(self.spec.node_name)

    @property
    def is_over(self) -> bool:
        """Whether it has ended for good, one way or the other."""
        return self.status.phase in (SUCCEEDED, FAILED)

    @property
    def is_ready(self) -> bool:
        """Whether its condition Ready is True."""
        return any(each.type == "Ready" and each.is_true for each in self.status.conditions)

    @property
    def priority(self) -> int:
        """How important it is; 0 if nobody has said (GEN-14)."""
        return self.spec.priority or 0


def requests_of(pod: Pod) -> Map[int]:
    """What it asks for in all, by resource: cpu in thousandths, all else in whole units (GEN-12).

    The larger of what its containers ask for together and what any init container asks for alone,
    and its overhead on top.
    """
    total: dict[str, int] = {}
    for container in pod.spec.containers:
        _add(total, container.resources.requests)
    for container in pod.spec.init_containers:
        for name, amount in container.resources.requests.items():
            total[name] = max(total.get(name, 0), counted(name, amount))
    _add(total, pod.spec.overhead)
    return Map(total)


def qos_of(spec: PodSpec) -> str:
    """The quality of service it is entitled to, by its requests and limits (GEN-13)."""
    requests: dict[str, int] = {}
    limits: dict[str, int] = {}
    is_guaranteed = True
    for container in (*spec.containers, *spec.init_containers):
        _add_compute(requests, container.resources.requests)
        limited = _add_compute(limits, container.resources.limits)
        is_guaranteed = is_guaranteed and limited == {CPU, "memory"}
    if not requests and not limits:
        return BEST_EFFORT
    return GUARANTEED if is_guaranteed and requests == limits else BURSTABLE


def _add(total: dict[str, int], amounts: Map[Quantity]) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + counted(name, amount)


def _add_compute(total: dict[str, int], amounts: Map[Quantity]) -> set[str]:
    """Add the cpu and memory of these, and tell which of the two they name."""
    named = {name for name in (CPU, "memory") if name in amounts and amounts[name].nano > 0}
    for name in sorted(named):
        total[name] = total.get(name, 0) + amounts[name].nano
    return named
