"""ScaleDown: the half of the autoscaler that makes the cluster smaller.

In a pass that has asked for no node: 1. Look which nodes are unneeded. 2. Unless in cool-down,
choose those that go, and begin to delete them. 3. In a pass that could have deleted and did not,
mark the unneeded nodes by soft taints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from actors.autoscaler.pass_record import (
    DELETE_STARTED,
    ERROR,
    IN_COOLDOWN,
    NO_NODE_DELETED,
    NO_UNNEEDED,
    ScaleDownRecord,
)
from actors.autoscaler.scale_down.actuation.leftovers import clean_leftovers
from actors.autoscaler.scale_down.actuation.node_deletion import (
    CannotTaint,
    Departure,
    NodeDeletion,
)
from actors.autoscaler.scale_down.actuation.soft_taints import update_soft_taints
from actors.autoscaler.scale_down.actuation.surroundings import Surroundings
from actors.autoscaler.scale_down.cool_downs import CoolDowns
from actors.autoscaler.scale_down.deletions import Deletions
from actors.autoscaler.scale_down.drainability import DrainRules
from actors.autoscaler.scale_down.overtime import is_long_terminating
from actors.autoscaler.scale_down.planning.eligibility import utilization
from actors.autoscaler.scale_down.planning.outlook import Outlook
from actors.autoscaler.scale_down.planning.parallel_planner import ParallelPlanner
from actors.autoscaler.scale_down.planning.planner import Chosen, ScaleDownPlanner
from actors.autoscaler.scale_down.taints import is_going
from actors.autoscaler.simulation.packer import Packer, RoundRobin
from actors.autoscaler.state.readiness import CANDIDATE, has_taint
from testbed.objects import Node


class ScaleDown:
    """Scale-down, for one life of the autoscaler."""

    planner: ClassVar[type[ScaleDownPlanner]] = ScaleDownPlanner
    deletion: ClassVar[type[NodeDeletion]] = NodeDeletion
    cooling: ClassVar[type[CoolDowns]] = CoolDowns
    """Its parts; a mutant has another."""

    def __init__(self, around: Surroundings, round_robin: RoundRobin) -> None:
        self.around = around
        """What it sees and uses."""
        settings = around.settings
        rules = DrainRules(
            settings.skip_nodes_with_system_pods,
            settings.skip_nodes_with_local_storage,
            settings.min_replica_count,
        )
        self.deletions = Deletions()
        """The deletions that run."""
        self.cool_downs = self.cooling(settings, around.client.now())
        planner = ParallelPlanner if settings.parallel_drain else self.planner
        self._planner = planner(settings, Packer(round_robin), self.deletions, rules)
        self._deletion = self.deletion(around, self.deletions, rules)

    async def begin(self) -> None:
        """Before the first pass: clean up after an earlier life."""
        await clean_leftovers(self.around)

    def forget(self) -> None:
        """The cluster is unhealthy: stop all clocks (CA-4)."""
        self._planner.unneeded.clear()

    def look(self, outlook: Outlook, record: ScaleDownRecord) -> None:
        """Find the nodes that are unneeded now, and note what was seen."""
        self._planner.update(outlook)
        record.ran = True
        record.utilization = {
            name: (used.cpu.fraction, used.memory.fraction)
            for name, used in sorted(self._planner.utilization.items())
        }
        record.unneeded_since = dict(self._planner.unneeded.since_ms)
        record.unremovable = dict(self._planner.unremovable.reasons)

    async def act(self, outlook: Outlook, record: ScaleDownRecord, *, may_delete: bool) -> str:
        """Delete what may go, if anything may; returns the error that ends the pass, or nothing."""
        now_ms = outlook.now_ms
        if not may_delete or self.cool_downs.are_on(now_ms):
            record.in_cooldown, record.result = True, IN_COOLDOWN
            return ""
        chosen, error = self._planner.choose(outlook), ""
        record.delete_results = self.deletions.take_results()
        record.result = chosen.result
        if chosen.result == DELETE_STARTED:
            error = await self._delete(outlook, chosen, record)
        record.unremovable = dict(self._planner.unremovable.reasons)
        if record.result == DELETE_STARTED:
            self.cool_downs.deleted(now_ms)
        elif record.result in (NO_NODE_DELETED, NO_UNNEEDED):
            await self._mark(outlook)
        if error:
            self.cool_downs.failed(now_ms)
        return error

    def heard(self) -> None:
        """The Caches have news."""
        self._planner.unremovable.doubt()

    def is_waiting(self, now_ms: int) -> bool:
        """Whether time alone may change what a later pass does: a clock runs, an old verdict is
        believed, a deletion goes on; a taint will be too old, or a pod late; or soft taints wait
        for the end of a cool-down."""
        around, nodes = self.around, self.around.nodes()
        return bool(
            self._planner.is_waiting
            or self.deletions.empty
            or self.deletions.drained
            or any(is_going(node, now_ms) for node in nodes)
            or any(
                pod.meta.is_terminating and not is_long_terminating(pod, now_ms)
                for pod in around.scheduled_pods()
            )
            or (self.cool_downs.are_on(now_ms) and any(has_taint(n, CANDIDATE) for n in nodes))
        )

    def digest(self, now_ms: int) -> object:
        """The memory that its next actions depend on; times count from now."""
        return (
            self._planner.digest(now_ms), self.deletions.digest(), self.cool_downs.digest(now_ms)
        )  # fmt: skip

    async def _delete(self, outlook: Outlook, chosen: Chosen, record: ScaleDownRecord) -> str:
        """Begin to delete as many as may be deleted at once, counting those that already are. Nodes
        beyond that number were chosen for nothing, but their clocks have stopped (CA-28)."""
        settings, running = self.around.settings, self.deletions
        spare = settings.max_empty_bulk_delete - len(running.empty) - len(running.drained)
        since_ms = record.unneeded_since
        empty = self._departures(outlook, chosen.empty[: max(spare, 0)], since_ms, "as empty")
        spare = min(spare - len(empty), settings.max_drain_parallelism - len(running.drained))
        drained = self._departures(
            outlook, chosen.drained[: max(spare, 0)], since_ms, "after a drain"
        )
        if not empty and not drained:
            record.result = NO_NODE_DELETED
            return ""
        try:
            if empty:
                await self._deletion.start(empty, drains=False)
            if drained:
                await self._deletion.start(drained, drains=True)
        except CannotTaint as error:
            record.result = ERROR
            return str(error)
        record.deleting_empty = tuple(each.name for each in empty)
        record.deleting_drain = {
            each.name: tuple(self._deletion.moving_from(each)) for each in drained
        }
        return ""

    def _departures(
        self, outlook: Outlook, nodes: Sequence[Node], since_ms: Mapping[str, int], how: str
    ) -> list[Departure]:
        group_of, infos = outlook.group_of, outlook.simulation.nodes
        found = []
        for node in nodes:
            info, group = infos[node.meta.name], group_of[node.meta.name]
            used = utilization(info, outlook.now_ms, self.around.settings)
            pods = tuple(each.pod for each in info.pods)
            since = outlook.now_ms - since_ms[node.meta.name]
            said = f"chose {node.meta.name} to be deleted {how}, unneeded for {since} ms"
            because = self.around.client.record("lets go", node=node.meta.name, said=said)
            found.append(Departure(node, group.name, pods, used, because))
        return found

    async def _mark(self, outlook: Outlook) -> None:
        """Bring the soft taints up to date."""
        most = self.around.settings.max_bulk_soft_taint_count
        if not most:
            return
        unneeded = self._planner.unneeded
        needed = {node.meta.name: node for node in outlook.nodes if node.meta.name not in unneeded}
        marked = {node.meta.name: node for node in unneeded.nodes}
        await update_soft_taints(self.around.client, marked, needed, most, outlook.order)
