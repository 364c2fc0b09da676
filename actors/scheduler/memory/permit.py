"""Permit: an assumed pod that waits until Permit plugins allow its bind."""

from __future__ import annotations

from collections.abc import Mapping

from actors.scheduler.plugins import Rejected
from testbed import Client
from testbed.objects import Pod


class PermitWait:
    """A pod that is bound once each of these plugins has allowed it, and not if one rejects it."""

    def __init__(self, client: Client, pod: Pod, node: str, timeouts_ms: Mapping[str, int]) -> None:
        self.pod = pod
        self.node = node
        self._client = client
        now_ms = client.elapsed()
        self._due_ms = {plugin: now_ms + ms for plugin, ms in timeouts_ms.items()}
        """The plugins that have not allowed it yet, each with the time when it is too late."""
        self._timeouts_ms = timeouts_ms
        self._rejected: Rejected | None = None
        self._settled = client.signal(f"permit-{pod.meta.name}")

    def allow(self, plugin: str) -> None:
        """That plugin allows the bind. The last one to do so lets the pod go."""
        self._due_ms.pop(plugin, None)
        if not self._due_ms:
            self._settled.set()

    def reject(self, plugin: str, said: str) -> None:
        """Reject the pod; nothing happens if it was allowed or rejected before."""
        if self._due_ms and self._rejected is None:
            self._rejected = Rejected(said)
            self._settled.set()

    async def settled(self) -> Rejected | None:
        """Wait until all plugins have allowed the pod, or one has rejected it. A plugin that is too
        late rejects it."""
        while self._due_ms and self._rejected is None:
            due_ms, plugin = min((due_ms, plugin) for plugin, due_ms in self._due_ms.items())
            left_ms = due_ms - self._client.elapsed()
            if left_ms <= 0:
                after = f"{self._timeouts_ms[plugin]} ms at plugin {plugin}"
                self.reject(plugin, f"rejected due to timeout after waiting {after}")
            else:
                timer = self._client.sleep(left_ms, f"permit {self.pod.key}")
                await self._client.first(self._settled.wait(), timer)
        return self._rejected
