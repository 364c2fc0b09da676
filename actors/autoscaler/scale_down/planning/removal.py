"""Removal: whether the cluster could do without a node, tried out on a Simulation."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

import attrs

from actors.autoscaler.pass_record import Unremovable
from actors.autoscaler.scale_down.drainability import BlockingPod, DrainRules, moving
from actors.autoscaler.scale_down.planning.destinations import Destinations
from actors.autoscaler.scale_down.planning.outlook import Outlook
from actors.autoscaler.scale_down.planning.unneeded import Removal
from actors.autoscaler.scale_down.planning.unremovable import BLOCKED_BY_POD, NO_PLACE, UNEXPECTED
from actors.autoscaler.simulation.packer import Packer
from actors.framework.podinfo import PodInfo, identity, info_of
from testbed.objects import PodDisruptionBudget


class RemovalTrials:
    """Tries removals, node by node; each trial is undone, so they do not add up, unless it is kept.

    What adds up is what they leave behind: where the Packer has put each pod, which it tries first
    the next time, and which node would use which.
    """

    def __init__(self, packer: Packer, destinations: Destinations, rules: DrainRules) -> None:
        self._packer = packer
        self._destinations = destinations
        self._rules = rules

    def empty_among(self, outlook: Outlook, names: Iterable[str]) -> list[str]:
        """Those of the nodes from which no pod has to move. Neither owners nor budgets are asked
        here, so a daemon pod without its DaemonSet does not hold an empty node (CA-26)."""
        found = []
        for name in names:
            info = outlook.simulation.get(name)
            if info is None:
                continue
            going = moving((each.pod for each in info.pods), self._rules, outlook.now_ms)
            if not isinstance(going, BlockingPod) and not going.pods:
                found.append(name)
        return found

    def try_all(
        self, outlook: Outlook, names: Iterable[str], destinations: Container[str]
    ) -> tuple[list[Removal], dict[str, Unremovable]]:
        """The nodes that could be removed, and why each of the others could not."""
        removals: list[Removal] = []
        staying: dict[str, Unremovable] = {}
        for name in names:
            verdict = self.try_one(outlook, name, destinations, outlook.budgets)
            if isinstance(verdict, Removal):
                removals.append(verdict)
            else:
                staying[name] = verdict
        return removals, staying

    def try_one(
        self,
        outlook: Outlook,
        name: str,
        destinations: Container[str],
        budgets: Sequence[PodDisruptionBudget],
        *,
        is_kept: bool = False,
    ) -> Removal | Unremovable:
        """1. Which pods would have to move. 2. Take them off the node. 3. Find each a place on
        another, one after the other. 4. Undo it, unless it is kept and has succeeded."""
        info = outlook.simulation.get(name)
        if info is None or info.node is None or name not in destinations:
            return Unremovable(UNEXPECTED)
        pods = [each.pod for each in info.pods]
        going = moving(pods, self._rules, outlook.now_ms, outlook.owners, budgets)
        if isinstance(going, BlockingPod):
            meta = going.pod.meta
            return Unremovable(BLOCKED_BY_POD, f"{meta.namespace}/{meta.name}", going.reason)
        moved = {identity(pod) for pod in going.pods}
        leaving = [each for each in info.pods if each.uid in moved]
        outlook.simulation.fork()
        places = self._places(outlook, name, leaving, destinations)
        if len(places) < len(leaving):
            outlook.simulation.revert()
            return Unremovable(NO_PLACE)
        (outlook.simulation.commit if is_kept else outlook.simulation.revert)()
        for place in places:
            self._destinations.note(name, place, outlook.now_ms)
        return Removal(info.node, going.pods)

    def _places(
        self, outlook: Outlook, name: str, leaving: list[PodInfo], destinations: Container[str]
    ) -> list[str]:
        """Where the pods would go; fewer than there are pods if one of them has no place."""
        for each in leaving:
            outlook.simulation.remove_pod(each, name)
        places = self._packer.pack(
            [_unbound(each) for each in leaving],
            outlook.simulation,
            lambda other: other != name and other in destinations,
            stops_at_failure=True,
        )
        return list(places.values())


def _unbound(info: PodInfo) -> PodInfo:
    """The pod as it would be scheduled again."""
    pod = info.pod
    return info_of(attrs.evolve(pod, spec=attrs.evolve(pod.spec, node_name="")))
