"""Handlers: what informers tell a scheduler, brought into its cache and its queue (SCH-4).

Pods with a node go to the cache, its own pods without one to the queue. They are two sets of
handlers of one informer, each of which sees a pod come when it begins to be one of its own, and go
when it ceases to be.
"""

from __future__ import annotations

from collections.abc import Callable

from actors.framework.cluster_events import (
    NODE_ADDED,
    NODE_DELETED,
    POD_ADDED,
    POD_DELETED,
    POD_UPDATED,
    change_of,
)
from actors.framework.podinfo import info_of
from actors.scheduler.cluster.cache import NotCached
from actors.scheduler.memory.books import Books
from actors.scheduler.memory.glance import may_suit
from actors.scheduler.queue.queued import May
from testbed.objects import Namespace, Node, Pod


def listen(books: Books) -> None:
    """Hear of everything from now on."""
    _Namespaces(books).listen()
    _Nodes(books).listen()
    _Assigned(books).listen()
    _Unassigned(books).listen()
    if books.failed is not None and books.evictions is not None:
        note = books.evictions.note
        books.failed.on(add=note, update=lambda _, new: note(new))
    heard = books.budgets_changed
    books.budgets.on(add=heard, update=heard, delete=heard)


class _Told:
    """What one set of handlers works on."""

    def __init__(self, books: Books) -> None:
        self.books = books

    def tell(self, told: Callable[[], object]) -> None:
        """Tell the cache; what does not fit what it knows is noted, and no more (SCH-37)."""
        try:
            told()
        except NotCached as error:
            self.books.client.record("not cached", why=str(error))


class _Namespaces(_Told):
    """Terms of affinity select namespaces by their labels."""

    def listen(self) -> None:
        self.books.namespaces.on(
            add=self.labelled, update=lambda _, new: self.labelled(new), delete=self.gone
        )

    def labelled(self, namespace: Namespace) -> None:
        known = self.books.cache.namespaces
        self.books.cache.namespaces = {**known, namespace.meta.name: namespace.meta.labels}

    def gone(self, namespace: Namespace) -> None:
        known = dict(self.books.cache.namespaces)
        known.pop(namespace.meta.name, None)
        self.books.cache.namespaces = known


class _Nodes(_Told):
    """A node that has come, or has become better in some way, is news (SCH-21)."""

    def listen(self) -> None:
        self.books.nodes.on(add=self.added, update=self.changed, delete=self.gone)

    def added(self, node: Node) -> None:
        self.books.cache.add_node(node)
        self.books.move(NODE_ADDED, self.may_suit(node))

    def changed(self, old: Node, new: Node) -> None:
        self.books.cache.update_node(new)
        event = change_of(old, new)
        if event is not None:
            self.books.move(event, self.may_suit(new))

    def gone(self, node: Node) -> None:
        self.tell(lambda: self.books.cache.remove_node(node))
        self.books.move(NODE_DELETED)

    def may_suit(self, node: Node) -> May:
        """Whether that node, with the pods on it, would do for a pod at first glance (SCH-23)."""
        info = self.books.cache.node(node.meta.name)
        return lambda pod: info is not None and may_suit(info_of(pod), info)


class _Assigned(_Told):
    """Pods that have a node, whosever they are (SCH-2)."""

    def listen(self) -> None:
        self.books.pods.on(add=self.told, update=self.changed, delete=self.gone)

    def told(self, pod: Pod) -> None:
        if pod.is_bound:
            self.added(pod)

    def changed(self, old: Pod, new: Pod) -> None:
        if not old.is_bound:
            self.told(new)
        elif not new.is_bound:
            self.removed(old)
        elif old.meta.uid != new.meta.uid:
            self.removed(old)
            self.added(new)
        else:
            self.tell(lambda: self.books.cache.update_pod(new))
            self.books.move(POD_UPDATED, self.helps(new))

    def gone(self, pod: Pod) -> None:
        """Of one that a list no longer shows nobody knows whether it has got a node since."""
        if pod.is_bound or self.books.pods.is_listing:
            self.removed(pod)

    def added(self, pod: Pod) -> None:
        self.tell(lambda: self.books.cache.add_pod(pod))
        self.books.move(POD_ADDED, self.helps(pod))

    def removed(self, pod: Pod) -> None:
        self.tell(lambda: self.books.cache.remove_pod(pod))
        self.books.move(POD_DELETED)

    def helps(self, pod: Pod) -> May:
        """Whether a pod must be near that one (SCH-24); few are ever asked."""
        known = self.books.cache

        def may(other: Pod) -> bool:
            info = known.get_pod(pod) or info_of(pod)
            near = info_of(other).affinity
            return any(term.matches(info, known.namespaces) for term in near)

        return may


class _Unassigned(_Told):
    """Pods that have no node yet, and are this scheduler's to give one (SCH-1)."""

    def listen(self) -> None:
        self.books.pods.on(add=self.told, update=self.changed, delete=self.gone)

    def is_ours(self, pod: Pod) -> bool:
        return not pod.is_bound and pod.spec.scheduler_name == self.books.pods_of

    def told(self, pod: Pod) -> None:
        if self.is_ours(pod):
            self.books.queue.add(pod, self.books.client.elapsed())
            self.books.settle()

    def changed(self, old: Pod, new: Pod) -> None:
        was_ours, is_ours = self.is_ours(old), self.is_ours(new)
        if was_ours and is_ours:
            self.updated(old, new)
        elif is_ours:
            self.told(new)
        elif was_ours:
            self.removed(old)

    def gone(self, pod: Pod) -> None:
        if self.is_ours(pod) or (
            self.books.pods.is_listing and pod.spec.scheduler_name == self.books.pods_of
        ):
            self.removed(pod)

    def updated(self, old: Pod, new: Pod) -> None:
        """One that was assumed meanwhile has left the queue. Of one that a list shows again as it
        was, no Cache tells (SCH-26)."""
        books = self.books
        if not books.cache.is_assumed(new):
            books.queue.update(old, new, books.client.elapsed())
            books.settle()

    def removed(self, pod: Pod) -> None:
        """One that waits for its permission gives back what it was assumed to take."""
        books = self.books
        books.queue.delete(pod)
        waiting = books.waiting.get(pod.meta.uid)
        if waiting is not None:
            waiting.reject("", "removed")
            books.move(POD_DELETED)
