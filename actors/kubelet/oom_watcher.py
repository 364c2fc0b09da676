"""OomWatcher: tells the kernel of a node how much memory there is, and hears what it kills.

Which pods die is up to the kernel (`oom.py`). The Lifecycle of a pod sleeps until the next time at
which its containers should do something, and cannot foresee that another pod takes the memory. So
each kill wakes the Lifecycle of its pod, as the event of a container that has died wakes a pod
worker. A Lifecycle that has woken by itself asks for the kill, so that what it writes can name it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actors.kubelet.lifecycle import Lifecycle
from actors.kubelet.oom import MEMORY, NodeMemory, OomKill
from actors.kubelet.runtime import Ooms, runtime_of
from actors.kubelet.runtime_client import ask_runtime
from actors.shared.recorder import Recorder
from testbed import Client, Operation
from testbed.objects import Node
from testbed.objects.event import WARNING
from testbed.turns.because import Because

SYSTEM_OOM = "SystemOOM"
"""The reason of the Event on the node."""


class OomWatcher:
    """Watches the kernel of one node, for one life of its kubelet."""

    def __init__(
        self,
        client: Client,
        node_name: str,
        system: int,
        pods: Mapping[str, Lifecycle],
        recorder: Recorder,
    ) -> None:
        self.system = system
        """How much memory is used beside pods."""
        self._client = client
        self._runtime = runtime_of(node_name)
        self._pods = pods
        self._recorder = recorder
        self._changed = client.queue("oom", idle=True)
        self._node: Node | None = None
        """The node, once the kernel was told of it."""
        self._seen = 0
        """How many kills it has heard of."""
        self._recorded = 0
        """How many it has recorded: at least as many."""
        self._records: dict[str, Because] = {}
        """By uid of a pod, the record of its last kill."""

    async def limit(self, node: Node | None) -> None:
        """Tell the kernel how much memory the node has, once; called before anything is started."""
        if self._node is None and node is not None and MEMORY in node.status.capacity:
            self._node = node
            await self._ask("limit", self.memory_of(node))

    def memory_of(self, node: Node) -> NodeMemory:
        """The memory of the node."""
        return NodeMemory(node.status.capacity[MEMORY].whole, self.system)

    def look_again(self) -> None:
        """Ask the kernel again: the runtime was asked to do something, so it may have killed at
        once, or will kill at another time."""
        if not len(self._changed):
            self._changed.put(None)

    async def run(self) -> None:
        """Hear of kills, and wait for the next one or for a change."""
        while True:
            found: Ooms = await self._ask("ooms")
            self._record(found)
            # A new life hears of all kills again: the log of the kernel is read from its beginning.
            for kill in found.kills[self._seen :]:
                self._hear(kill)
            self._seen = len(found.kills)
            waits = [self._changed.get()]
            if found.next_in_ms is not None:
                waits.append(self._client.sleep(found.next_in_ms, "out of memory"))
            await self._client.first(*waits)

    async def kill_of(self, uid: str) -> Because | None:
        """The record of the last kill of a pod; None if it was never killed."""
        self._record(await self._ask("ooms"))
        return self._records.get(uid)

    def _record(self, found: Ooms) -> None:
        """Record the kills that are new, and why it was these pods."""
        new, self._recorded = found.kills[self._recorded :], len(found.kills)
        for kill in new:
            pod = kill.pod
            self._records[pod.meta.uid] = self._client.record(
                "oom_killed", pod=pod.key, uid=pod.meta.uid, killed_ms=kill.at_ms,
                said=f"saw that the kernel had killed {pod.key}, out of memory: {kill.why}",
            )  # fmt: skip

    def _hear(self, kill: OomKill) -> None:
        """Wake the Lifecycle of the pod; and if the node ran out of memory, say so of the node."""
        pod, node = kill.pod, self._node
        if kill.is_system and node is not None:
            # Kubernetes also names the pid; processes have none here.
            message = f"System OOM encountered, victim process: {pod.meta.name}"
            self._recorder.note(node, SYSTEM_OOM, message, WARNING)
        lifecycle = self._pods.get(pod.meta.uid)
        if lifecycle is not None:
            lifecycle.wake()

    async def _ask(self, verb: str, body: Any = None) -> Any:
        operation = Operation(verb, body=body, endpoint=self._runtime)
        return await ask_runtime(self._client, operation)
