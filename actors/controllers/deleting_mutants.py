"""Those who delete pods for the good of the cluster, and who count what may go, with a bug each."""

from __future__ import annotations

from functools import partial
from typing import Any

import attrs

from actors.controllers.descheduler.descheduler import Descheduler, DeschedulerLoop
from actors.controllers.descheduler.sight import Sight
from actors.controllers.disruption import counting
from actors.controllers.disruption.controller import DisruptionController, DisruptionLoop
from actors.controllers.frame.control_loop import KeyedController
from actors.controllers.node_lifecycle.taint_eviction import Stay, TaintEviction, TaintLoop
from actors.controllers.pod_gc import PodGC, PodGCLoop
from actors.controllers.proving_grounds.ailing_nodes import ailing_nodes
from testbed.objects import Pod, PodDisruptionBudget
from testbed.testing.mutant import Mutant

STATUSES, TOLERATIONS = "budget_statuses_are_right", "tolerations_are_kept"
NODES, IMPORTANT = "live_nodes_keep_their_pods", "important_pods_stay"
Found = counting.Counted | counting.Uncountable


class AllowsOneMorePod(DisruptionLoop):
    """Counts one disruption too many as allowed."""

    def count(self, budget: PodDisruptionBudget, pods: list[Pod], now_ms: int) -> Found:
        found = super().count(budget, pods, now_ms)
        if isinstance(found, counting.Uncountable):
            return found
        allowed = found.status.disruptions_allowed + 1
        return attrs.evolve(found, status=attrs.evolve(found.status, disruptions_allowed=allowed))


class NeverForgetsAGrant(DisruptionLoop):
    """Counts on a granted eviction for ever."""

    def count(self, budget: PodDisruptionBudget, pods: list[Pod], now_ms: int) -> Found:
        return super().count(budget, pods, min(now_ms, 0))


class HasNoPatience(TaintLoop):
    """Ignores for how long a pod tolerates a taint."""

    def stay(self, since_ms: int, time_s: int, now_ms: int) -> Stay:
        return Stay(since_ms, now_ms)


class AsksNobody(PodGCLoop):
    """Takes a node for gone if its Cache does not have it."""

    async def is_gone(self, node: str) -> bool:
        return True


class SightOfAll(Sight):
    """Takes any pod for one that may be evicted."""

    def is_evictable(self, pod: Pod) -> bool:
        return not pod.meta.is_terminating


class EvictsAnything(DeschedulerLoop):
    """Spares no pod."""

    sight = SightOfAll


def with_loop(controller: type[KeyedController], loop: type[Any]) -> type[KeyedController]:
    """The same kind of controller, but it runs this loop instead of its own."""
    return type(controller.__name__, (controller,), {"loop": loop})


DELETING = (
    Mutant("allows-one-more", "a budget allows one disruption too many",
           partial(ailing_nodes, disruption=with_loop(DisruptionController, AllowsOneMorePod)),
           STATUSES),
    Mutant("grants-for-ever", "an eviction that never comes is counted on",
           partial(ailing_nodes, disruption=with_loop(DisruptionController, NeverForgetsAGrant)),
           STATUSES),
    Mutant("no-patience", "a pod is deleted while it tolerates the taint",
           partial(ailing_nodes, eviction=with_loop(TaintEviction, HasNoPatience)), TOLERATIONS),
    Mutant("asks-nobody", "pods of a node that is back are removed",
           partial(ailing_nodes, collector=with_loop(PodGC, AsksNobody)), NODES),
    Mutant("evicts-anything", "the descheduler evicts critical pods",
           partial(ailing_nodes, descheduler=with_loop(Descheduler, EvictsAnything)), IMPORTANT),
)  # fmt: skip
"""All of them; they are in the list of `mutants.py`."""
