"""PodInfo: a pod with all that a scheduler computes from it, computed once for each spec."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from testbed.objects import (
    LabelSelector,
    Node,
    Pod,
    PodAffinity,
    PodSpec,
    Taint,
    requests_of,
)
from testbed.objects.affinity import NO_EXECUTE, NO_SCHEDULE, PodAffinityTerm, tolerated
from testbed.objects.pod import ANYWHERE, TCP, Port
from testbed.objects.quantity import CPU, counted

MEMORY, EPHEMERAL, PODS = "memory", "ephemeral-storage", "pods"
DEFAULT_REQUEST = {CPU: 100, MEMORY: 200 * 2**20}
"""What a container without a request counts for when nodes are scored (SCH-40)."""
Namespaces = Mapping[str, Mapping[str, str]]
"""The labels of each namespace that has any."""
HostPort = tuple[str, str, int]
"""A host port that a pod uses: address, protocol, number."""


@attrs.frozen(cache_hash=True)
class Term:
    """One term of pod affinity or anti-affinity; its namespaces are resolved for its pod."""

    topology_key: str
    namespaces: frozenset[str]
    selector: LabelSelector | None
    namespace_selector: LabelSelector | None

    def matches(self, other: PodInfo, namespaces: Namespaces) -> bool:
        """Whether the other pod matches the term (SCH-113)."""
        if self.selector is None:
            return False
        if other.namespace not in self.namespaces:
            selector = self.namespace_selector
            if selector is None or not selector.matches(namespaces.get(other.namespace, {})):
                return False
        return self.selector.matches(other.labels)


@attrs.frozen(cache_hash=True)
class WeightedTerm:
    """A preferred term, and its weight."""

    weight: int
    term: Term


@attrs.frozen(eq=False)
class Summary:
    """What a scheduler computes from the spec of a pod, for pods of one namespace."""

    namespace: str
    priority: int
    requests: Mapping[str, int]
    taken: Mapping[str, int]
    room: tuple[int, int, int]
    scored_cpu: int
    scored_memory: int
    overhead_amiss: int
    ports: tuple[HostPort, ...]
    affinity: tuple[Term, ...]
    anti_affinity: tuple[Term, ...]
    liked: tuple[WeightedTerm, ...]
    disliked: tuple[WeightedTerm, ...]


class PodInfo:
    """A pod with all that a scheduler computes from it. Compare two of them by `uid` only; it never
    changes."""

    # Every change of a pod makes one, and most changes are of its status. So all that takes long is
    # in the Summary, which is computed once for each spec; here it is only copied, to be at hand.

    __slots__ = (
        "affinity", "anti_affinity", "disliked", "has_terms", "key", "labels", "liked", "namespace",
        "overhead_amiss", "pod", "ports", "priority", "requests", "room", "scored_cpu",
        "scored_memory", "taken", "uid",
    )  # fmt: skip

    def __init__(self, pod: Pod, of: Summary) -> None:
        meta = pod.meta
        self.pod = pod
        self.key = f"{meta.namespace}/{meta.name}"
        """Namespace and name, as in `default/p1`."""
        self.uid = meta.uid or self.key
        """Its `identity`."""
        self.namespace = meta.namespace
        self.labels: Mapping[str, str] = meta.labels
        self.priority = of.priority
        self.requests = of.requests
        """What it requests: cpu in thousandths, all else in whole units (GEN-12)."""
        self.taken = of.taken
        """What its node has less of: the requests, and one place for a pod."""
        self.room = of.room
        """Its requests of cpu, memory and ephemeral storage."""
        self.scored_cpu = of.scored_cpu
        """Its cpu for scoring; a container without a request counts DEFAULT_REQUEST (SCH-40)."""
        self.scored_memory = of.scored_memory
        """Its memory for scoring, likewise."""
        self.overhead_amiss = of.overhead_amiss
        """Added to its cpu when nodes are scored for it. It stands for a bug of 1.26, which reads
        the cpus of its overhead as millicores there."""
        self.ports = of.ports
        self.affinity = of.affinity
        """Required affinity: the pods it must be near."""
        self.anti_affinity = of.anti_affinity
        """Required anti-affinity: the pods it must not be near."""
        self.liked = of.liked
        """Preferred affinity: the pods it prefers to be near."""
        self.disliked = of.disliked
        """Preferred anti-affinity: the pods it prefers not to be near."""
        self.has_terms = bool(of.affinity or of.anti_affinity or of.liked or of.disliked)
        """Whether it has any term of affinity or anti-affinity."""

    def __repr__(self) -> str:
        return f"PodInfo({self.key})"

    @property
    def gains_by_removals(self) -> bool:
        """Whether it fits without some pods wherever it fits with more of them there. Not so if it
        must be near others, or is spread: without a pod, the emptiest domain may be emptier."""
        spread = self.pod.spec.topology_spread
        return not self.affinity and all(
            each.when_unsatisfiable != "DoNotSchedule" for each in spread
        )

    def counts_like(self, other: PodInfo) -> bool:
        """Whether it adds to the sums of its node just what the other one does."""
        return (
            self.requests == other.requests
            and self.scored_cpu == other.scored_cpu
            and self.scored_memory == other.scored_memory
            and self.ports == other.ports
            and self.has_terms == other.has_terms
            and bool(self.anti_affinity) == bool(other.anti_affinity)
        )

    def may_be_on(self, node: Node) -> bool:
        """Whether its node selector and node affinity allow that node."""
        return self.pod.spec.may_be_on(node.meta.name, node.meta.labels)

    def repelled_by(self, taints: Iterable[Taint]) -> Taint | None:
        """The first taint that it does not tolerate and that keeps it away (SCH-57), or None."""
        for taint in taints:
            if taint.effect not in (NO_SCHEDULE, NO_EXECUTE):
                continue
            if not tolerated(taint, self.pod.spec.tolerations):
                return taint
        return None


def identity(pod: Pod) -> str:
    """The uid of a pod, or its key if it has none; it tells apart pods of the same name."""
    meta = pod.meta
    return meta.uid or f"{meta.namespace}/{meta.name}"


def info_of(pod: Pod) -> PodInfo:
    """Compute the PodInfo of a pod."""
    spec = pod.spec
    # A view of an audit is no PodSpec: it has to see every field that is read.
    if type(spec) is not PodSpec:
        return PodInfo(pod, _summary(pod))
    found: Summary | None = getattr(spec, "summary", None)
    if found is None or found.namespace != pod.meta.namespace:
        found = _summary(pod)
        object.__setattr__(spec, "summary", found)
    return PodInfo(pod, found)


def _summary(pod: Pod) -> Summary:
    spec, requests = pod.spec, requests_of(pod)
    near = spec.affinity.pod_affinity if spec.affinity is not None else None
    far = spec.affinity.pod_anti_affinity if spec.affinity is not None else None
    return Summary(
        namespace=pod.meta.namespace,
        priority=spec.priority or 0,
        requests=requests,
        taken={**requests, PODS: 1},
        room=(requests.get(CPU, 0), requests.get(MEMORY, 0), requests.get(EPHEMERAL, 0)),
        scored_cpu=_scored(pod, CPU),
        scored_memory=_scored(pod, MEMORY),
        overhead_amiss=_overhead_amiss(pod) if spec.overhead else 0,
        ports=tuple([_host_port(each) for each in spec.host_ports]),
        affinity=tuple(_term(pod, each) for each in near.required) if near else (),
        anti_affinity=tuple(_term(pod, each) for each in far.required) if far else (),
        liked=_preferred(pod, near) if near else (),
        disliked=_preferred(pod, far) if far else (),
    )


def _preferred(pod: Pod, affinity: PodAffinity) -> tuple[WeightedTerm, ...]:
    terms = affinity.preferred
    return tuple(WeightedTerm(each.weight, _term(pod, each.pod_affinity_term)) for each in terms)


def _term(pod: Pod, term: PodAffinityTerm) -> Term:
    own = () if term.namespaces or term.namespace_selector is not None else (pod.meta.namespace,)
    return Term(
        term.topology_key,
        frozenset((*term.namespaces, *own)),
        term.label_selector,
        term.namespace_selector,
    )


def _scored(pod: Pod, resource: str) -> int:
    """Like its requests, but a container without a request counts DEFAULT_REQUEST."""
    spec, usual, total = pod.spec, DEFAULT_REQUEST[resource], 0
    for container in spec.containers:
        amount = container.resources.requests.get(resource)
        total += usual if amount is None else counted(resource, amount)
    for container in spec.init_containers:
        amount = container.resources.requests.get(resource)
        total = max(total, usual if amount is None else counted(resource, amount))
    overhead = spec.overhead.get(resource)
    return total if overhead is None else total + counted(resource, overhead)


def _overhead_amiss(pod: Pod) -> int:
    overhead = pod.spec.overhead.get(CPU)
    return 0 if overhead is None else overhead.whole - overhead.milli


def _host_port(port: Port) -> HostPort:
    return port.host_ip or ANYWHERE, port.protocol or TCP, port.host_port
