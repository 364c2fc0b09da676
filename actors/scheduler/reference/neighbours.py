"""Neighbours: which pods a term of pod affinity matches, and where these are."""

from __future__ import annotations

from actors.framework.refusal import Refusal
from actors.scheduler.reference.cluster import Cluster, Guest, NodeView
from testbed.objects import Node, Pod
from testbed.objects.affinity import PodAffinity, PodAffinityTerm, PreferredPods

Terms = tuple[PodAffinityTerm, ...]


def near(pod: Pod) -> Terms:
    """Its required affinity terms."""
    return _affinity(pod).required


def apart(pod: Pod) -> Terms:
    """Its required anti-affinity terms."""
    return _anti_affinity(pod).required


def liked(pod: Pod) -> tuple[PreferredPods, ...]:
    """Its preferred affinity terms."""
    return _affinity(pod).preferred


def disliked(pod: Pod) -> tuple[PreferredPods, ...]:
    """Its preferred anti-affinity terms."""
    return _anti_affinity(pod).preferred


def _affinity(pod: Pod) -> PodAffinity:
    affinity = pod.spec.affinity
    return (affinity and affinity.pod_affinity) or PodAffinity()


def _anti_affinity(pod: Pod) -> PodAffinity:
    affinity = pod.spec.affinity
    return (affinity and affinity.pod_anti_affinity) or PodAffinity()


def means(term: PodAffinityTerm, owner: Pod, other: Pod, cluster: Cluster) -> bool:
    """Whether the term of one pod matches another pod, by namespace and labels."""
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
    """Whether all terms match the other pod; without terms, none matches."""
    return bool(terms) and all(means(term, owner, other, cluster) for term in terms)


def inter_pod_affinity(guest: Guest, place: NodeView, cluster: Cluster) -> Refusal | None:
    """Its affinity holds there, so does its anti-affinity, and so does that of the pods there
    (SCH-113 to SCH-115)."""
    name = "InterPodAffinity"
    if not _meets_affinity(guest.pod, place, cluster):
        reason = "node(s) didn't match pod affinity rules"
        return Refusal(name, (reason,), is_resolvable=False)
    if not _meets_anti_affinity(guest.pod, place, cluster):
        return Refusal(name, ("node(s) didn't match pod anti-affinity rules",))
    if not _is_tolerated_by_others(guest.pod, place, cluster):
        return Refusal(name, ("node(s) didn't satisfy existing pods anti-affinity rules",))
    return None


def _meets_affinity(pod: Pod, place: NodeView, cluster: Cluster) -> bool:
    """Whether each of its affinity terms has a pod in the node's domain that matches all terms; or
    no pod anywhere does, and it matches them itself (SCH-114)."""
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


def _meets_anti_affinity(pod: Pod, place: NodeView, cluster: Cluster) -> bool:
    """Whether no pod in the node's domains matches its anti-affinity."""
    for node, other in cluster.guests():
        for term in apart(pod):
            if _is_beside(term, node, place) and means(term, pod, other.pod, cluster):
                return False
    return True


def _is_tolerated_by_others(pod: Pod, place: NodeView, cluster: Cluster) -> bool:
    """Whether it matches the anti-affinity of no pod in the node's domains."""
    for node, other in cluster.guests():
        for term in apart(other.pod):
            if _is_beside(term, node, place) and means(term, other.pod, pod, cluster):
                return False
    return True


def _is_beside(term: PodAffinityTerm, node: Node, place: NodeView) -> bool:
    """Whether the two nodes are in one topology domain of the term."""
    value = node.meta.labels.get(term.topology_key)
    return value is not None and value == place.node.meta.labels.get(term.topology_key)
