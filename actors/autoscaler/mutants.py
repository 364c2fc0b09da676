"""Autoscalers with one bug each; the claims must find it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from actors.autoscaler.autoscaler import Autoscaler, AutoscalerLoop
from actors.autoscaler.growth_mutants import GROWTH
from actors.autoscaler.invariants.departures import DepartingNodesAreEmpty, NodesDepartInTime
from actors.autoscaler.memory import AutoscalerMemory
from actors.autoscaler.proving_grounds.departing_nodes import departing_nodes
from actors.autoscaler.scale_down.actuation.node_deletion import Departure, NodeDeletion
from actors.autoscaler.scale_down.cool_downs import CoolDowns
from actors.autoscaler.scale_down.planning.limits import Removable
from actors.autoscaler.scale_down.planning.outlook import Outlook
from actors.autoscaler.scale_down.planning.planner import ScaleDownPlanner
from actors.autoscaler.scale_down.planning.unneeded import UnneededClock
from actors.autoscaler.scale_down.scale_down import ScaleDown
from testbed.objects import Pod
from testbed.testing.mutant import Mutant

EMPTY, IN_TIME = DepartingNodesAreEmpty.name, NodesDepartInTime.name


class HastyPlanner(ScaleDownPlanner):
    """Lets any unneeded node go at once."""

    def reason_to_wait(self, outlook: Outlook, clock: UnneededClock, left: Removable) -> str:
        return ""


class DrainsNothing(NodeDeletion):
    """Deletes a node with the pods on it."""

    async def drain(self, departure: Departure, here: Sequence[Pod]) -> str:
        return ""


class LooksOnce(NodeDeletion):
    """Takes a node for empty once it has tainted it."""

    async def pods_by_node(self, names: Iterable[str]) -> dict[str, list[Pod]]:
        return {name: [] for name in names}


class NeverCools(CoolDowns):
    """Deletes nodes right after it has added some."""

    def are_on(self, now_ms: int) -> bool:
        return False


def with_parts(**parts: type[Any]) -> type[Autoscaler]:
    """An Autoscaler with other parts in its scale-down."""
    scaling_down = type("ScaleDown", (ScaleDown,), parts)
    remembering = type("Memory", (AutoscalerMemory,), {"scaling_down": scaling_down})
    loop = type("Loop", (AutoscalerLoop,), {"remembering": remembering})
    return type("Autoscaler", (Autoscaler,), {"loop": loop})


def _mutant(name: str, breaks: str, claim: str, **parts: type[Any]) -> Mutant:
    build = partial(departing_nodes, autoscaler=with_parts(**parts))
    return Mutant(name, breaks, build, claim)


MUTANTS = (
    _mutant("hasty", "a node goes as soon as it is unneeded", IN_TIME, planner=HastyPlanner),
    _mutant("never-cools", "nodes go while others come", IN_TIME, cooling=NeverCools),
    _mutant("drains-nothing", "a node goes with its pods", EMPTY, deletion=DrainsNothing),
    _mutant("looks-once", "pods are not listed again after the taint", EMPTY, deletion=LooksOnce),
    *GROWTH,
)
"""All of them; `testbed mutants` hunts them."""
