"""The node lifecycle controller: notices silent nodes, and taints those that are not ready.

1. Every 5 s it looks at all nodes (CTL-30). Of one that was silent for too long it writes that its
   conditions are Unknown (CTL-32); if the node was ready, its pods are set to not ready. A node
   that never had a heartbeat is not judged by its silence: its kubelet has `heartbeat=off`.
2. The NoSchedule taints of a node follow its conditions at once (KUB-39).
3. A node that is not ready is put in the queue of its zone for a NoExecute taint. The queues move
   slowly, more slowly in a zone with a partial disruption, and not at all if all zones are down
   (CTL-33).

A look that can find nothing new, since nothing has changed and no node is silent for too long yet,
is left out. All that this changes is that the World may come to rest.

Left out: the labels of nodes that it copies from an old name to a new one.
"""

from __future__ import annotations

from typing import ClassVar

import attrs

from actors.controllers.frame.control_loop import ControlLoop, KeyedController
from actors.controllers.frame.pod_status import patch_status
from actors.controllers.node_lifecycle.health import Health, noticed, silenced
from actors.controllers.node_lifecycle.patching import swap_taints
from actors.controllers.node_lifecycle.pods_on_nodes import PodsOnNodes
from actors.controllers.node_lifecycle.rate_limited_queue import RateLimitedQueue
from actors.controllers.node_lifecycle.taints import (
    BY_READINESS,
    NOT_READY,
    REACHABLE,
    UNREACHABLE,
    evicting,
    has_taint,
    mirrored,
    ready_of,
)
from actors.controllers.node_lifecycle.zones import EXCLUDED, FULL, INITIAL, Pace, zone_of
from actors.shared.looks import Looks
from actors.shared.node_lease import NAMESPACE, is_implied, renewed_ms_of
from actors.shared.settings import at_least
from testbed import ApiError, Client, NotFound, Selector
from testbed.objects import Condition, Lease, Node, Pod
from testbed.objects.affinity import NO_EXECUTE
from testbed.objects.calendar import whole_second
from testbed.objects.condition import FALSE, TRUE, UNKNOWN
from testbed.objects.event import WARNING
from testbed.objects.form import to_tree

LEASES = Selector(namespace=NAMESPACE)
"""Where kubelets have their Leases, each under the name of its node."""
TRIES, AGAIN_MS = 5, 20
"""How often a status is written if that fails, and how long it waits in between."""
PASS_MS = 100
"""How often the queues of the zones are looked at."""
UNPLAYED = "Unplayed"
"""In place of the status of Ready: its first minute is over, and nobody plays its heartbeats."""


class NodeLifecycleLoop(ControlLoop):
    """One life of it: the health of the nodes, the states of the zones, and their queues."""

    settings: NodeLifecycle

    def __init__(self, settings: NodeLifecycle, client: Client) -> None:
        super().__init__(settings, client)
        self._health: dict[str, Health] = {}
        """By node."""
        self._states: dict[str, str] = {}
        """By zone."""
        self._queues: dict[str, RateLimitedQueue] = {}
        """By zone, the nodes that wait for a NoExecute taint."""
        self._retry: dict[str, None] = {}
        """The nodes with pods that are still to be set to not ready."""
        self._looks = Looks(client, "look", settings.period_ms)
        self._passes = Looks(client, "taint", PASS_MS)
        self._nodes = self.cache(Node, reads=None)
        self._leases = self.cache(Lease, LEASES, reads=("spec.renewed_ms", "meta.annotations"))
        self._pods = PodsOnNodes(self.cache(Pod, reads=None))
        self._nodes.on(add=self._heard, update=lambda _, new: self._heard(new), delete=self._gone)
        self._leases.on(add=self._news, update=lambda *_: self._news())

    async def run(self) -> None:
        """Look at the nodes, let the queues move, and mirror conditions, each in its own task."""
        self.client.spawn("monitor", self._monitor)
        self.client.spawn("tainter", self._taint)
        await super().run()

    def digest(self, now_ms: int) -> object:
        cap_ms = max(self.settings.startup_grace_ms, self.client.switches.node_monitor_grace_ms)
        health = [
            (name, each.digest(now_ms, cap_ms)) for name, each in sorted(self._health.items())
        ]
        queues = [(zone, queue.digest(now_ms)) for zone, queue in sorted(self._queues.items())]
        phase_ms = self._looks.phase_ms(now_ms)
        return self.todo.digest(), health, queues, self._states, list(self._retry), phase_ms

    # -- what it hears --------------------------------------------------------------------------

    def _heard(self, node: Node) -> None:
        self.todo.add(node.meta.name)
        self._news()

    def _gone(self, node: Node) -> None:
        self._health.pop(node.meta.name, None)
        self._retry.pop(node.meta.name, None)
        self._news()

    def _news(self, *_: Lease) -> None:
        self._looks.soon()

    # -- what mirrors conditions ----------------------------------------------------------------

    async def sync(self, key: str) -> None:
        """Let the NoSchedule taints of a node mirror its conditions."""
        node = self._nodes.get(key)
        if node is not None and (swap := mirrored(node)):
            await swap_taints(self.client, key, swap)

    # -- looks ----------------------------------------------------------------------------------

    async def _monitor(self) -> None:
        await self.synced()
        while True:
            await self._looks.wait()
            zones: dict[str, list[bool]] = {}
            for node in self._nodes.all():
                await self._examine(node, zones)
            await self._adjust(zones)
            self._plan()

    def _plan(self) -> None:
        """Look again when the next node may have been silent for too long."""
        for node in self._nodes.all():
            name, ready = node.meta.name, ready_of(node)
            health = self._health.get(name)
            if health is None or name in self._retry:
                self._looks.soon()
            elif self._is_implied(name) or self._is_unplayed(health, ready):
                continue
            elif ready is None or ready.status != UNKNOWN:
                self._looks.soon(health.probed_ms + self._grace_ms(ready) + 1)
        self._set_pass()

    def _is_implied(self, name: str) -> bool:
        """Whether the kubelet of a node lives as long as nothing says otherwise."""
        lease = self._leases.get(name, NAMESPACE)
        return lease is not None and is_implied(lease)

    def _is_unplayed(self, health: Health, ready: Condition | None) -> bool:
        """Whether the silence of a node will never count, and its first minute is over."""
        return not health.is_heard and (ready is not None or self._is_silent(health, ready))

    def _is_silent(self, health: Health, ready: Condition | None) -> bool:
        """Whether a node has been silent for longer than it may be."""
        return self.client.elapsed() > health.probed_ms + self._grace_ms(ready)

    def _grace_ms(self, ready: Condition | None) -> int:
        if ready is None:
            return self.settings.startup_grace_ms
        grace_ms: int = self.client.switches.node_monitor_grace_ms
        return grace_ms

    async def _examine(self, node: Node, zones: dict[str, list[bool]]) -> None:
        """Look at one node: is it silent, is it ready, and what follows."""
        name, zone = node.meta.name, zone_of(node)
        if zone not in self._queues:
            self._queues[zone] = RateLimitedQueue(self.settings.pace.interval_ms)
            self._states[zone] = INITIAL
        found = await self._judged(node)
        if found is None:
            return
        was, now = found
        if EXCLUDED not in node.meta.labels:
            zones.setdefault(zone, []).append(now in (TRUE, UNPLAYED))
        if now in ("", UNPLAYED):
            return
        await self._follow_readiness(node, was)
        if was == TRUE != now:
            message = f"Node {name} status is now: NodeNotReady"
            self.note(node, "NodeNotReady", message)
        if now != TRUE and (was == TRUE or name in self._retry):
            await self._set_pods_not_ready(name)

    async def _judged(self, node: Node) -> tuple[str, str] | None:
        """The status of Ready as the node had it, and as it has it now; empty if it has none yet,
        and UNPLAYED if none will come. None if the node could not be written."""
        name = node.meta.name
        for _ in range(TRIES):
            ready = ready_of(node)
            now_ms, age_ms = self.client.elapsed(), self.client.now() - (node.meta.created_ms or 0)
            lease = self._leases.get(name, NAMESPACE)
            renewed_ms = None if lease is None else renewed_ms_of(lease, self.client.now())
            health = noticed(self._health.get(name), node, renewed_ms, now_ms, age_ms)
            health = attrs.evolve(health, is_implied=self._is_implied(name))
            self._health[name] = health
            was = UNKNOWN if ready is None else ready.status
            if self._is_unplayed(health, ready):
                return was, UNPLAYED if ready is None else was
            if not self._is_silent(health, ready):
                return was, "" if ready is None else was
            silent = silenced(node, self.client.now())
            try:
                if silent is not node:
                    await self.client.update(silent, subresource="status")
                    self._health[name] = attrs.evolve(health, ready=ready_of(silent))
                return was, UNKNOWN
            except ApiError:
                await self.client.sleep(AGAIN_MS, f"again {name}")
            try:
                node = await self.client.get(Node, name, "")
            except ApiError:
                return None
        return None

    async def _follow_readiness(self, node: Node, was: str) -> None:
        """Put a node in the queue of its zone, or take it out, by its Ready as it was found."""
        name, queue = node.meta.name, self._queues[zone_of(node)]
        if was == TRUE:
            await self._mark_reachable(node)
            return
        key = BY_READINESS.get(was, UNREACHABLE)
        other = UNREACHABLE if key == NOT_READY else NOT_READY
        if has_taint(node, other, NO_EXECUTE):
            # It has waited once. That it is now unreachable instead of not ready, or the other way
            # round, is no reason to wait again.
            await self._try_swap(name, was)
        elif not has_taint(node, key, NO_EXECUTE):
            queue.put(name)

    async def _try_swap(self, name: str, status: str) -> bool:
        try:
            await swap_taints(self.client, name, evicting(status))
        except ApiError:
            return False
        return True

    async def _mark_reachable(self, node: Node) -> None:
        """Take the NoExecute taints off a node, and the node out of the queue: it is ready, or all
        zones are down."""
        if any(has_taint(node, key, NO_EXECUTE) for key in BY_READINESS.values()):
            try:
                await swap_taints(self.client, node.meta.name, REACHABLE)
            except ApiError:
                self._news()
                return
        self._queues[zone_of(node)].remove(node.meta.name)

    async def _set_pods_not_ready(self, name: str) -> None:
        """Set Ready of each pod of a node to False: no kubelet says any more that it serves."""
        self._retry.pop(name, None)
        since_ms = whole_second(self.client.now())
        condition = to_tree(Condition("Ready", FALSE, since_ms=since_ms))
        for pod in self._pods.on(name):
            if not pod.is_ready:
                continue
            try:
                await patch_status(self.client, pod, [condition])
            except NotFound:
                continue
            except ApiError:
                self._retry[name] = None
                continue
            self.note(pod, "NodeNotReady", "Node is not ready", WARNING)

    # -- zones ----------------------------------------------------------------------------------

    async def _adjust(self, zones: dict[str, list[bool]]) -> None:
        """Set the pace of each zone by its state. If all are down, the fault is more likely here
        than with every node, so no node is emptied."""
        pace = self.settings.pace
        states = {zone: pace.state_of(is_ready) for zone, is_ready in zones.items()}
        for zone in [zone for zone in self._states if zone not in zones]:
            del self._states[zone], self._queues[zone]
        are_down = all(state == FULL for state in states.values())
        were_down = all(state == FULL for state in self._states.values())
        now_ms = self.client.elapsed()
        if are_down and were_down:
            return
        if are_down:
            for node in self._nodes.all():
                if zone_of(node) in self._queues:
                    await self._mark_reachable(node)
            for zone, queue in self._queues.items():
                queue.set_pace(None, now_ms)
                self._states[zone] = FULL
            return
        if were_down:
            # They were silent to this controller, which says nothing of how long they were silent.
            for name, health in self._health.items():
                if health.is_heard:
                    self._health[name] = attrs.evolve(health, probed_ms=now_ms)
        for zone, state in states.items():
            if were_down or state != self._states[zone]:
                self._queues[zone].set_pace(pace.in_state(state, len(zones[zone])), now_ms)
                self._states[zone] = state

    def _set_pass(self) -> None:
        """Let the queues move when the first of them may."""
        dues = [due_ms for queue in self._queues.values() if (due_ms := queue.due_ms()) is not None]
        self._passes.only_at(min(dues, default=None))

    async def _taint(self) -> None:
        while True:
            await self._passes.wait()
            for queue in list(self._queues.values()):
                while (name := queue.take(self.client.elapsed())) is not None:
                    node = self._nodes.get(name)
                    ready = None if node is None else ready_of(node)
                    if ready is None or ready.status == TRUE:
                        continue
                    if not await self._try_swap(name, ready.status):
                        queue.put(name)
            self._set_pass()


@attrs.frozen
class NodeLifecycle(KeyedController):
    """Taints nodes by how they are, and knows by their heartbeats whether they are there."""

    loop: ClassVar[type[ControlLoop]] = NodeLifecycleLoop

    name: str = "node-lifecycle"
    period_ms: int = attrs.field(default=5_000, validator=at_least(1))
    """How often it looks at all nodes."""
    startup_grace_ms: int = attrs.field(default=60_000, validator=at_least(0))
    """How long a new node may take to post its first status (CTL-31)."""
    pace: Pace = attrs.field(factory=Pace)
    """How fast the nodes of a zone are given NoExecute taints."""
