"""Pod GC: removes pods that nothing else removes (CTL-40).

Every 20 s it looks at all pods, by its Caches, and deletes without grace:

1. the oldest pods that have ended, evicted ones first, if there are more than its threshold;
2. terminating pods on nodes that are not ready and have the taint `out-of-service`;
3. pods on nodes that do not exist. Such a node waits in quarantine for 40 s, and then the server is
   asked for it: a Cache may hear of pods before it hears of their node;
4. terminating pods that have no node.

A pod that had not ended is set to Failed first. A look from which nothing can follow is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import attrs

from actors.controllers.frame.control_loop import ControlLoop, KeyedController
from actors.controllers.frame.pod_status import patch_status
from actors.shared.looks import Looks
from actors.shared.settings import at_least
from testbed import ApiError, Client, NotFound, Operation
from testbed.objects import Condition, Map, Node, Pod, condition
from testbed.objects.form import to_tree
from testbed.objects.pod import FAILED

OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
ORPHANED = Condition("DisruptionTarget", "True", "DeletionByPodGC", "PodGC: node no longer exists")


class PodGCLoop(ControlLoop):
    """One life of it: the nodes in quarantine, and when it looks again."""

    settings: PodGC

    def __init__(self, settings: PodGC, client: Client) -> None:
        super().__init__(settings, client)
        self._looks = Looks(client, "look", settings.period_ms)
        self._looks.at_once()
        self._quarantine: dict[str, int] = {}
        """By the name of a node that is missing, when its quarantine ends."""
        self._pods = self.cache(Pod, reads=None)
        self._nodes = self.cache(Node, reads=None)
        self._pods.on(add=self._heard, update=lambda _, new: self._heard(new))
        self._nodes.on(update=lambda *_: self._looks.soon(), delete=lambda _: self._looks.soon())

    def digest(self, now_ms: int) -> object:
        quarantine = [(name, due_ms - now_ms) for name, due_ms in self._quarantine.items()]
        return self._looks.phase_ms(now_ms), quarantine

    def _heard(self, pod: Pod) -> None:
        """Look soon if a look may do something about this pod."""
        is_lost = bool(pod.spec.node_name) and self._nodes.get(pod.spec.node_name) is None
        if is_lost or pod.is_over or pod.meta.is_terminating:
            self._looks.soon()

    async def run(self) -> None:
        """Look, and look again when there may be something to do."""
        await self.synced()
        while True:
            await self._looks.wait()
            pods = self._pods.all()
            nodes = {node.meta.name: node for node in self._nodes.all()}
            for pod in (*self._surplus(pods), *_out_of_service(pods, nodes)):
                await self._remove(pod)
            for pod in await self._orphans(pods, nodes):
                await self._remove(pod, ORPHANED)
            for pod in pods:
                if pod.meta.is_terminating and not pod.spec.node_name:
                    await self._remove(pod)
            if self._quarantine:
                self._looks.soon(min(self._quarantine.values()))

    def _surplus(self, pods: Iterable[Pod]) -> list[Pod]:
        """The pods that have ended and are too many: evicted ones first, then the oldest."""
        over = [pod for pod in pods if pod.is_over]
        count = len(over) - self.settings.terminated_max
        if self.settings.terminated_max <= 0 or count <= 0:
            return []
        return sorted(over, key=_worth)[:count]

    async def _orphans(self, pods: Iterable[Pod], nodes: dict[str, Node]) -> list[Pod]:
        """The pods whose node is missing, has been so for long, and is not there."""
        now_ms = self.client.elapsed()
        bound = [pod for pod in pods if pod.spec.node_name]
        for pod in bound:
            if pod.spec.node_name not in nodes:
                due_ms = now_ms + self.settings.quarantine_ms
                self._quarantine.setdefault(pod.spec.node_name, due_ms)
        deleted: dict[str, None] = {}
        for name in [name for name, due_ms in self._quarantine.items() if due_ms <= now_ms]:
            del self._quarantine[name]
            if name not in nodes and await self.is_gone(name):
                deleted[name] = None
        return [pod for pod in bound if pod.spec.node_name in deleted]

    async def is_gone(self, node: str) -> bool:
        """Whether the server says that there is no such node."""
        try:
            await self.client.get(Node, node, "")
        except NotFound:
            return True
        except ApiError:
            self._looks.soon()
        return False

    async def _remove(self, pod: Pod, why: Condition | None = None) -> None:
        """Set a pod to Failed if it has not ended, and delete it, by its name alone."""
        client, meta = self.client, pod.meta
        try:
            if not pod.is_over:
                conditions = () if why is None else condition.having((), why, client.now())
                await patch_status(client, pod, map(to_tree, conditions), phase=FAILED)
            await client.ask(
                Operation("delete", "pods", meta.name, meta.namespace, options=Map(grace_s=0))
            )
        except NotFound:
            return
        except ApiError as error:
            client.record("failed", item=pod.key, error=error.reason)
            self._looks.soon()


@attrs.frozen
class PodGC(KeyedController):
    """Removes pods of nodes that are gone, and old pods that have ended."""

    loop: ClassVar[type[ControlLoop]] = PodGCLoop

    name: str = "pod-gc"
    period_ms: int = attrs.field(default=20_000, validator=at_least(1))
    """How often it looks."""
    quarantine_ms: int = attrs.field(default=40_000, validator=at_least(0))
    """How long a node must be missing before the server is asked for it."""
    terminated_max: int = attrs.field(default=12_500, validator=at_least(0))
    """How many pods that have ended are kept; 0: all of them."""


def _worth(pod: Pod) -> tuple[bool, int, str, str]:
    """The order in which pods that have ended are removed."""
    is_evicted = pod.status.phase == FAILED and pod.status.reason == "Evicted"
    return not is_evicted, pod.meta.created_ms or 0, pod.meta.name, pod.meta.namespace


def _out_of_service(pods: Iterable[Pod], nodes: dict[str, Node]) -> list[Pod]:
    """The terminating pods on nodes that their operator has said will not come back."""
    lost = {name for name, node in nodes.items() if _is_out_of_service(node)}
    found = [pod for pod in pods if pod.meta.is_terminating and pod.spec.node_name in lost]
    return sorted(found, key=_worth)


def _is_out_of_service(node: Node) -> bool:
    ready = condition.find(node.status.conditions, "Ready")
    is_ready = ready is not None and ready.is_true
    return not is_ready and any(taint.key == OUT_OF_SERVICE for taint in node.spec.taints)
