"""Pod: what to run, the node it is bound to, and its status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import attrs

from testbed.code.quick import quick
from testbed.objects.affinity import Affinity, Toleration, TopologySpreadConstraint
from testbed.objects.condition import Condition
from testbed.objects.labels import Labelled, labels_of
from testbed.objects.meta import Map, Object, named, texts, wire
from testbed.objects.quantity import CPU, Quantity, amounts, counted, milli, whole

BEST_EFFORT, BURSTABLE, GUARANTEED = "BestEffort", "Burstable", "Guaranteed"
COMPUTE = (CPU, "memory")
"""The resources that the quality of service is about."""
ANYWHERE = "0.0.0.0"
"""The address of a port that is taken at all addresses of the node."""
TCP = "TCP"
PENDING, RUNNING, SUCCEEDED, FAILED = "Pending", "Running", "Succeeded", "Failed"


@attrs.frozen
class Resources:
    """What a container is guaranteed, and the most that it may use."""

    requests: Map[Quantity] = attrs.field(factory=Map, converter=amounts)
    """What it is guaranteed, by resource: `cpu`, `memory`. The scheduler counts these."""
    limits: Map[Quantity] = attrs.field(factory=Map, converter=amounts)
    """The most that it may use, by resource."""


@attrs.frozen
class Port:
    """A port of a container, and the host port that it takes, if any."""

    container_port: int = attrs.field(default=0, metadata=wire(always=True))
    """The port that the container listens on."""
    host_port: int = 0
    """A port of the node; 0: none. Two pods on one node cannot take the same."""
    host_ip: str = attrs.field(default="", metadata=wire("hostIP"))
    """The address of the node at which it is taken; empty: all addresses."""
    protocol: str = ""
    """TCP (also if empty), UDP or SCTP."""
    name: str = ""
    """A name for the port."""

    def clashes(self, other: Port) -> bool:
        """Whether one node cannot provide both: they take the same host port and protocol, at the
        same address or with one of them at all addresses."""
        if self.host_port != other.host_port or (self.protocol or TCP) != (other.protocol or TCP):
            return False
        here, there = self.host_ip or ANYWHERE, other.host_ip or ANYWHERE
        return here == there or ANYWHERE in (here, there)


@attrs.frozen
class Container:
    """One program of a pod."""

    name: str = attrs.field(default="", metadata=wire(always=True))
    """Unique in its pod."""
    image: str = ""
    """What it runs; nothing here looks at it."""
    resources: Resources = Resources()
    """What it requests, and its limits."""
    ports: tuple[Port, ...] = ()
    """The ports that it listens on."""


@attrs.frozen
class SchedulingGate:
    """Keeps a pod from being scheduled until it is removed."""

    name: str
    """Who has to remove it, such as `example.com/quota`."""


class Derived:
    """What has been worked out from a frozen object, kept on it: it never changes, so that stays
    right."""

    # No field, so equality, copies and the wire know nothing of it, and it goes with its object.
    # `requests` is kept by `requests_of`; `summary` is for actors: their `info_of` keeps one.

    __slots__ = ("requests", "summary")


@quick
@attrs.frozen
class PodSpec(Derived):
    """The desired state, and the node that a scheduler has bound the pod to (API-58)."""

    node_name: str = ""
    """Empty until bound."""
    scheduler_name: str = ""
    """The scheduler that is to bind it; the server sets `default-scheduler` if it is empty."""
    priority: int | None = None
    """The larger the more important; admission sets it from the priority class."""
    priority_class_name: str = ""
    """The PriorityClass that it names; its value becomes the priority."""
    preemption_policy: str = ""
    """PreemptLowerPriority or Never."""
    containers: tuple[Container, ...] = ()
    """Its programs; an API server wants at least one."""
    init_containers: tuple[Container, ...] = ()
    """Programs that run one after the other before the others start."""
    overhead: Map[Quantity] = attrs.field(factory=Map, converter=amounts)
    """What the pod itself takes beside its containers, by resource."""
    restart_policy: str = ""
    """Always, OnFailure or Never."""
    grace_s: int | None = attrs.field(default=None, metadata=wire("terminationGracePeriodSeconds"))
    """How long it may take to terminate."""
    active_deadline_s: int | None = attrs.field(
        default=None, metadata=wire("activeDeadlineSeconds")
    )
    """How long it may be active before it fails; None: for ever."""
    node_selector: Map[str] = attrs.field(factory=Map, converter=texts)
    """Labels that its node must have."""
    affinity: Affinity | None = None
    """Which nodes and which other pods it wants to be near, or not."""
    tolerations: tuple[Toleration, ...] = ()
    """The taints of nodes that it tolerates."""
    topology_spread: tuple[TopologySpreadConstraint, ...] = attrs.field(
        default=(), metadata=wire("topologySpreadConstraints")
    )
    """How evenly pods like it are to be spread over zones or nodes."""
    scheduling_gates: tuple[SchedulingGate, ...] = ()
    """While it has any, no scheduler tries it."""

    @property
    def host_ports(self) -> tuple[Port, ...]:
        """Its ports that take a host port."""
        ports = (port for container in self.containers for port in container.ports)
        return tuple(port for port in ports if port.host_port > 0)

    def may_be_on(self, name: str, labels: Labelled) -> bool:
        """Whether its node selector and its required node affinity allow a node of that name with
        these labels."""
        labels = labels_of(labels)
        if any(labels.get(key) != value for key, value in self.node_selector.items()):
            return False
        nodes = self.affinity.node_affinity if self.affinity is not None else None
        return nodes is None or nodes.required is None or nodes.required.matches(name, labels)


@attrs.frozen
class Waiting:
    """The state of a container that does not run yet, or is to be restarted."""

    reason: str = ""
    """One word: `ContainerCreating`, `CrashLoopBackOff`."""
    message: str = ""
    """The same in a sentence."""


@quick
@attrs.frozen
class Running:
    """The state of a container that runs."""

    started_ms: int | None = attrs.field(default=None, metadata=wire("startedAt", "time"))
    """When it started."""


@quick
@attrs.frozen
class Terminated:
    """The state of a container that has ended."""

    exit_code: int = attrs.field(default=0, metadata=wire(always=True))
    """0: success."""
    reason: str = ""
    """One word: `Completed`, `Error`."""
    message: str = ""
    """The same in a sentence."""
    started_ms: int | None = attrs.field(default=None, metadata=wire("startedAt", "time"))
    """When it started."""
    finished_ms: int | None = attrs.field(default=None, metadata=wire("finishedAt", "time"))
    """When it ended."""


@quick
@attrs.frozen
class ContainerState:
    """The state of a container: one of the three."""

    waiting: Waiting | None = None
    """Set if it does not run yet."""
    running: Running | None = None
    """Set if it runs."""
    terminated: Terminated | None = None
    """Set if it has ended."""


@quick
@attrs.frozen
class ContainerStatus:
    """The status of one container."""

    name: str = attrs.field(default="", metadata=wire(always=True))
    """The name of the container."""
    ready: bool = attrs.field(default=False, metadata=wire(always=True))
    """Whether it is ready to serve."""
    restart_count: int = attrs.field(default=0, metadata=wire(always=True))
    """How often it was started again."""
    image: str = attrs.field(default="", metadata=wire(always=True))
    """What it runs."""
    image_id: str = attrs.field(default="", metadata=wire("imageID", always=True))
    """The digest of what it runs."""
    state: ContainerState | None = None
    """How it is now."""
    last_state: ContainerState | None = None
    """How it ended the time before."""


@quick
@attrs.frozen
class PodStatus:
    """The observed state of a pod, most of it reported by its kubelet."""

    phase: str = ""
    """Pending, Running, Succeeded or Failed; the server sets Pending at create."""
    reason: str = ""
    """Why it is in that phase, in one word: `Evicted`."""
    message: str = ""
    """The same in a sentence."""
    conditions: tuple[Condition, ...] = ()
    """PodScheduled, Ready, DisruptionTarget and the like."""
    nominated_node_name: str = ""
    """The node on which a scheduler has preempted pods for it."""
    qos_class: str = ""
    """BestEffort, Burstable or Guaranteed; the server computes it once (GEN-13)."""
    start_ms: int | None = attrs.field(default=None, metadata=wire("startTime", "time"))
    """When its kubelet admitted it."""
    pod_ip: str = attrs.field(default="", metadata=wire("podIP"))
    """Its address."""
    container_statuses: tuple[ContainerStatus, ...] = ()
    """How each of its containers is."""
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    """How each of its init containers is."""


@quick
@attrs.frozen
class Pod(Object):
    """Containers to run together on one node."""

    kind: ClassVar[str] = "Pod"
    plural: ClassVar[str] = "pods"

    spec: PodSpec = PodSpec()
    """What is wanted of it."""
    status: PodStatus = PodStatus()
    """What is observed of it."""

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
        """A Pod of one container with these requests; further fields of its spec by name."""
        requests = {CPU: milli(cpu_m)} if cpu_m is not None else {}
        if memory is not None:
            requests["memory"] = whole(memory)
        main = Container("main", resources=Resources(requests=Map(requests)))
        return cls(named(name, labels), spec=PodSpec(**{"containers": (main,), **spec}))

    @property
    def is_bound(self) -> bool:
        """Whether it is bound to a node."""
        return bool(self.spec.node_name)

    @property
    def is_over(self) -> bool:
        """Whether it has ended for good, by success or by failure."""
        return self.status.phase in (SUCCEEDED, FAILED)

    @property
    def is_ready(self) -> bool:
        """Whether its condition Ready is True."""
        return any(each.type == "Ready" and each.is_true for each in self.status.conditions)

    @property
    def priority(self) -> int:
        """Its priority; 0 if it is unset (GEN-14)."""
        return self.spec.priority or 0


def requests_of(pod: Pod) -> Map[int]:
    """The requests of a pod, by resource: cpu in thousandths, the rest in whole units (GEN-12).

    For each resource, the sum over its containers or the request of one init container, whichever
    is larger; plus the overhead of the pod.
    """
    spec = pod.spec
    # A view of an audit is no PodSpec: it has to see every field that is read.
    if type(spec) is not PodSpec:
        return _summed(spec)
    found: Map[int] | None = getattr(spec, "requests", None)
    if found is None:
        found = _summed(spec)
        object.__setattr__(spec, "requests", found)
    return found


def _summed(spec: PodSpec) -> Map[int]:
    total: dict[str, int] = {}
    for container in spec.containers:
        _add(total, container.resources.requests)
    for container in spec.init_containers:
        for name, amount in container.resources.requests.items():
            total[name] = max(total.get(name, 0), counted(name, amount))
    _add(total, spec.overhead)
    return Map(total)


def qos_of(spec: PodSpec) -> str:
    """The quality-of-service class of a pod, by its requests and limits (GEN-13)."""
    requests: dict[str, int] = {}
    limits: dict[str, int] = {}
    is_guaranteed = True
    for container in (*spec.containers, *spec.init_containers):
        _add_compute(requests, container.resources.requests)
        limited = _add_compute(limits, container.resources.limits)
        is_guaranteed = is_guaranteed and limited == len(COMPUTE)
    if not requests and not limits:
        return BEST_EFFORT
    return GUARANTEED if is_guaranteed and requests == limits else BURSTABLE


def _add(total: dict[str, int], amounts: Map[Quantity]) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + counted(name, amount)


def _add_compute(total: dict[str, int], amounts: Map[Quantity]) -> int:
    """Add the cpu and memory of `amounts` to `total`, and return how many of the two they name."""
    named = 0
    for name in COMPUTE:
        amount = amounts.get(name)
        if amount is not None and amount.nano > 0:
            total[name] = total.get(name, 0) + amount.nano
            named += 1
    return named
