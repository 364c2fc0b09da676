"""NodeDeletion: how chosen nodes go, from the taint to the call of the cloud (CA-29).

1. Within the pass: taint the nodes, so that no scheduler chooses them any more. 2. In a task that
outlives the pass: wait, for a scheduler that has not heard of the taint. 3. List the pods again. A
node that was to be empty must still be so; on one to be drained, no pod may forbid it. 4. Each in
a task of its own: evict what is there. Pods that come from here on die with the node. 5. Let the
cloud delete the instance. The Node object is not touched: another controller deletes it.

When anything fails, the taint is taken off again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from actors.autoscaler.scale_down.actuation.draining import (
    drain_node,
    evict_daemons,
    pods_to_evict,
)
from actors.autoscaler.scale_down.actuation.surroundings import Surroundings
from actors.autoscaler.scale_down.actuation.tainting import put_taint, take_taint
from actors.autoscaler.scale_down.deletions import OK, Deletions, RunningDeletion
from actors.autoscaler.scale_down.drainability import BlockingPod, DrainRules, Moving, moving
from actors.autoscaler.scale_down.utilization import Utilization
from actors.autoscaler.state.readiness import TO_BE_DELETED
from testbed import ApiError, NotFound
from testbed.objects import Node, Pod
from testbed.objects.event import WARNING
from testbed.turns.because import Because

DELAY_PREFIX = "delay-deletion.cluster-autoscaler.kubernetes.io/"
"""Annotations with this prefix ask to wait with the deletion of a node."""
DELAY_MS, DELAY_POLL_MS = 120_000, 5_000
"""For how long that is granted, and how often it is looked at."""
FAILED = "ScaleDownFailed"


class CannotTaint(Exception):
    """A node could not be tainted, so nothing is deleted in this pass."""


@attrs.frozen
class Departure:
    """A node that is to go, as the pass saw it."""

    node: Node
    group: str
    pods: tuple[Pod, ...]
    """All that were on it."""
    utilization: Utilization
    because: Because
    """The record of the decision."""

    @property
    def name(self) -> str:
        """The name of the node."""
        return self.node.meta.name


class NodeDeletion:
    """Deletes nodes, for one life of the autoscaler."""

    def __init__(self, around: Surroundings, deletions: Deletions, rules: DrainRules) -> None:
        self._around = around
        self._deletions = deletions
        self._rules = rules

    # -- within the pass --------------------------------------------------------------------------

    async def start(self, departures: Sequence[Departure], *, drains: bool) -> None:
        """Taint the nodes, and begin to delete them; CannotTaint if one cannot be tainted."""
        await self._taint(departures)
        for each in departures:
            self._announce(each, drains=drains)
            self._deletions.start(RunningDeletion(each.name, each.group, drains))
        self._around.client.spawn("look-again", self._delete_all, list(departures), drains)

    def moving_from(self, departure: Departure) -> list[str]:
        """The names of the pods that are to move from a node that is drained."""
        pods, _ = pods_to_evict(self._around, departure.pods)
        return sorted(pod.meta.name for pod in pods)

    async def _taint(self, departures: Sequence[Departure]) -> None:
        around, done = self._around, list[Node]()
        cordon = around.settings.cordon_node_before_terminating
        for each in departures:
            node = each.node
            try:
                await put_taint(
                    around.client, node, TO_BE_DELETED, cordon=cordon, because=each.because
                )
            except ApiError as error:
                why = f"failed to mark the node as toBeDeleted/unschedulable: {error}"
                around.announcer.note(node, FAILED, why, WARNING)
                for other in done:
                    await self._untaint(other)
                raise CannotTaint(
                    f'couldn\'t taint node "{node.meta.name}" with ToBeDeleted'
                ) from error
            around.announcer.note(node, "ScaleDown", "marked the node as toBeDeleted/unschedulable")
            done.append(node)

    def _announce(self, departure: Departure, *, drains: bool) -> None:
        name = departure.name
        if not drains:
            text = f'Scale-down: removing empty node "{name}"'
            self._around.announcer.say("ScaleDownEmpty", text)
            return
        text = (
            f"Scale-down: removing node {name}, utilization: {departure.utilization}, "
            f"pods to reschedule: {','.join(self.moving_from(departure))}"
        )
        self._around.announcer.say("ScaleDown", text)

    # -- beside later passes ----------------------------------------------------------------------

    async def _delete_all(self, departures: Sequence[Departure], drains: bool) -> None:
        around, client = self._around, self._around.client
        if wait_ms := around.settings.node_delete_delay_after_taint_ms:
            await client.sleep(wait_ms, "look again at nodes to delete")
        pods = await self.pods_by_node(each.name for each in departures)
        budgets, owners = (around.budgets(), around.owner) if drains else ((), None)
        for each in departures:
            here = pods[each.name]
            going = moving(here, self._rules, client.now(), owners, budgets)
            if isinstance(going, BlockingPod):
                why = f'GetPodsToMove for "{each.name}" returned error: {going.why}'
                await self._fail(each, why, drains=drains)
            elif going.pods and not drains:
                why = f'failed to delete empty node "{each.name}", new pods scheduled'
                await self._fail(each, why, drains=drains)
            else:
                client.spawn(f"delete-{each.name}", self._delete, each, here, going, drains)

    async def pods_by_node(self, names: Iterable[str]) -> dict[str, list[Pod]]:
        """The pods that are on these nodes now, as far as it has heard."""
        found: dict[str, list[Pod]] = {name: [] for name in names}
        for pod in self._around.scheduled_pods():
            if pod.spec.node_name in found:
                found[pod.spec.node_name].append(pod)
        return found

    async def _delete(
        self, departure: Departure, here: Sequence[Pod], going: Moving, drains: bool
    ) -> None:
        """Empty one node, and delete its instance."""
        around, name, error = self._around, departure.name, ""
        if drains:
            error = await self.drain(departure, here)
        else:
            await evict_daemons(around, going.daemons)
        error = error or await self._await_delay(departure.node)
        error = error or await self._delete_instance(departure)
        if error:
            await self._fail(departure, error, drains=drains)
            return
        around.announcer.note(departure.node, "ScaleDown", "nodes removed by cluster autoscaler")
        if drains:
            around.announcer.say("ScaleDown", f"Scale-down: node {name} removed with drain")
        else:
            around.announcer.say("ScaleDownEmpty", f"Scale-down: empty node {name} removed")
        self._deletions.end(name, OK)

    async def drain(self, departure: Departure, here: Sequence[Pod]) -> str:
        """Empty a node of these pods; returns what is amiss, or nothing."""
        return await drain_node(self._around, departure.name, here)

    async def _await_delay(self, node: Node) -> str:
        """Wait while the node asks for it, up to a time; returns what is amiss, or nothing."""
        client, name = self._around.client, node.meta.name
        if not _asks_for_delay(node):
            return ""
        began_ms = client.elapsed()
        while client.elapsed() - began_ms < DELAY_MS:
            await client.sleep(DELAY_POLL_MS, f"await leave to delete {name}")
            now = next((each for each in self._around.nodes() if each.meta.name == name), None)
            if now is None:
                return f'failed to get node {name}: node "{name}" not found'
            if not _asks_for_delay(now):
                return ""
        return ""

    async def _delete_instance(self, departure: Departure) -> str:
        try:
            await self._around.cloud.delete_nodes(
                departure.group, (departure.name,), departure.because
            )
        except ApiError as error:
            return f"failed to delete {departure.name}: {error}"
        return ""

    async def _fail(self, departure: Departure, error: str, *, drains: bool) -> None:
        what = "drain and delete node" if drains else "delete empty node"
        self._around.announcer.note(departure.node, FAILED, f"failed to {what}: {error}", WARNING)
        await self._untaint(departure.node)
        self._deletions.end(departure.name, error)

    async def _untaint(self, node: Node) -> None:
        """Take the taint off; if that fails, it stays, as no one tries again."""
        uncordon = self._around.settings.cordon_node_before_terminating
        try:
            await take_taint(self._around.client, node, TO_BE_DELETED, uncordon=uncordon)
        except NotFound:
            return
        except ApiError as error:
            self._around.client.record("failed", item=node.meta.name, error=error.reason)


def _asks_for_delay(node: Node) -> bool:
    return any(name.startswith(DELAY_PREFIX) for name in node.meta.annotations)
