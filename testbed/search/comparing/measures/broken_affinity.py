"""broken_affinity: pods that ran beside one that they, or it, had to be apart from."""

from __future__ import annotations

from typing import ClassVar

from testbed.objects import Pod
from testbed.objects.affinity import PodAffinityTerm
from testbed.search.comparing.measure import Measure
from testbed.search.comparing.run_history import ClusterThen, RunHistory
from testbed.search.comparing.sample import Figure, Sample, per_run

RUNNING = "Running"


class BrokenAffinity(Measure):
    """Each pod that begins to run while another one runs near, where the required anti-affinity of
    either forbids it."""

    name: ClassVar[str] = "broken_affinity"
    says: ClassVar[str] = "pods that began to run beside one that had to be apart"
    figures: ClassVar[tuple[Figure, ...]] = (per_run("broken affinity"),)
    place: ClassVar[int] = 10

    def of(self, history: RunHistory) -> Sample:
        now = ClusterThen(history)
        broken: dict[str, None] = {}
        for commit in history.commits:
            now.take(commit)
            old, new = commit.old, commit.new
            begins = isinstance(new, Pod) and new.status.phase == RUNNING
            if begins and isinstance(old, Pod) and old.status.phase != RUNNING:
                others = [pod for pod in now.pods() if pod.status.phase == RUNNING]
                if any(_forbid(now, new, pod) for pod in others if pod.key != new.key):
                    broken[new.meta.uid] = None
        return Sample(len(broken))


def _forbid(now: ClusterThen, one: Pod, other: Pod) -> bool:
    return _shuns(now, one, other) or _shuns(now, other, one)


def _shuns(now: ClusterThen, one: Pod, other: Pod) -> bool:
    """Whether the first must be apart from the second, and is not."""
    affinity = one.spec.affinity
    anti = None if affinity is None else affinity.pod_anti_affinity
    terms = () if anti is None else anti.required
    return any(_means(term, one, other) and _are_near(now, term, one, other) for term in terms)


def _means(term: PodAffinityTerm, one: Pod, other: Pod) -> bool:
    """Terms over selected namespaces are left out: the labels of a namespace may change."""
    if term.namespace_selector is not None or term.label_selector is None:
        return False
    spaces = term.namespaces or (one.meta.namespace,)
    return other.meta.namespace in spaces and term.label_selector.matches(other.meta.labels)


def _are_near(now: ClusterThen, term: PodAffinityTerm, one: Pod, other: Pod) -> bool:
    values = []
    for pod in (one, other):
        node = now.node(pod.spec.node_name)
        values.append(None if node is None else node.meta.labels.get(term.topology_key))
    return values[0] is not None and values[0] == values[1]
