"""Passing: one pass of the autoscaler, from what it lists to what it does (CA-1).

1. It lists nodes and pods, and asks the cloud for its groups. From these it makes a Simulation in
which expendable pods do not exist. 2. It mends the cloud; that may end the pass. 3. It finds out
which pods ask for room (`pods_to_help.py`), and asks the cloud for nodes; if that works, the pass
ends. 4. It looks which nodes are not needed, and may begin to delete some.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, TypeVar

from actors.autoscaler import asking, maintenance
from actors.autoscaler.memory import AutoscalerMemory
from actors.autoscaler.pass_record import (
    AWAITING,
    DELETE_STARTED,
    IN_COOLDOWN,
    LEFT,
    NO_OPTION,
    NO_OPTIONS,
    NOT_NEEDED,
    SUCCESSFUL,
    TRIGGERED,
    PassRecord,
    PodFate,
)
from actors.autoscaler.pass_sight import PassSight
from actors.autoscaler.pods_to_help import PodsToHelp
from actors.autoscaler.scale_down.planning.outlook import Outlook
from actors.autoscaler.scale_up.events import announce
from actors.autoscaler.scale_up.scale_up import PassFailed, ScaleUp, ScaleUpOutcome
from actors.autoscaler.simulation.simulation import Simulation
from actors.autoscaler.state.readiness import is_usable
from actors.autoscaler.state.status import status_of
from actors.autoscaler.templates import NodeTemplate
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo, info_of
from testbed import ApiError
from testbed.objects import Node, Object, Pod

O = TypeVar("O", bound=Object)  # noqa: E741
NOT_CHOSEN = "helpable but not in the chosen option"


class Passing:
    """One pass; `record` says at the end what came of it."""

    scale_up: ClassVar[type[ScaleUp]] = ScaleUp
    """What makes the cluster larger."""
    helping: ClassVar[type[PodsToHelp]] = PodsToHelp
    """What finds out which pods ask for nodes. A mutant has another of either."""

    def __init__(self, memory: AutoscalerMemory, now_ms: int) -> None:
        self._memory = memory
        self._now_ms = now_ms
        self.record = PassRecord(now_ms)
        self.sight: PassSight | None = None
        """What it saw, if the cloud answered."""
        self._nodes: list[Node] = self._in_order("nodes", memory.listers.nodes.all())
        self._usable = [each for each in self._nodes if is_usable(each)]
        pods = memory.listers.pods.all()
        self._bound = [pod for pod in pods if pod.is_bound and not pod.is_over]
        self._unschedulable = self._in_order(
            "pods", [pod for pod in pods if asking.is_unschedulable(pod)]
        )
        self._simulation = Simulation(())
        self._templates: Mapping[str, NodeTemplate] = {}
        self._may_delete = True

    async def run(self) -> None:
        """Make the pass. An error ends it, and stands in its record."""
        try:
            await self._run()
        except PassFailed as error:
            self.record.error = str(error)
        except ApiError as error:
            self.record.error = str(error)
            self.record.ended_early = True
        self.record.status = status_of(self._memory.state, self._memory.cloud, self._now_ms)

    async def _run(self) -> None:
        memory, now_ms = self._memory, self._now_ms
        await memory.cloud.refresh()
        self.sight = self._sight()
        memory.client.show("sight", self.sight)
        self._simulation = Simulation(self._infos(), memory.listers.labels_of_namespaces())
        self._templates = memory.templates.of_groups(
            memory.cloud, self._usable, _by_node(self._bound), memory.listers.daemon_sets(),
            now_ms, memory.client.pick,
        )  # fmt: skip
        await memory.state.update(self._nodes, now_ms)
        if await self._mend():
            self.record.ended_early = True
            return
        helping = self.helping(memory, self._simulation, self._templates, self._nodes, self.record)
        pods = helping.among(self._unschedulable)
        if not await self._scale_up(pods):
            await self._scale_down()
            if memory.settings.enforce_node_group_min_size:
                await self._fill_groups()

    def _in_order(self, label: str, items: Sequence[O]) -> list[O]:
        by_key = {item.key: item for item in items}
        return [by_key[key] for key in self._memory.order(label, sorted(by_key))]

    # -- what it sees -----------------------------------------------------------------------------

    def _sight(self) -> PassSight:
        return PassSight(
            self._now_ms, tuple(self._nodes), tuple(self._bound), tuple(self._unschedulable),
            self._memory.cloud.groups,
        )  # fmt: skip

    def _infos(self) -> Iterable[NodeInfo]:
        memory, cutoff = self._memory, self._memory.switches.expendable_cutoff
        counted = [pod for pod in self._bound if not asking.is_expendable(pod, cutoff)]
        pods_on, before = _by_node(counted), memory.infos
        memory.infos = {
            node.meta.name: _info(node, pods_on.get(node.meta.name, ()), before)
            for node in self._nodes
        }
        return [info.copy() for info in memory.infos.values()]

    # -- maintenance ------------------------------------------------------------------------------

    async def _mend(self) -> bool:
        """Whether the pass ends with that."""
        memory, now_ms = self._memory, self._now_ms
        await maintenance.remove_unregistered(memory, now_ms)
        if not memory.state.is_healthy:
            memory.scale_down.forget()
            memory.announcer.warn("ClusterUnhealthy", "Cluster is unhealthy")
            return True
        return await maintenance.remove_failed(memory) or await maintenance.mend_sizes(
            memory, now_ms
        )

    # -- scale-up ---------------------------------------------------------------------------------

    async def _scale_up(self, pods: Sequence[PodInfo]) -> bool:
        """Whether the pass ends with that."""
        record, settings = self.record.scale_up, self._memory.settings
        if not pods:
            record.result = NOT_NEEDED
            return False
        if settings.max_nodes_total and len(self._usable) >= settings.max_nodes_total:
            self._leave(pods, NO_OPTIONS)
            return False
        if asking.are_all_new([pod.pod for pod in pods], self._now_ms):
            # There are probably more to come. Nodes are not removed meanwhile, either.
            self._may_delete = False
            self._leave(pods, IN_COOLDOWN)
            return False
        outcome = await self._new_scale_up().for_pods(pods)
        self._tell(outcome)
        return self._has_ended(outcome)

    def _new_scale_up(self) -> ScaleUp:
        return self.scale_up(
            self._memory, self._simulation, self._templates, self._usable, self._now_ms
        )

    async def _fill_groups(self) -> None:
        outcome = await self._new_scale_up().to_minimum()
        announce(outcome, self._memory.announcer)
        if outcome.record.result != NOT_NEEDED:
            self.record.scale_up = outcome.record
        self._has_ended(outcome)

    def _has_ended(self, outcome: ScaleUpOutcome) -> bool:
        if outcome.error:
            raise PassFailed(outcome.error)
        if outcome.record.result != SUCCESSFUL:
            return False
        self._memory.scale_down.cool_downs.added(self._now_ms)
        if not self.record.scale_down.ran:
            self.record.scale_down.result = IN_COOLDOWN
        return True

    def _leave(self, pods: Iterable[PodInfo], why: str) -> None:
        self.record.scale_up.result = why
        for pod in pods:
            origin = self.record.drained.get(pod.key, PodFate(LEFT)).drained_from
            self.record.note(pod.key, PodFate(LEFT, why=why, drained_from=origin))

    def _tell(self, outcome: ScaleUpOutcome) -> None:
        """Note what became of each pod, and write the Events. A scale-up that ends in an error says
        for which pods it was, and of all others nothing."""
        self.record.scale_up = outcome.record
        chosen = {pod.uid for pod in outcome.chosen}
        best = outcome.record.best
        for alike in outcome.alike:
            for pod in alike.pods:
                old = self.record.drained.get(pod.key)
                origin = old.drained_from if old is not None and not old.node else ""
                if pod.uid in chosen:
                    fate = PodFate(TRIGGERED, drained_from=origin)
                elif outcome.error:
                    fate = PodFate(LEFT, drained_from=origin)
                elif not alike.is_helpable:
                    fate = PodFate(
                        NO_OPTION, rejected=dict(alike.rejected), skipped=dict(outcome.skipped),
                        drained_from=origin,
                    )  # fmt: skip
                elif best and best in alike.rejected:
                    fate = PodFate(AWAITING, drained_from=origin)
                else:
                    fate = PodFate(LEFT, why=NOT_CHOSEN, drained_from=origin)
                self.record.note(pod.key, fate)
        announce(outcome, self._memory.announcer)

    # -- scale-down -------------------------------------------------------------------------------

    async def _scale_down(self) -> None:
        memory, record = self._memory, self.record.scale_down
        if not memory.settings.scale_down_enabled:
            return
        outlook = Outlook(
            self._now_ms, self._simulation, self._nodes, memory.cloud.groups, memory.listers.owner,
            memory.listers.budgets.all(), memory.order,
        )  # fmt: skip
        memory.scale_down.look(outlook, record)
        memory.state.candidates = _by_group(record.unneeded_since, outlook)
        error = await memory.scale_down.act(outlook, record, may_delete=self._may_delete)
        if record.result == DELETE_STARTED:
            memory.state.recalculate()
        if error:
            raise PassFailed(error)


def _by_group(nodes: Iterable[str], outlook: Outlook) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for node in nodes:
        group = outlook.group_of.get(node)
        if group is not None:
            found[group.name] = (*found.get(group.name, ()), node)
    return found


def _info(node: Node, pods: Sequence[Pod], before: Mapping[str, NodeInfo]) -> NodeInfo:
    """A node with these pods: the same as before if neither it nor any of them has changed."""
    info = before.get(node.meta.name)
    if info is not None and info.node is node and len(info.pods) == len(pods) and all(
        each.pod is pod for each, pod in zip(info.pods, pods, strict=True)
    ):  # fmt: skip
        return info
    info = NodeInfo(node.meta.name, node)
    for pod in pods:
        info.add(info_of(pod))
    return info


def _by_node(pods: Iterable[Pod]) -> Mapping[str, Sequence[Pod]]:
    found: dict[str, list[Pod]] = {}
    for pod in pods:
        found.setdefault(pod.spec.node_name, []).append(pod)
    return found
