"""Near which other pods a pod may be: whom a term of affinity means, and where they stand."""

from __future__ import annotations

from actors.framework.refusal import Refusal
from actors.scheduler.reference.cluster import Cluster, Guest, NodeView
from testbed.objects import Node, Pod
from testbed.objects.affinity import PodAffinity, PodAffinityTerm, PreferredPods

Terms = tuple[PodAffinityTerm, ...]


def near(pod: Pod) -> Terms:
    """Near what it must be."""
    return _affinity(pod).required


def apart(pod: Pod) -> Terms:
    """Apart from what it must be."""
    return _anti_affinity(pod).required


def liked(pod: Pod) -> tuple[PreferredPods, ...]:
    """Near what it likes to be."""
    return _affinity(pod).preferred


def disliked(pod: Pod) -> tuple[PreferredPods, ...]:
    """Apart from what it likes to be."""
    return _anti_affinity(pod).preferred


def _affinity(pod: Pod) -> PodAffinity:
    affinity = pod.spec.affinity
    return (affinity and affinity.pod_affinity) or PodAffinity()


def _anti_affinity(pod: Pod) -> PodAffinity:
    affinity = pod.spec.affinity
    return (affinity and affinity.pod_anti_affinity) or PodAffinity()


def means(term: PodAffinityTerm, owner: Pod, other: Pod, cluster: Cluster) -> bool:
    """Whether the term of one pod means the other: by its namespace, and by its labels."""
    namespace = other.meta.namespace
    named = term.namespaces
    if not named and term.namespace_selector is None:
        named = (owner.meta.namespace,)
    if namespace not in named:
        selector = term.namespace_selector
        if selector is None or not selector.matches(cluster.namespaces.get(namespace, {})):
            return False
    return term.label_selector is not None and term.label_selector.matches(other.meta.labels)


def means_by_all(terms: Terms, owner: Pod, other: Pod, cluster: Cluster) -> bool:
    """Whether each of the terms means the other; no terms mean nobody."""
    return bool(terms) and all(means(term, owner, other, cluster) for term in terms)


def inter_pod_affinity(guest: Guest, place: NodeView, cluster: Cluster) -> Refusal | None:
    """Near those it must be near, apart from those it must be apart from, and nobody there who
    must be apart from it (SCH-113 to SCH-115)."""
    name = "InterPodAffinity"
    if not _has_company(guest.pod, place, cluster):
        reason = "node(s) didn't match pod affinity rules"
        return Refusal(name, (reason,), is_resolvable=False)
    if not _keeps_away(guest.pod, place, cluster):
        return Refusal(name, ("node(s) didn't match pod anti-affinity rules",))
    if not _is_let_near(guest.pod, place, cluster):
        return Refusal(name, ("node(s) didn't satisfy existing pods anti-affinity rules",))
    return None


def _has_company(pod: Pod, place: NodeView, cluster: Cluster) -> bool:
    """At each of its terms somebody who is meant by all of them; or nobody anywhere, and it is
    itself whom it looks for (SCH-114)."""
    terms, labels = near(pod), place.node.meta.labels
    if any(term.topology_key not in labels for term in terms):
        return False
    counts = {
        term.topology_key: cluster.counted(
            term.topology_key, lambda other: means_by_all(terms, pod, other.pod, cluster)
        )
        for term in terms
    }
    if all(labels[key] in count for key, count in counts.items()):
        return True
    return not any(counts.values()) and means_by_all(terms, pod, pod, cluster)


def _keeps_away(pod: Pod, place: NodeView, cluster: Cluster) -> bool:
    """Nobody it must be apart from where it would be."""
    for node, other in cluster.guests():
        for term in apart(pod):
            if _is_beside(term, node, place) and means(term, pod, other.pod, cluster):
                return False
    return True


def _is_let_near(pod: Pod, place: NodeView, cluster: Cluster) -> bool:
    """Nobody where it would be who must be apart from it."""
    for node, other in cluster.guests():
        for term in apart(other.pod):
            if _is_beside(term, node, place) and means(term, other.pod, pod, cluster):
                return False
    return True


def _is_beside(term: PodAffinityTerm, node: Node, place: NodeView) -> bool:
    """Whether the two nodes have one value of the term's label."""
    value = node.meta.labels.get(term.topology_key)
    return value is not None and value == place.node.meta.labels.get(term.topology_key)
