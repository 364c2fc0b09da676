"""Autoscalers with one bug each in how clusters grow and groups shrink; claims must find it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Any

import attrs

from actors.autoscaler.autoscaler import Autoscaler, AutoscalerLoop
from actors.autoscaler.expander import Expansion
from actors.autoscaler.invariants.bounds import GroupsStayInBounds
from actors.autoscaler.invariants.oscillation import AwaitedNodesStay
from actors.autoscaler.invariants.triggers import TriggersAreInNeed
from actors.autoscaler.invariants.waiting_pods import NoPodIsPassedOver
from actors.autoscaler.memory import AutoscalerMemory
from actors.autoscaler.node_capacity import Amounts
from actors.autoscaler.pass_record import SCHEDULABLE, YOUNG, GroupResize, PodFate
from actors.autoscaler.passing import Passing
from actors.autoscaler.pods_to_help import PodsToHelp
from actors.autoscaler.proving_grounds.growing_cluster import LIMITED, growing_cluster
from actors.autoscaler.scale_down.planning.limits import Removable
from actors.autoscaler.scale_down.planning.outlook import Outlook
from actors.autoscaler.scale_down.planning.planner import ScaleDownPlanner
from actors.autoscaler.scale_down.scale_down import ScaleDown
from actors.autoscaler.scale_up.scale_up import ScaleUp, ScaleUpOutcome
from actors.autoscaler.simulation.packer import Packer
from actors.autoscaler.simulation.simulation import Simulation
from actors.autoscaler.state.backoff import GroupBackoff
from actors.autoscaler.state.cluster_state import ClusterState
from actors.framework.podinfo import PodInfo
from actors.shared.node_groups import GroupView
from testbed import Client
from testbed.testing.mutant import Mutant

IN_NEED, NOT_OVER = TriggersAreInNeed.name, NoPodIsPassedOver.name
BOUNDS, STAY = GroupsStayInBounds.name, AwaitedNodesStay.name

# -- which pods ask for room ----------------------------------------------------------------------


class PutsAllOff(PodsToHelp):
    """Takes every pod for too young."""

    def is_put_off(self, pod: PodInfo, origin: str) -> bool:
        self._record.note(pod.key, PodFate(YOUNG, drained_from=origin))
        return True


class HelpsNone(Passing):
    """Takes every pod for too young."""

    helping = PutsAllOff


class LosesPlaces(Passing):
    """Forgets where it has found room for pods before it looks which nodes are needed."""

    async def _scale_down(self) -> None:
        places = {key: f.node for key, f in self.record.pods.items() if f.fate == SCHEDULABLE}
        for name in dict.fromkeys(places.values()):
            info = self._simulation.get(name)
            for pod in list(info.pods) if info is not None else ():
                if places.get(pod.key) == name:
                    self._simulation.remove_pod(pod, name)
        await super()._scale_down()


class PacksAnywhere(Packer):
    """Finds room for every pod on the first node there is."""

    def pack(
        self,
        pods: Iterable[PodInfo],
        simulation: Simulation,
        may_use: Callable[[str], bool] | None = None,
        *,
        stops_at_failure: bool = False,
    ) -> dict[str, str]:
        return {pod.uid: simulation.snapshot.names[0] for pod in pods}


# -- what it knows of groups ----------------------------------------------------------------------


class ForgetsUpcoming(ClusterState):
    """Does not know of nodes that are still to come."""

    def upcoming(self) -> dict[str, int]:
        return {}


class ExpectsTwice(ClusterState):
    """Expects two nodes for each that is still to come."""

    def upcoming(self) -> dict[str, int]:
        return {group: 2 * count for group, count in super().upcoming().items()}


class NeverBacksOff(GroupBackoff):
    """Asks a group again at once after it has refused."""

    def is_on(self, group: str, now_ms: int) -> bool:
        return False


class NeverForgives(GroupBackoff):
    """Never asks a group again once it has refused."""

    def until_ms(self, group: str) -> int | None:
        until_ms = super().until_ms(group)
        return None if until_ms is None else until_ms + self._settings.backoff_reset_ms


# -- how much it asks for -------------------------------------------------------------------------


class AsksForMore(ScaleUp):
    """Asks for more nodes than the group may have."""

    async def _resize(
        self, outcome: ScaleUpOutcome, resizes: Sequence[GroupResize], why: str
    ) -> None:
        more = [attrs.evolve(each, new=each.max_size + 1) for each in resizes]
        await super()._resize(outcome, more, why)


class IgnoresTotal(ScaleUp):
    """Lets the cluster have more nodes than its limit allows."""

    def _within_total(self, nodes: int, there: int) -> int:
        return nodes


class AsksTheWrongGroup(ScaleUp):
    """Asks a group for nodes that help the pods of another one."""

    def _expansions(self, outcome: ScaleUpOutcome, left: Amounts) -> dict[str, Expansion]:
        found = super()._expansions(outcome, left)
        other = self._memory.cloud.groups[-2].name
        wrong = [attrs.evolve(each, group=other) for each in found.values()]
        return {each.group: each for each in wrong}


class SkipsEmptyGroups(ScaleUp):
    """Lets no group grow that has no node yet."""

    def _why_not(self, group: GroupView, left: Amounts) -> str:
        return super()._why_not(group, left) if group.target else "has no node"


# -- how far it goes down -------------------------------------------------------------------------


class EmptiesGroups(ScaleDownPlanner):
    """Lets all empty nodes of a group go, whatever its minimum."""

    def _empty(self, outlook: Outlook, names: Collection[str], left: Removable) -> list[str]:
        return self._trials.empty_among(outlook, names)

    def reason_to_wait(self, outlook: Outlook, clock: Any, left: Removable) -> str:
        if clock.removal.pods:
            return super().reason_to_wait(outlook, clock, left)
        waited_ms = outlook.now_ms - clock.since_ms
        return "" if waited_ms > self._settings.unneeded_time_ms else "TooEarly"


class EmptyingScaleDown(ScaleDown):
    """A scale-down with that planner."""

    planner = EmptiesGroups


class EmptyingMemory(AutoscalerMemory):
    """The memory that it belongs to."""

    scaling_down = EmptyingScaleDown


# -- all of them ----------------------------------------------------------------------------------


def growing_with(change: Callable[[Any, Autoscaler], None], **parts: Any) -> type[Autoscaler]:
    """An Autoscaler with other parts, and with a change made at the start of each life."""

    class _Loop(AutoscalerLoop):
        def __init__(self, actor: Autoscaler, client: Client) -> None:
            super().__init__(actor, client)
            change(self.memory, actor)

    for name, part in parts.items():
        setattr(_Loop, name, part)
    return type("Autoscaler", (Autoscaler,), {"loop": _Loop})


def _as_it_is(memory: Any, actor: Autoscaler) -> None:
    """Change nothing."""


def _deaf(memory: Any, actor: Autoscaler) -> None:
    memory.listers.on_news = lambda tell: None


def _switched(**given: Any) -> Callable[[Any, Autoscaler], None]:
    def change(memory: Any, actor: Autoscaler) -> None:
        memory.switches = attrs.evolve(memory.switches, **given)

    return change


def _backing_off(kind: type[GroupBackoff]) -> Callable[[Any, Autoscaler], None]:
    def change(memory: Any, actor: Autoscaler) -> None:
        memory.state.backoff = kind(actor.settings)

    return change


def _counting(kind: type[ClusterState]) -> Callable[[Any, Autoscaler], None]:
    def change(memory: Any, actor: Autoscaler) -> None:
        memory.state = kind(actor.settings, memory.cloud, memory.announcer.warn, has_instance=False)

    return change


def forgetful() -> type[Autoscaler]:
    """An Autoscaler that forgets which nodes are still to come."""
    return growing_with(_counting(ForgetsUpcoming))


def _packing(memory: Any, actor: Autoscaler) -> None:
    memory.packer = PacksAnywhere(memory.round_robin)


def _mutant(
    name: str,
    breaks: str,
    claim: str,
    change: Callable[[Any, Autoscaler], None] = _as_it_is,
    passing: type[Passing] = Passing,
    remembering: type[AutoscalerMemory] = AutoscalerMemory,
    **ground: Any,
) -> Mutant:
    made = growing_with(change, passing=passing, remembering=remembering)
    return Mutant(name, breaks, partial(growing_cluster, autoscaler=made, **ground), claim)


def _asking(name: str, breaks: str, claim: str, part: type[ScaleUp], **ground: Any) -> Mutant:
    passing = type("Passing", (Passing,), {"scale_up": part})
    return _mutant(name, breaks, claim, passing=passing, **ground)


GROWTH = (
    _mutant("helps-expendable", "nodes come for pods that give way to all", IN_NEED,
            _switched(expendable_cutoff=-100)),
    _mutant("helps-nominated", "nodes come for pods that wait for victims", IN_NEED,
            _switched(nominated_rule="never")),
    _mutant("trusts-ghosts", "a nomination to no node holds a pod for ever", NOT_OVER,
            _switched(nominated_rule="always")),
    _mutant("high-cutoff", "pods that count are taken for expendable", NOT_OVER,
            _switched(expendable_cutoff=1)),
    _mutant("forgets-upcoming", "nodes come again for pods that wait for some", IN_NEED,
            _counting(ForgetsUpcoming)),
    _mutant("counts-twice", "pods wait for nodes that never come", NOT_OVER,
            _counting(ExpectsTwice)),
    _mutant("packs-anywhere", "pods wait for room that is not there", NOT_OVER, _packing),
    _mutant("puts-all-off", "no pod is ever old enough", NOT_OVER, passing=HelpsNone),
    _mutant("sleeps-on", "no pass is made when a pod comes after a rest", NOT_OVER, _deaf),
    _mutant("never-backs-off", "a group is asked again at once", BOUNDS,
            _backing_off(NeverBacksOff)),
    _mutant("never-forgives", "a group is never asked again", NOT_OVER,
            _backing_off(NeverForgives)),
    _asking("asks-for-more", "a group is asked beyond its maximum", BOUNDS, AsksForMore),
    _asking("ignores-total", "the cluster gets too many nodes", BOUNDS, IgnoresTotal,
            settings=LIMITED),
    _asking("wrong-group", "nodes come that help nobody", IN_NEED, AsksTheWrongGroup),
    _asking("skips-empty", "a group without a node never gets one", NOT_OVER, SkipsEmptyGroups),
    _mutant("empties-groups", "a group goes below its minimum", BOUNDS,
            remembering=EmptyingMemory),
    _mutant("loses-places", "a node goes that a pod waits for", STAY, passing=LosesPlaces),
)  # fmt: skip
"""Each with the claim that must find it."""
