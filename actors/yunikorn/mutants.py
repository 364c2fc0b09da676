"""YuniKorns with one bug each, and the claim that must find it.

Each mutant is the shared nodes with a core or a shim that has the bug.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import attrs

from actors.yunikorn.core.allocation import Allocation
from actors.yunikorn.core.core import YuniKornCore
from actors.yunikorn.core.cycle import SchedulingCycle
from actors.yunikorn.core.node import CoreNode
from actors.yunikorn.core.partition import PartitionContext
from actors.yunikorn.core.preemption.preemptor import RequiredNodePreemptor
from actors.yunikorn.messages import AllocationRelease, AllocationRequest
from actors.yunikorn.proving_ground import shared_nodes
from actors.yunikorn.shim.callbacks import Callbacks
from actors.yunikorn.shim.context import ShimContext
from actors.yunikorn.shim.pods import ShimTask, is_over
from actors.yunikorn.shim.shim import ShimLife, YuniKornShim
from testbed.objects import Pod
from testbed.testing.mutant import Mutant

OVERBOOKED = "nodes_are_not_overbooked"
BALANCE, FAIR = "yunikorn_books_balance", "yunikorn_victims_are_fair"
AGREES, GIVEN = "yunikorn_agrees_with_kubernetes", "yunikorn_room_is_given"
MADE = "yunikorn_victims_make_room"

# -- bugs of the core -----------------------------------------------------------------------------


class FreesAtOnce(RequiredNodePreemptor):
    """Gives back what a victim holds when it is chosen."""

    def release(self, victim: Allocation, ask: Allocation, message: str) -> None:
        super().release(victim, ask, message)
        self.partition.nodes[victim.node].remove(victim.key)


class TakesAnybody(RequiredNodePreemptor):
    """Takes the allocations of the node as they come, until they suffice."""

    def victims(self, ask: Allocation, node: CoreNode) -> list[Allocation]:
        return list(node.allocations.values()) if super().victims(ask, node) else []


class TakesTooFew(RequiredNodePreemptor):
    """Leaves out the last victim if there are several."""

    def victims(self, ask: Allocation, node: CoreNode) -> list[Allocation]:
        found = super().victims(ask, node)
        return found[:-1] or found


class ForgetsPreempting(PartitionContext):
    """Does not count what is about to be given back."""

    def mark_preempted(self, victim: Allocation) -> None:
        victim.is_preempted = True


class KeepsReservations(PartitionContext):
    """Leaves a node reserved for an ask that has got it."""

    def unreserve(self, app: Any, key: str) -> None:
        app.reservations.pop(key, None)


class OverlooksOthers(PartitionContext):
    """Does not book the pods of other schedulers."""

    def put(self, request: AllocationRequest) -> None:
        if request.app:
            super().put(request)


class KeepsTheGone(PartitionContext):
    """Does not hear that a pod is gone."""

    def release(self, release: AllocationRelease, app_id: str) -> None:
        if app_id not in self.apps or release.key in self.apps[app_id].asks:
            super().release(release, app_id)


class NeverPreempts(RequiredNodePreemptor):
    """Finds no victims."""

    def victims(self, ask: Allocation, node: CoreNode) -> list[Allocation]:
        return []


# -- bugs of the shim -----------------------------------------------------------------------------


class DeafContext(ShimContext):
    """Does not say that a pod has ended as long as it is there."""

    def _heed(self, pod: Pod) -> None:
        if not is_over(pod):
            super()._heed(pod)


class HastyContext(ShimContext):
    """Tells the core that a pod is gone once it terminates."""

    def _heed_bound(self, task: ShimTask) -> None:
        super()._heed_bound(task)
        if task.pod.meta.deleted_ms is not None:
            self.release(task)


class BindsNothing(Callbacks):
    """Takes note of where a pod is to be, and does not bind it."""

    async def _bind(self, task: ShimTask, node: str) -> None:
        self._client.record("binds", pod=task.pod.key, node=node)


# -- the list -------------------------------------------------------------------------------------


def _core(name: str, breaks: str, claim: str, part: type[Any], **ground: Any) -> Mutant:
    """A core with another part: its books, or its preemptor."""
    field = "books" if issubclass(part, PartitionContext) else "preemptor"
    if field == "preemptor":
        cycles = type("Cycles", (SchedulingCycle,), {"preemptor": part})
        core = type(part.__name__, (YuniKornCore,), {"cycles": cycles, "marks_memory": True})
    else:
        core = type(part.__name__, (YuniKornCore,), {"books": part, "marks_memory": True})
    return Mutant(name, breaks, partial(shared_nodes, core=core, **ground), claim)


def _shim(name: str, breaks: str, claim: str, part: type[Any], **ground: Any) -> Mutant:
    """A shim with another context or other callbacks."""
    made: dict[str, Any] = {}
    if issubclass(part, Callbacks):
        made["callbacks"] = part
    else:
        made["life"] = type("Life", (ShimLife,), {"contexts": part})
    annotations = dict.fromkeys(made, "ClassVar[Any]")
    shim: Any = attrs.frozen(
        type(part.__name__, (YuniKornShim,), {**made, "__annotations__": annotations})
    )
    return Mutant(name, breaks, partial(shared_nodes, shim=shim, **ground), claim)


MUTANTS = (
    _core("frees-at-once", "a victim's room is given away while it runs", BALANCE, FreesAtOnce),
    _core("takes-anybody", "a DaemonSet pod is preempted", FAIR, TakesAnybody),
    _core("takes-too-few", "victims die, and the ask still does not fit", FAIR, TakesTooFew),
    _core("forgets-preempting", "nobody knows what is to be given back", BALANCE,
          ForgetsPreempting),
    _core("keeps-reservations", "a node is reserved for nobody", BALANCE, KeepsReservations),
    _core("overlooks-others", "foreign pods take no room", AGREES, OverlooksOthers,
          has_rival=True),
    _core("keeps-the-gone", "a pod that is gone is charged for ever", AGREES, KeepsTheGone),
    _core("never-preempts", "nobody goes for a DaemonSet pod", MADE, NeverPreempts),
    _shim("deaf-context", "a pod that has ended is charged for ever", AGREES, DeafContext),
    _shim("hasty-context", "a pod that still ends is not charged", OVERBOOKED, HastyContext),
    _shim("binds-nothing", "an allocated pod is not bound", GIVEN, BindsNothing),
)  # fmt: skip
"""All of them; `testbed mutants` hunts them."""
