"""OwnSight: the cluster as a Rescheduler's own informers show it, and the pods it may help."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from actors.framework.cluster_events import NOMINATED
from actors.framework.snapshot import Snapshot
from actors.scheduler.cluster.cache import SchedulerCache
from actors.scheduler.cluster.nominator import NOMINATION, Nominator
from actors.scheduler.memory.informers import Informers
from actors.scheduler.rescheduling.room_plan import RoomPlan
from actors.scheduler.writes.fail import UNSCHEDULABLE
from testbed.objects import Condition, Pod
from testbed.objects.condition import FALSE, find


class OwnSight:
    """What one life of a Rescheduler sees. It assumes nothing: a pod that a scheduler is about to
    bind has no node yet, as far as it knows."""

    def __init__(self, informers: Informers, storage: str) -> None:
        self.informers = informers
        self._storage = storage
        """Where nominations are, as the switch nnn_storage has it."""

    def snapshot(self) -> Snapshot:
        """All nodes, with the pods that are bound to each."""
        cache, informers = SchedulerCache(), self.informers
        for node in informers.nodes.known.values():
            cache.add_node(node)
        for pod in informers.pods.known.values():
            if pod.is_bound:
                cache.add_pod(pod)
        cache.namespaces = {
            each.meta.name: each.meta.labels for each in informers.namespaces.known.values()
        }
        return cache.snapshot()

    def unschedulable(self) -> list[Pod]:
        """The pods that a scheduler has found no node for, the most important first; of equal ones,
        the oldest."""
        pods = [pod for pod in self.informers.pods.known.values() if _waits(pod)]
        return sorted(pods, key=lambda pod: (-pod.priority, pod.meta.created_ms or 0, pod.key))

    def nominator(self, plans: Mapping[str, RoomPlan]) -> Nominator:
        """Which pods are nominated where: as the plans say, or else as the pods do."""
        nominator = Nominator(self.informers.pod, NOMINATION[self._storage])
        for pod in self.unschedulable():
            plan = plans.get(pod.meta.uid)
            nominator.nominate(pod, None if plan is None else plan.node)
        return nominator

    def as_planned(self, pod: Pod, plan: RoomPlan | None) -> Pod:
        """The pod as if its plan were its nomination: it waits for its victims (SCH-72)."""
        if plan is None:
            return pod
        if self._storage == "status":
            status = attrs.evolve(pod.status, nominated_node_name=plan.node)
            return attrs.evolve(pod, status=status)
        return pod.with_meta(annotations={**pod.meta.annotations, NOMINATED: plan.node})


def since_ms(pod: Pod) -> int:
    """Since when the pod is unschedulable, in whole seconds."""
    condition = _unscheduled(pod)
    return (condition and condition.since_ms) or 0


def _waits(pod: Pod) -> bool:
    return not (pod.is_bound or pod.meta.is_terminating) and _unscheduled(pod) is not None


def _unscheduled(pod: Pod) -> Condition | None:
    found = find(pod.status.conditions, "PodScheduled")
    is_so = found is not None and found.status == FALSE and found.reason == UNSCHEDULABLE
    return found if is_so else None
