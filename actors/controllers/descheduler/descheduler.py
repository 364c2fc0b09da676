"""The descheduler: in each pass its strategies name pods, and it evicts them by the eviction API.

It never binds a pod: where an evicted one comes back is up to its owner and the scheduler. Each
strategy decides by what the Caches hold when it begins (`sight.py`). An eviction that is refused is
not tried again in that pass. A pass without news since one that found nothing is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

import attrs

from actors.controllers.descheduler.duplicates import duplicates
from actors.controllers.descheduler.low_utilization import low_utilization
from actors.controllers.descheduler.policy import (
    DUPLICATES,
    LOW_UTILIZATION,
    RESTARTS,
    VIOLATIONS,
    DeschedulerPolicy,
)
from actors.controllers.descheduler.restarts import restarts
from actors.controllers.descheduler.sight import Evictions, Sight
from actors.controllers.descheduler.violations import violations
from actors.controllers.frame.control_loop import ControlLoop, KeyedController
from actors.shared.looks import Looks
from actors.shared.settings import at_least
from actors.shared.verbs import evict
from testbed import ApiError, Client
from testbed.objects import Node, Pod, condition

STRATEGIES: Mapping[str, Callable[[Sight], Evictions]] = {
    DUPLICATES: duplicates,
    LOW_UTILIZATION: low_utilization,
    RESTARTS: restarts,
    VIOLATIONS: violations,
}
"""By name."""


class DeschedulerLoop(ControlLoop):
    """One life of it: when its next pass is, and whether that may find anything."""

    settings: Descheduler
    sight: ClassVar[type[Sight]] = Sight
    """How it sees the cluster."""

    def __init__(self, settings: Descheduler, client: Client) -> None:
        super().__init__(settings, client)
        self._passes = Looks(client, "pass", settings.interval_ms)
        self._pods = self.cache(Pod, reads=None)
        self._nodes = self.cache(Node, reads=None)
        for cache in self._caches:
            cache.on(add=self._news, update=self._news, delete=self._news)
        self._passes.at_once()

    def digest(self, now_ms: int) -> object:
        return self._passes.phase_ms(now_ms)

    def _news(self, *_: object) -> None:
        """There is something that the last pass did not know."""
        self._passes.soon()

    async def run(self) -> None:
        """Pass after pass."""
        await self.synced()
        while True:
            await self._passes.wait()
            nodes = [node for node in self._nodes.all() if _is_ready(node)]
            passing = _Pass(self, nodes)
            for name in self.settings.policy.strategies:
                await passing.run(name, self.sight(nodes, self._pods.all(), self.settings.policy))
            if passing.tried:
                self._news()


class _Pass:
    """One pass: how many pods it has evicted, of which nodes."""

    def __init__(self, loop: DeschedulerLoop, nodes: list[Node]) -> None:
        self._loop = loop
        self._policy = loop.settings.policy
        self._evicted = {node.meta.name: 0 for node in nodes}
        self.tried = 0
        """How many evictions it has asked for."""

    async def run(self, name: str, sight: Sight) -> None:
        """Evict what a strategy names, and tell it of each whether that was done."""
        strategy = STRATEGIES[name](sight)
        was_evicted: bool | None = None
        while True:
            try:
                pod = strategy.send(was_evicted)  # type: ignore[arg-type]
            except StopIteration:
                return
            was_evicted = not self._is_limited(pod) and await self._is_evicted(pod, name)

    def _is_limited(self, pod: Pod) -> bool:
        policy, here = self._policy, self._evicted[pod.spec.node_name]
        is_full = policy.max_total is not None and sum(self._evicted.values()) >= policy.max_total
        return is_full or (policy.max_per_node is not None and here >= policy.max_per_node)

    async def _is_evicted(self, pod: Pod, why: str) -> bool:
        self.tried += 1
        try:
            await evict(self._loop.client, pod)
        except ApiError as error:
            self._loop.client.record("not evicted", pod=pod.key, error=error.reason)
            return False
        self._evicted[pod.spec.node_name] += 1
        self._loop.client.record("evicted", pod=pod.key, node=pod.spec.node_name, strategy=why)
        self._loop.note(pod, why, f"pod eviction from {pod.spec.node_name} node by descheduler")
        return True


@attrs.frozen
class Descheduler(KeyedController):
    """Evicts pods, once in each interval, by its strategies."""

    loop: ClassVar[type[ControlLoop]] = DeschedulerLoop

    name: str = "descheduler"
    policy: DeschedulerPolicy = attrs.field(factory=DeschedulerPolicy)
    """Its strategies, and which pods none of them may evict."""
    interval_ms: int = attrs.field(default=300_000, validator=at_least(1))
    """The time between two passes."""


def _is_ready(node: Node) -> bool:
    """Whether a node counts: one that has never said that it is ready does, too."""
    ready = condition.find(node.status.conditions, "Ready")
    return ready is None or ready.is_true
