"""Evictor: measures what pods use of its node, and evicts one when a resource runs short.

1. It looks every ten seconds, and evicts at most one pod each time (KUB-29).
2. It waits for that pod to end (`Lifecycle.kill`).
3. It checks every second, for half a minute, whether the pod is cleaned up. Then it looks again.

While nothing is short and nothing can change by itself, a look finds nothing new. Such looks
are left out; the others keep their times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from actors.kubelet.ending import EVICTED, PodEnding
from actors.kubelet.eviction.choice import Evicting, choice_of
from actors.kubelet.eviction.look import EvictionState, Look, is_reclaimed, look
from actors.kubelet.eviction.settings import EvictionSettings
from actors.kubelet.eviction.signals import (
    DISK,
    INODES,
    MEMORY,
    PIDS,
    Observation,
    PodUse,
    measured,
)
from actors.kubelet.lifecycle import Lifecycle
from actors.kubelet.meter import Stats
from actors.kubelet.runtime import runtime_of
from actors.kubelet.runtime_client import ask_runtime
from actors.kubelet.switches import ONE_S, OWN
from actors.kubelet.usage import usage_texts
from actors.shared.recorder import Recorder
from testbed import Client, Operation
from testbed.objects import Node, Pod
from testbed.objects.event import WARNING

CLEAN_UP_MS, POLL_MS = 30_000, 1000


class Evictor:
    """Keeps one node from running short, for one life of its kubelet."""

    def __init__(
        self,
        client: Client,
        settings: EvictionSettings,
        node_name: str,
        node: Callable[[], Node | None],
        pods: Mapping[str, Lifecycle],
        recorder: Recorder,
    ) -> None:
        self.settings = settings
        self.state = EvictionState()
        """What it remembers from look to look."""
        self.changed = client.queue("pressure", idle=True)
        """Has an item when the conditions of the node have changed, for its status."""
        self._client = client
        self._runtime = runtime_of(node_name)
        self._node = node
        self._pods = pods
        self._recorder = recorder
        self._looked_ms = 0
        self._is_pausing = False
        """Whether it waits for its next look, which needs only the last one's place in a period."""
        self._stats: Stats | None = None
        self._news = client.queue("usage", idle=True)
        client.show("eviction", self)

    def digest(self, now_ms: int) -> object:
        """What it remembers, with times as distances from now."""
        stats = self._stats
        change_in_ms = None if stats is None else stats.change_in_ms
        looked_ms = now_ms - self._looked_ms
        if self._is_pausing:
            looked_ms %= self.settings.every_ms
        state = self.state.digest(now_ms, self.settings.transition_ms)
        return state, looked_ms, change_in_ms

    @property
    def pressures(self) -> tuple[str, ...]:
        """The conditions of the node that are True."""
        return self.state.pressures

    @property
    def active(self) -> list[str]:
        """The uids of the pods that it may choose from."""
        return [uid for uid, each in self._pods.items() if each.holds_room]

    def heard(self, pod: Pod) -> None:
        """A pod was admitted whose usage may change; called by the main loop of the kubelet."""
        if usage_texts(pod) and not len(self._news):
            self._news.put(None)

    async def run(self) -> None:
        """Look, evict, look again."""
        while True:
            chosen = await self.look()
            if chosen is None:
                self._is_pausing = True
                await self._pause()
                self._is_pausing = False
            else:
                await self.evict(chosen)

    # -- one look -------------------------------------------------------------------------------

    async def look(self) -> Evicting | None:
        """Measure, remember, and say which pod is to be evicted; None: none."""
        now_ms = self._looked_ms = self._client.elapsed()
        node = self._node()
        if node is None:
            return None
        stats = self._stats = await self._ask("stats")
        seen = self._seen(node, stats)
        before = self.state
        found = self.made_of(seen, now_ms)
        self.state = found.state
        if found.state.pressures != before.pressures and not len(self.changed):
            self.changed.put(None)
        if before.first_ms or before.met or found.state.first_ms or found.state.pressures:
            self._client.record("looked", pressures=list(found.state.pressures))
        if not found.acting or await self._has_collected(found, node):
            return None
        return self.choice(found, self._uses(stats), seen)

    def made_of(self, seen: Mapping[str, Observation], now_ms: int) -> Look:
        """What follows from one measurement."""
        return look(self.settings, self.state, seen, now_ms)

    def choice(
        self, found: Look, uses: list[PodUse], seen: Mapping[str, Observation]
    ) -> Evicting | None:
        """Which pod is evicted."""
        return choice_of(found, uses, seen, self.settings, self._client.switches)

    async def _has_collected(self, found: Look, node: Node) -> bool:
        """Before a pod goes for the disk, images do; whether that suffices (KUB-31)."""
        if found.acting[0].resource not in (DISK, INODES):
            return False
        await self._ask("collect")
        stats = self._stats = await self._ask("stats")
        return is_reclaimed(self.settings, self._seen(node, stats))

    def _seen(self, node: Node, stats: Stats) -> dict[str, Observation]:
        """The signals now."""
        settings = self.settings
        capacity = {name: amount.whole for name, amount in node.status.capacity.items()}
        capacity |= {PIDS: settings.pids, INODES: settings.inodes}
        pods = {name: stats.total(name) for name in (MEMORY, DISK, INODES, PIDS)}
        system = {name: amount.whole for name, amount in settings.system.items()}
        taken = {name: used + system.get(name, 0) for name, used in pods.items()}
        taken[DISK] += stats.images
        has = capacity.get(MEMORY, 0)
        room = node.status.allocatable.get(MEMORY)
        allocatable = settings.allocatable(has if room is None else room.whole, has)
        return measured(capacity, taken, pods, allocatable, self._looked_ms)

    def _uses(self, stats: Stats) -> list[PodUse]:
        """The active pods by name, and what they use: a pod without containers has no statistics,
        and is the first to go."""
        active = [(each.pod.key, uid, each.pod) for uid, each in self._pods.items()
                  if each.holds_room]  # fmt: skip
        found = []
        for _, uid, pod in sorted(active, key=lambda each: each[:2]):
            used = stats.pods.get(uid)
            found.append(PodUse(pod, None if used is None else used.amounts))
        return found

    # -- one eviction ---------------------------------------------------------------------------

    async def evict(self, chosen: Evicting) -> None:
        """End the pod, and wait until it is cleaned up."""
        client, pod = self._client, chosen.pod
        because = client.record(
            "evicting", pod=pod.key, uid=pod.meta.uid, resource=chosen.resource,
            message=chosen.message, said=f"evicted {pod.key}: {chosen.message.strip(' .')}",
        )  # fmt: skip
        self._recorder.note(pod, EVICTED, chosen.message, WARNING)
        lifecycle = self._pods[pod.meta.uid]
        ending = PodEnding(EVICTED, chosen.message, chosen.message)
        await lifecycle.kill(ending, self._asked_s(chosen), self._grace_s(chosen), because)
        for _ in range(CLEAN_UP_MS // POLL_MS):
            await client.sleep(POLL_MS, "clean up")
            if lifecycle.stopped.is_set:
                return

    def _asked_s(self, chosen: Evicting) -> int:
        """The grace that it asks for."""
        is_one = chosen.is_hard and self._client.switches.hard_evict_grace == ONE_S
        return 1 if is_one else chosen.grace_s

    def _grace_s(self, chosen: Evicting) -> int | None:
        """The grace that comes of it: 0 is taken for none given, and then it is the pod's own,
        unless evictions are as documented (KUB-37)."""
        asked_s = self._asked_s(chosen)
        if asked_s:
            return asked_s
        return None if self._client.switches.hard_evict_grace in (OWN, ONE_S) else 0

    # -- from look to look ----------------------------------------------------------------------

    async def _pause(self) -> None:
        """Wait for the next look that can find anything new."""
        client, every_ms = self._client, self.settings.every_ms
        in_ms = self._next_change_ms()
        if in_ms is None:
            await self._news.get()
        elif in_ms <= every_ms:
            await client.sleep(every_ms, "look at usage")
            return
        else:
            aligned_ms = -(-in_ms // every_ms) * every_ms
            timer = client.sleep(aligned_ms, "look at usage")
            if (await client.first(self._news.get(), timer))[0] == 1:
                return
        phase_ms = (client.elapsed() - self._looked_ms) % every_ms
        await client.sleep(every_ms - phase_ms, "look at usage")

    def _next_change_ms(self) -> int | None:
        """How long until a look can find anything new; None: only news can bring it."""
        state, stats = self.state, self._stats
        if state.first_ms or state.met or stats is None:
            return 0
        starting = (
            each.holds_room and uid not in stats.pods and usage_texts(each.pod)
            for uid, each in self._pods.items()
        )  # fmt: skip
        if any(starting):
            return 0
        gone_ms = [
            state.observed_ms[name] + self.settings.transition_ms - self._looked_ms
            for name in state.pressures
        ]
        ahead = [in_ms for in_ms in (stats.change_in_ms, *gone_ms) if in_ms is not None]
        return min(ahead, default=None)

    async def _ask(self, verb: str) -> Any:
        return await ask_runtime(self._client, Operation(verb, endpoint=self._runtime))
