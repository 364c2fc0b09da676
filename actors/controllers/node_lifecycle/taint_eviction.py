"""Taint eviction: deletes pods from nodes with NoExecute taints that they do not tolerate.

A pod that tolerates all of them, but one of them for a time only, is deleted when that time is over
(CTL-34). The time counts from when this program first noticed; if it restarts, from then. When the
taints are gone, nothing is deleted any more.

It goes by names: a pod is deleted by its name alone, as Kubernetes 1.26 does it. It tries five
times, and then not again before it has news of the pod or its node.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import attrs

from actors.controllers.frame.control_loop import ControlLoop, KeyedController
from actors.controllers.frame.pod_status import patch_status
from actors.controllers.node_lifecycle.pods_on_nodes import PodsOnNodes
from actors.shared.workqueue import Workqueue, is_done
from testbed import Client, Operation
from testbed.objects import Condition, Node, Pod, Taint, Toleration, condition
from testbed.objects.affinity import NO_EXECUTE
from testbed.objects.form import to_tree

TRIES, AGAIN_MS = 5, 10
DELETED = Condition(
    "DisruptionTarget", "True", "DeletionByTaintManager",
    "Taint manager: deleting due to NoExecute taint",
)  # fmt: skip


def stays_s(taints: Iterable[Taint], tolerations: Iterable[Toleration]) -> int | None:
    """How long a pod with these tolerations may stay on a node with these taints; None: for ever.
    Of all tolerations that match a taint, the shortest counts."""
    times: list[int | None] = []
    given = tuple(tolerations)
    for taint in (each for each in taints if each.effect == NO_EXECUTE):
        used = [each for each in given if each.tolerates(taint)]
        if not used:
            return 0
        times += [each.toleration_seconds for each in used]
    finite = [max(seconds, 0) for seconds in times if seconds is not None]
    return min(finite, default=None)


def _no_execute(node: Node) -> list[Taint]:
    """The NoExecute taints of a node."""
    return [taint for taint in node.spec.taints if taint.effect == NO_EXECUTE]


@attrs.frozen
class Stay:
    """A pod that is to be deleted at a time."""

    since_ms: int
    """When it was noticed first."""
    due_ms: int


class TaintLoop(ControlLoop):
    """One life of it: which pods are to be deleted, and when."""

    def __init__(self, settings: TaintEviction, client: Client) -> None:
        super().__init__(settings, client)
        self._stays: dict[str, Stay] = {}
        """By the key of a pod."""
        self._doomed = Workqueue(client, "doomed")
        self._due = client.alarm("due")
        self._nodes = self.cache(Node, reads=("spec.taints",))
        self._pods = self.cache(Pod, reads=("spec.node_name", "spec.tolerations"))
        self._by_node = PodsOnNodes(self._pods)
        self._nodes.on(add=self._node_heard, update=self._node_changed)
        self._pods.on(add=self._pod_heard, update=self._pod_changed, delete=self._pod_heard)

    async def run(self) -> None:
        """Judge what has changed; delete what is due in a task beside that."""
        self.client.spawn("clock", self._clock)
        self.client.spawn("deleter", self._delete_all)
        await super().run()

    def digest(self, now_ms: int) -> object:
        stays = frozenset(
            (key, stay.since_ms - now_ms, stay.due_ms - now_ms) for key, stay in self._stays.items()
        )
        return self.todo.digest(), stays, self._doomed.digest()

    # -- what it hears --------------------------------------------------------------------------

    def _node_heard(self, node: Node) -> None:
        if _no_execute(node):
            self.want(node)

    def _node_changed(self, old: Node, new: Node) -> None:
        if _no_execute(old) != _no_execute(new):
            self.want(new)

    def _pod_heard(self, pod: Pod) -> None:
        """Judge a pod, if it is one of those that are to go, or its node has NoExecute taints."""
        node = self._nodes.get(pod.spec.node_name) if pod.spec.node_name else None
        if pod.key in self._stays or (node is not None and _no_execute(node)):
            self.want(pod)

    def _pod_changed(self, old: Pod, new: Pod) -> None:
        before = (old.meta.uid, old.spec.node_name, old.spec.tolerations)
        if before != (new.meta.uid, new.spec.node_name, new.spec.tolerations):
            self._pod_heard(new)

    # -- what it decides ------------------------------------------------------------------------

    async def sync(self, key: str) -> None:
        """Judge one pod, or all pods of a node."""
        kind, _, name = key.partition("/")
        if kind == Node.plural:
            for pod in self._by_node.on(name):
                self._judge(pod)
        else:
            found = self._pods.get(name.partition("/")[2], name.partition("/")[0])
            if found is None or not found.spec.node_name:
                self._stays.pop(key, None)
            else:
                self._judge(found)
        self._set()

    def _judge(self, pod: Pod) -> None:
        """Work out when a pod is to be deleted, or that it is not."""
        node = self._nodes.get(pod.spec.node_name)
        taints = () if node is None else node.spec.taints
        time_s = stays_s(taints, pod.spec.tolerations)
        if time_s is None:
            self._stays.pop(pod.key, None)
            return
        now_ms, old = self.client.elapsed(), self._stays.get(pod.key)
        since_ms = now_ms if old is None else old.since_ms
        self._stays[pod.key] = self.stay(since_ms, time_s, now_ms)

    def stay(self, since_ms: int, time_s: int, now_ms: int) -> Stay:
        """How long a pod stays that tolerates the taints of its node for that time."""
        return Stay(since_ms, since_ms + 1000 * time_s if time_s else now_ms)

    # -- what it does ---------------------------------------------------------------------------

    def _set(self) -> None:
        due_ms = min((stay.due_ms for stay in self._stays.values()), default=None)
        self._due.set(None if due_ms is None else due_ms - self.client.elapsed())

    async def _clock(self) -> None:
        while True:
            await self._due.wait()
            now_ms = self.client.elapsed()
            for key in [key for key, stay in self._stays.items() if stay.due_ms <= now_ms]:
                del self._stays[key]
                self._doomed.add(key)
            self._set()

    async def _delete_all(self) -> None:
        while True:
            key = await self._doomed.take()
            for _ in range(TRIES):
                if await is_done(self._delete(key)):
                    break
                await self.client.sleep(AGAIN_MS, f"again {key}")
            self._doomed.done(key)

    async def _delete(self, key: str) -> None:
        """Mark a pod and delete it."""
        _, namespace, name = key.split("/")
        client = self.client
        pod = await client.get(Pod, name, namespace)
        target = condition.having(pod.status.conditions, DELETED, client.now())
        if target != pod.status.conditions:
            self.note(pod, "TaintManagerEviction", f"Marking for deletion Pod {key}")
            new = (to_tree(each) for each in target if each.type == DELETED.type)
            await patch_status(client, pod, new)
        await client.ask(Operation("delete", "pods", name, namespace))


@attrs.frozen
class TaintEviction(KeyedController):
    """Deletes the pods that a NoExecute taint drives out. Kubernetes runs it beside the node
    lifecycle controller, newer versions as a controller of its own."""

    loop: ClassVar[type[ControlLoop]] = TaintLoop

    name: str = "taint-eviction"
