"""PodInfo: a pod as a scheduler reckons with it, worked out once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from testbed.objects import LabelSelector, Node, Pod, Quantity, Taint, requests_of
from testbed.objects.affinity import NO_EXECUTE, NO_SCHEDULE, PodAffinityTerm, tolerated
from testbed.objects.pod import ANYWHERE, TCP, Port
from testbed.objects.quantity import CPU, counted

MEMORY, EPHEMERAL, PODS = "memory", "ephemeral-storage", "pods"
UNSAID = {CPU: 100, MEMORY: 200 * 2**20}
"""What a container that does not say is taken to ask for, where nodes are weighed (SCH-40)."""
Namespaces = Mapping[str, Mapping[str, str]]
"""The labels of each namespace that has some."""
HostPort = tuple[str, str, int]
"""A port that a pod takes of its node: address, protocol, number."""


@attrs.frozen(cache_hash=True)
class Term:
    """Near, or not near, which other pods: a term of a pod, with the pod's namespace put in."""

    topology_key: str
    namespaces: frozenset[str]
    selector: LabelSelector | None
    namespace_selector: LabelSelector | None

    def matches(self, other: PodInfo, namespaces: Namespaces) -> bool:
        """Whether it means that pod (SCH-113)."""
        if self.selector is None:
            return False
        if other.namespace not in self.namespaces:
            selector = self.namespace_selector
            if selector is None or not selector.matches(namespaces.get(other.namespace, {})):
                return False
        return self.selector.matches(other.labels)


@attrs.frozen(cache_hash=True)
class Liked:
    """A term that is only wished for, and how much."""

    weight: int
    term: Term


@attrs.frozen(eq=False)
class PodInfo:
    """A pod as a scheduler reckons with it; two of them are never compared but by their `uid`."""

    pod: Pod
    key: str
    """Its namespace and name, as `default/p1`."""
    uid: str
    """Its `identity`: what it is known by."""
    namespace: str
    labels: Mapping[str, str]
    priority: int
    requests: Mapping[str, int]
    """What it asks for: cpu in thousandths, all else in whole units (GEN-12)."""
    taken: Mapping[str, int]
    """What a node that it is on has less of: the same, and room for one pod."""
    room: tuple[int, int, int]
    """What it asks for of cpu, memory and ephemeral storage."""
    scored_cpu: int
    """As its cpu, with a least for each container (SCH-40)."""
    scored_memory: int
    overhead_amiss: int
    """What is to be added to its cpu where nodes are weighed for it: of its overhead 1.26 counts
    whole cpus there, as if they were thousandths; not so once it is on a node."""
    ports: tuple[HostPort, ...]
    affinity: tuple[Term, ...]
    """Near which pods it must be; next, near which it must not be."""
    anti_affinity: tuple[Term, ...]
    liked: tuple[Liked, ...]
    """Near which pods it likes to be; next, near which it does not."""
    disliked: tuple[Liked, ...]

    @property
    def has_terms(self) -> bool:
        """Whether it minds at all which pods are near it."""
        return bool(self.affinity or self.anti_affinity or self.liked or self.disliked)

    def may_be_on(self, node: Node) -> bool:
        """Whether its selector and its affinity let it be on that node."""
        return self.pod.spec.may_be_on(node.meta.name, node.meta.labels)

    def repelled_by(self, taints: Iterable[Taint]) -> Taint | None:
        """The first taint that keeps it away (SCH-57); None if it puts up with all that would."""
        for taint in taints:
            if taint.effect not in (NO_SCHEDULE, NO_EXECUTE):
                continue
            if not tolerated(taint, self.pod.spec.tolerations):
                return taint
        return None


def identity(pod: Pod) -> str:
    """What tells this pod from all others, also of its name; its key if nobody has given it one."""
    return pod.meta.uid or f"{pod.meta.namespace}/{pod.meta.name}"


def info_of(pod: Pod) -> PodInfo:
    """All that a scheduler reckons with of a pod."""
    meta, spec = pod.meta, pod.spec
    key = f"{meta.namespace}/{meta.name}"
    requests = requests_of(pod)
    near = spec.affinity.pod_affinity if spec.affinity is not None else None
    far = spec.affinity.pod_anti_affinity if spec.affinity is not None else None
    return PodInfo(
        pod=pod,
        key=key,
        uid=identity(pod),
        namespace=meta.namespace,
        labels=meta.labels,
        priority=spec.priority or 0,
        requests=requests,
        taken={**requests, PODS: 1},
        room=(requests.get(CPU, 0), requests.get(MEMORY, 0), requests.get(EPHEMERAL, 0)),
        scored_cpu=_scored(pod, CPU),
        scored_memory=_scored(pod, MEMORY),
        overhead_amiss=_overhead_amiss(pod),
        ports=tuple(map(_host_port, spec.host_ports)),
        affinity=tuple(_term(pod, each) for each in near.required) if near else (),
        anti_affinity=tuple(_term(pod, each) for each in far.required) if far else (),
        liked=_wishes(pod, near),
        disliked=_wishes(pod, far),
    )


def _wishes(pod: Pod, affinity: object) -> tuple[Liked, ...]:
    wished = getattr(affinity, "preferred", ())
    return tuple(Liked(each.weight, _term(pod, each.pod_affinity_term)) for each in wished)


def _term(pod: Pod, term: PodAffinityTerm) -> Term:
    own = () if term.namespaces or term.namespace_selector is not None else (pod.meta.namespace,)
    return Term(
        term.topology_key,
        frozenset((*term.namespaces, *own)),
        term.label_selector,
        term.namespace_selector,
    )


def _scored(pod: Pod, resource: str) -> int:
    """As the requests, but a container that does not say asks for something."""
    spec = pod.spec
    total = sum(_said(container.resources.requests, resource) for container in spec.containers)
    for container in spec.init_containers:
        total = max(total, _said(container.resources.requests, resource))
    overhead = spec.overhead.get(resource)
    return total if overhead is None else total + counted(resource, overhead)


def _overhead_amiss(pod: Pod) -> int:
    overhead = pod.spec.overhead.get(CPU)
    return 0 if overhead is None else overhead.whole - overhead.milli


def _said(requests: Mapping[str, Quantity], resource: str) -> int:
    amount = requests.get(resource)
    return UNSAID[resource] if amount is None else counted(resource, amount)


def _host_port(port: Port) -> HostPort:
    return port.host_ip or ANYWHERE, port.protocol or TCP, port.host_port
