"""PartitionContext: the books of the core: nodes, queues, applications, and how they are kept."""

from __future__ import annotations

from collections.abc import Sequence

from actors.yunikorn.core.allocation import Allocation, Reservation
from actors.yunikorn.core.application import Application
from actors.yunikorn.core.node import CoreNode
from actors.yunikorn.core.queue import ROOT, CoreQueue, QueueSettings
from actors.yunikorn.messages import (
    STOPPED,
    AllocationRelease,
    AllocationRequest,
    NodeNews,
    ReleasedAllocation,
    ToShim,
)


class PartitionContext:
    """All that the core knows. The shim's messages change it here, a scheduling cycle elsewhere."""

    def __init__(self, queues: Sequence[QueueSettings] = ()) -> None:
        self._queues = queues
        root = next((each for each in queues if each.path == ROOT), QueueSettings(ROOT))
        self.root = CoreQueue(root)
        self.nodes: dict[str, CoreNode] = {}
        """By name."""
        self.apps: dict[str, Application] = {}
        """By id, in the order in which they were submitted."""
        self.foreign: dict[str, str] = {}
        """By the uid of a foreign pod, its node."""
        self.to_shim: list[ToShim] = []
        """The messages that the shim has not got yet, oldest first."""

    # -- what the shim tells --------------------------------------------------------------------

    def put_node(self, news: NodeNews) -> None:
        """A node is new, or has changed."""
        name = news.name
        if name in self.nodes:
            self.nodes[name].update(news)
        else:
            self.nodes[name] = CoreNode(news, available=news.room)

    def drop_node(self, name: str) -> None:
        """A node is gone, and all that was allocated there with it."""
        node = self.nodes.get(name)
        if node is None:
            return
        for key in list(node.reservations):
            self.unreserve(self.apps[node.reservations[key].app], key)
        for key, allocation in list(node.allocations.items()):
            self._remove(self.apps[allocation.request.app], key)
            self.to_shim.append(ReleasedAllocation(key, STOPPED, f"node {name} is gone"))
        for key in node.foreign:
            self.foreign.pop(key, None)
        del self.nodes[name]

    def put(self, request: AllocationRequest) -> None:
        """A pod asks for a node, or has one already: then it is booked, whether it fits or not."""
        if not request.app:
            self._put_foreign(request)
            return
        app = self._app_of(request)
        if request.key in app.allocations:
            return
        if request.node in self.nodes:
            self._forget_ask(app, request.key)
            self.book(app, Allocation(request), request.node)
        elif not request.node and request.key not in app.asks:
            app.asks[request.key] = Allocation(request)

    def release(self, release: AllocationRelease, app_id: str) -> None:
        """A pod is gone: so is its ask, or what it held (YK-30, YK-32)."""
        key = release.key
        if not app_id:
            node = self.nodes.get(self.foreign.pop(key, ""))
            if node is not None:
                node.remove_foreign(key)
            return
        app = self.apps.get(app_id)
        if app is None:
            return
        self._remove(app, key)
        # The reservation goes with the ask. YuniKorn says that it is released in the next pass,
        # but its code does both at once.
        self._forget_ask(app, key)

    # -- what a cycle does ----------------------------------------------------------------------

    def book(self, app: Application, ask: Allocation, node: str) -> None:
        """Give an ask its node."""
        app.asks.pop(ask.key, None)
        ask.node = node
        app.allocations[ask.key] = ask
        self.nodes[node].add(ask)
        app.queue.hold(ask.amounts)

    def reserve(self, app: Application, ask: Allocation, node: CoreNode, now_ms: int) -> None:
        """Keep a node for an ask."""
        is_required = bool(ask.request.required_node)
        made = Reservation(ask.key, ask.request.pod, app.id, node.name, now_ms, is_required)
        app.reservations[ask.key] = node.reservations[ask.key] = made

    def unreserve(self, app: Application, key: str) -> None:
        """Keep no node for an ask any more."""
        gone = app.reservations.pop(key, None)
        if gone is not None and gone.node in self.nodes:
            self.nodes[gone.node].reservations.pop(key, None)

    def mark_preempted(self, victim: Allocation) -> None:
        """Choose an allocation as a victim. It holds what it holds until its pod is gone, and is
        counted once, however often it is chosen (YK-28)."""
        if not victim.is_preempted:
            victim.is_preempted = True
            self.apps[victim.request.app].queue.preempt(victim.amounts)

    # -- looks ----------------------------------------------------------------------------------

    def reserved(self) -> list[str]:
        """The pods that have reserved a node, sorted."""
        apps = self.apps.values()
        return sorted(each.pod for app in apps for each in app.reservations.values())

    def in_queue(self, queue: CoreQueue) -> list[Application]:
        """The applications of a queue, in the order in which they were submitted."""
        return [app for app in self.apps.values() if app.queue is queue]

    def owners(self) -> set[str]:
        """The uids that own a pod which is allocated or asked for; only for lookups."""
        apps = self.apps.values()
        pods = [each for app in apps for each in (*app.asks.values(), *app.allocations.values())]
        return {uid for each in pods for uid in each.request.owners}

    def digest(self, now_ms: int) -> object:
        """All of it, with ages instead of times."""
        apps = [
            (app.id, sorted(app.asks), sorted(app.allocations),
             [(each.key, each.node, now_ms - each.created_ms)
              for _, each in sorted(app.reservations.items())])
            for app in self.apps.values()
        ]  # fmt: skip
        marks = [
            (each.key, each.is_preempted, each.has_triggered, each.has_workflow, each.releases,
             now_ms - each.request.created_ms)
            for app in self.apps.values()
            for each in (*app.asks.values(), *app.allocations.values())
        ]  # fmt: skip
        nodes = [(name, node.news.is_schedulable, node.available, sorted(node.foreign))
                 for name, node in sorted(self.nodes.items())]  # fmt: skip
        return apps, marks, nodes, list(self.to_shim)

    # -- within ---------------------------------------------------------------------------------

    def _app_of(self, request: AllocationRequest) -> Application:
        if request.app not in self.apps:
            queue = self.root.find(request.queue or f"{ROOT}.default", self._queues)
            self.apps[request.app] = Application(request.app, queue, len(self.apps))
        return self.apps[request.app]

    def _put_foreign(self, pod: AllocationRequest) -> None:
        if pod.node in self.nodes:
            self.nodes[pod.node].add_foreign(pod)
            self.foreign[pod.key] = pod.node

    def _forget_ask(self, app: Application, key: str) -> None:
        app.asks.pop(key, None)
        self.unreserve(app, key)

    def _remove(self, app: Application, key: str) -> None:
        gone = app.allocations.pop(key, None)
        if gone is None:
            return
        self.nodes[gone.node].remove(key)
        app.queue.give_back(gone.amounts)
        if gone.is_preempted:
            app.queue.preempted(gone.amounts)
