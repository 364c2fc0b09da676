"""PodInfo: a pod with all that a scheduler computes from it, computed once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from testbed.objects import LabelSelector, Node, Pod, Quantity, Taint, requests_of
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
class PodInfo:
    """A pod with all that a scheduler computes from it. Compare two of them by `uid` only."""

    pod: Pod
    key: str
    """Namespace and name, as in `default/p1`."""
    uid: str
    """Its `identity`."""
    namespace: str
    labels: Mapping[str, str]
    priority: int
    requests: Mapping[str, int]
    """What it requests: cpu in thousandths, all else in whole units (GEN-12)."""
    taken: Mapping[str, int]
    """What its node has less of: the requests, and one place for a pod."""
    room: tuple[int, int, int]
    """Its requests of cpu, memory and ephemeral storage."""
    scored_cpu: int
    """Its cpu for scoring; a container without a request counts DEFAULT_REQUEST (SCH-40)."""
    scored_memory: int
    """Its memory for scoring, likewise."""
    overhead_amiss: int
    """Added to its cpu when nodes are scored for it. It stands for a bug of 1.26, which reads the
    cpus of its overhead as millicores there."""
    ports: tuple[HostPort, ...]
    affinity: tuple[Term, ...]
    """Required affinity: the pods it must be near."""
    anti_affinity: tuple[Term, ...]
    """Required anti-affinity: the pods it must not be near."""
    liked: tuple[WeightedTerm, ...]
    """Preferred affinity: the pods it prefers to be near."""
    disliked: tuple[WeightedTerm, ...]
    """Preferred anti-affinity: the pods it prefers not to be near."""

    @property
    def has_terms(self) -> bool:
        """Whether it has any term of affinity or anti-affinity."""
        return bool(self.affinity or self.anti_affinity or self.liked or self.disliked)

    @property
    def gains_by_removals(self) -> bool:
        """Whether it fits without some pods wherever it fits with more of them there. Not so if it
        must be near others, or is spread: without a pod, the emptiest domain may be emptier."""
        spread = self.pod.spec.topology_spread
        return not self.affinity and all(
            each.when_unsatisfiable != "DoNotSchedule" for each in spread
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
    return pod.meta.uid or f"{pod.meta.namespace}/{pod.meta.name}"


def info_of(pod: Pod) -> PodInfo:
    """Compute the PodInfo of a pod."""
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
        liked=_preferred(pod, near),
        disliked=_preferred(pod, far),
    )


def _preferred(pod: Pod, affinity: object) -> tuple[WeightedTerm, ...]:
    terms = getattr(affinity, "preferred", ())
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
    spec = pod.spec
    total = sum(
        _scored_request(container.resources.requests, resource) for container in spec.containers
    )
    for container in spec.init_containers:
        total = max(total, _scored_request(container.resources.requests, resource))
    overhead = spec.overhead.get(resource)
    return total if overhead is None else total + counted(resource, overhead)


def _overhead_amiss(pod: Pod) -> int:
    overhead = pod.spec.overhead.get(CPU)
    return 0 if overhead is None else overhead.whole - overhead.milli


def _scored_request(requests: Mapping[str, Quantity], resource: str) -> int:
    amount = requests.get(resource)
    return DEFAULT_REQUEST[resource] if amount is None else counted(resource, amount)


def _host_port(port: Port) -> HostPort:
    return port.host_ip or ANYWHERE, port.protocol or TCP, port.host_port
