"""ShimContext: what the shim knows of pods and nodes, and what it tells the core of them.

1. When all Caches have listed, the nodes are registered, closed; then all pods, the oldest first;
   then the nodes are opened. Until the core has heard all of that, it runs no cycle.
2. From then on each change is told in the turn in which it is heard.
"""

from __future__ import annotations

from collections.abc import Callable

from actors.yunikorn.messages import AllocationRelease, NodeNews
from actors.yunikorn.shim.core_line import CoreLine
from actors.yunikorn.shim.pods import (
    BOUND,
    READS,
    SCHEDULING,
    ShimTask,
    app_of,
    is_over,
    request_for,
)
from testbed import Cache, Client
from testbed.objects import Node, Pod, PriorityClass, room_of

NODE_READS = ("meta.labels", "spec", "status.allocatable")
CLASS_READS = ("meta.annotations",)


class ShimContext:
    """The memory of one life of the shim."""

    def __init__(self, client: Client, line: CoreLine) -> None:
        self._line = line
        self._is_live = False
        """Whether changes are told already."""
        self.tasks: dict[str, ShimTask] = {}
        """By uid, the pods of YuniKorn that are not over."""
        self._originators: dict[str, str] = {}
        """By application, the uid of its first pod."""
        self._foreign: dict[str, Pod] = {}
        """By uid, the pods that other schedulers have placed."""
        self._pods = Cache(client, Pod, reads=READS)
        self._pods.on(add=self._pod_added, update=self._pod_changed, delete=self._pod_deleted)
        self._nodes = Cache(client, Node, reads=NODE_READS)
        self._nodes.on(add=self._node_added, update=self._node_changed, delete=self._node_gone)
        self._classes = Cache(client, PriorityClass, reads=CLASS_READS)

    async def synced(self) -> None:
        """Wait until all Caches have listed."""
        for cache in (self._pods, self._nodes, self._classes):
            await cache.synced()

    def begin(self, reached: Callable[[], None]) -> None:
        """Tell the core all there is; `reached` is called when it has heard that."""
        self._is_live = True
        nodes = self._nodes.all()
        for node in nodes:
            self._tell_node(node, is_open=False)
        for pod in sorted(self._pods.all(), key=lambda each: each.meta.created_ms or 0):
            self._heed(pod)
        for node in nodes:
            self._tell_node(node)
        self._line.mark(reached)

    def submit(self, task: ShimTask) -> None:
        """Ask the core for a node for a pod, or tell it which one the pod has."""
        classes = self._classes.all()
        request = request_for(task.pod, task.app, is_originator=task.is_originator, classes=classes)
        self._line.tell("submit", "pods", task.pod.key, request)

    def release(self, task: ShimTask) -> None:
        """Tell the core that an ask or allocation is over (YK-30)."""
        body = AllocationRelease(task.key, task.why)
        self._line.tell("release", "pods", task.pod.key, body, app=task.app)

    def lost(self, task: ShimTask) -> None:
        """The node of a pod went, and its allocation with it. If the pod is bound, the node may be
        back already, and the core is told where the pod is."""
        task.node = task.pod.spec.node_name
        if task.node:
            self.submit(task)

    def place_again(self, task: ShimTask) -> None:
        """Give up the place of a pod that cannot be bound, and ask for another."""
        self.release(task)
        task.state, task.node = SCHEDULING, ""
        self.submit(task)

    # -- pods -----------------------------------------------------------------------------------

    def _pod_added(self, pod: Pod) -> None:
        if self._is_live:
            self._heed(pod)

    def _pod_changed(self, old: Pod, new: Pod) -> None:
        if self._is_live and old.meta.uid != new.meta.uid:
            self._pod_deleted(old)
        self._pod_added(new)

    def _pod_deleted(self, pod: Pod) -> None:
        if self._is_live:
            self._complete(pod)

    def _heed(self, pod: Pod) -> None:
        """Tell the core what is new of a pod."""
        if is_over(pod):
            self._complete(pod)
        elif not (app := app_of(pod)):
            self._heed_foreign(pod)
        elif (task := self.tasks.get(pod.meta.uid)) is not None:
            task.pod = pod
            self._heed_bound(task)
        elif not pod.spec.scheduling_gates:
            first = self._originators.setdefault(app, pod.meta.uid)
            task = ShimTask(pod, app, is_originator=first == pod.meta.uid)
            if pod.spec.node_name:
                task.state, task.node = BOUND, pod.spec.node_name
            self.tasks[pod.meta.uid] = task
            self.submit(task)

    def _heed_bound(self, task: ShimTask) -> None:
        """A pod may be bound, though the shim has not heard of it, or by somebody else."""
        node = task.pod.spec.node_name
        if node and task.state != BOUND:
            is_elsewhere = task.node != node
            if is_elsewhere and task.node:
                self.release(task)
            task.state, task.node = BOUND, node
            if is_elsewhere:
                self.submit(task)

    def _heed_foreign(self, pod: Pod) -> None:
        """A pod of another scheduler takes room once it is bound (YK-1)."""
        if pod.spec.node_name and pod.meta.uid not in self._foreign:
            self._foreign[pod.meta.uid] = pod
            self._line.tell("submit", "pods", pod.key, request_for(pod, ""))

    def _complete(self, pod: Pod) -> None:
        """A pod is over, or gone."""
        task = self.tasks.pop(pod.meta.uid, None)
        if task is not None:
            self.release(task)
            if not any(each.app == task.app for each in self.tasks.values()):
                del self._originators[task.app]
        elif self._foreign.pop(pod.meta.uid, None) is not None:
            body = AllocationRelease(pod.meta.uid)
            self._line.tell("release", "pods", pod.key, body, app="")

    # -- nodes ----------------------------------------------------------------------------------

    def _node_added(self, node: Node) -> None:
        """A node has come, or come back, with the pods that are bound to it."""
        if not self._is_live:
            return
        self._tell_node(node)
        for task in self.tasks.values():
            if task.pod.spec.node_name == node.meta.name:
                self.submit(task)
        for pod in self._foreign.values():
            if pod.spec.node_name == node.meta.name:
                self._line.tell("submit", "pods", pod.key, request_for(pod, ""))

    def _node_changed(self, old: Node, new: Node) -> None:
        if self._is_live:
            self._tell_node(new)

    def _node_gone(self, node: Node) -> None:
        if self._is_live:
            self._line.tell("drop_node", "nodes", node.meta.name)

    def _tell_node(self, node: Node, *, is_open: bool = True) -> None:
        meta, spec = node.meta, node.spec
        is_schedulable = is_open and not spec.unschedulable
        news = NodeNews(meta.name, room_of(node), meta.labels, spec.taints, is_schedulable)
        self._line.tell("put_node", "nodes", node.meta.name, news)

    def digest(self) -> object:
        """What it knows beside its Caches."""
        tasks = [(each.key, each.state, each.node, each.why) for each in self.tasks.values()]
        return self._is_live, tasks, list(self._originators.items()), list(self._foreign)
