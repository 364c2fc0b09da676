"""Handlers: bring what the informers tell into the cache and the queue (SCH-4).

Pods that have a node go to the cache; the scheduler's own pods without one go to the queue. Each of
the two sees a pod added when it first matches, and deleted when it no longer does, as by a
FilteringResourceEventHandler.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from actors.framework.cluster_events import (
    NODE_ADDED,
    NODE_CONDITIONS,
    NODE_DELETED,
    POD_ADDED,
    POD_DELETED,
    POD_UPDATED,
    change_of,
)
from actors.framework.podinfo import info_of
from actors.scheduler.cluster.cache import NotCached
from actors.scheduler.memory.books import Books
from actors.scheduler.memory.pre_check import may_suit
from actors.scheduler.queue.queued import May
from testbed.objects import Namespace, Node, Pod

T = TypeVar("T")


def listen(books: Books) -> None:
    """Add all handlers to the informers."""
    _Namespaces(books).listen()
    _Nodes(books).listen()
    _Pods(books).listen()
    informers, evictions = books.informers, books.beliefs.evictions
    if informers.failed is not None and evictions is not None:
        note = evictions.note
        informers.failed.on(add=note, update=lambda _, new: note(new))
    changed = informers.budgets_changed
    informers.budgets.on(add=changed, update=changed, delete=changed)


class _Handlers:
    """What every set of handlers works on."""

    def __init__(self, books: Books) -> None:
        self.books = books
        self.informers = books.informers
        self.cache = books.beliefs.cache

    def change_cache(self, change: Callable[[T], object], item: T) -> None:
        """Change the cache. If that contradicts what it holds, only record it (SCH-37)."""
        try:
            change(item)
        except NotCached as error:
            self.contradicted(error)

    def contradicted(self, error: NotCached) -> None:
        """Record that a change contradicts what the cache holds."""
        self.books.client.record("not cached", why=str(error))


class _Namespaces(_Handlers):
    """Keeps the labels of namespaces: affinity terms may select by them."""

    def listen(self) -> None:
        self.informers.namespaces.on(
            add=self.set_labels, update=lambda _, new: self.set_labels(new), delete=self.on_delete
        )

    def set_labels(self, namespace: Namespace) -> None:
        known = self.cache.namespaces
        self.cache.namespaces = {**known, namespace.meta.name: namespace.meta.labels}

    def on_delete(self, namespace: Namespace) -> None:
        known = dict(self.cache.namespaces)
        known.pop(namespace.meta.name, None)
        self.cache.namespaces = known


class _Nodes(_Handlers):
    """A new node, or one that has improved in some way, is an event for the queue (SCH-21)."""

    def __init__(self, books: Books) -> None:
        super().__init__(books)
        self.heeds_all = books.switches.node_events == "all"
        """Whether an update that improves nothing is an event, too."""

    def listen(self) -> None:
        self.informers.nodes.on(add=self.on_add, update=self.on_update, delete=self.on_delete)

    def on_add(self, node: Node) -> None:
        self.cache.add_node(node)
        self.books.move(NODE_ADDED, self.may_suit(node))

    def on_update(self, old: Node, new: Node) -> None:
        self.cache.update_node(new)
        event = change_of(old, new)
        if event is None and self.heeds_all:
            event = NODE_CONDITIONS
        if event is not None:
            self.books.move(event, self.may_suit(new))

    def on_delete(self, node: Node) -> None:
        self.change_cache(self.cache.remove_node, node)
        self.books.move(NODE_DELETED)

    def may_suit(self, node: Node) -> May:
        """Whether that node, with its pods, may suit a pod at first glance (SCH-23)."""
        info = self.cache.node(node.meta.name)
        return lambda pod: info is not None and may_suit(info_of(pod), info)


class _Pods(_Handlers):
    """Pods that have a node, of any scheduler, go to the cache (SCH-2). Pods that have none and are
    this scheduler's to place go to the queue (SCH-1)."""

    # In Kubernetes these are two sets of handlers, which hear of each change one after the other.
    # No pod is of both sets at once, so here one set does what the two would do, in their order.

    def __init__(self, books: Books) -> None:
        super().__init__(books)
        self.nominator = books.beliefs.nominator
        self.heeds_all = books.switches.nominations == "all"
        """Whether the nominations of other schedulers' pods count, too (SCH-109)."""
        self.tells_others = books.switches.requeue_others_on_nnn_clear
        """Whether the end of a nomination is an event for other pods."""

    def listen(self) -> None:
        self.informers.pods.on(add=self.on_add, update=self.on_update, delete=self.on_delete)

    def is_ours(self, pod: Pod) -> bool:
        """Whether that pod, which has no node, is this scheduler's to place."""
        return pod.spec.scheduler_name == self.books.pods_of

    def on_add(self, pod: Pod) -> None:
        if pod.spec.node_name:
            self.add(pod)
        elif self.is_ours(pod):
            self.enqueue(pod)
        elif self.heeds_all:
            self.nominator.nominate(pod)

    def on_update(self, old: Pod, new: Pod) -> None:
        was_bound, is_bound = bool(old.spec.node_name), bool(new.spec.node_name)
        if was_bound and is_bound:
            if old.meta.uid == new.meta.uid:
                try:
                    self.cache.update_pod(new)
                except NotCached as error:
                    self.contradicted(error)
                self.books.move(POD_UPDATED, partial(self.may_be_near, new))
                return
            # The pod was deleted and created again while the watch was broken.
            self.remove(old)
            self.add(new)
            return
        if was_bound:
            self.remove(old)
        elif is_bound:
            self.add(new)
        was_ours = not was_bound and self.is_ours(old)
        is_ours = not is_bound and self.is_ours(new)
        if was_ours and is_ours:
            self.update(old, new)
        elif is_ours:
            self.enqueue(new)
        elif was_ours:
            self.dequeue(old)
        elif self.heeds_all and not was_bound:
            self.heed(old, new)

    def on_delete(self, pod: Pod) -> None:
        # A pod that has disappeared between two lists is shown as it was last known. It may have
        # been bound since, or be assumed here: so it is removed even if that shows no node.
        is_bound, is_listing = bool(pod.spec.node_name), self.informers.pods.is_listing
        if is_bound or is_listing:
            self.remove(pod)
        if (not is_bound or is_listing) and self.is_ours(pod):
            self.dequeue(pod)
        elif self.heeds_all and not is_bound:
            self.nominator.drop(pod)
            self.nomination_ended(pod)

    def heed(self, old: Pod, new: Pod) -> None:
        """Go by the nomination of a pod that is another scheduler's, until it has a node."""
        is_bound = bool(new.spec.node_name)
        if is_bound:
            self.nominator.drop(old)
        else:
            self.nominator.update(old, new)
        if is_bound or self.nominator.said(old) != self.nominator.said(new):
            self.nomination_ended(old)

    # -- pods that have a node ------------------------------------------------------------------

    def add(self, pod: Pod) -> None:
        self.change_cache(self.cache.add_pod, pod)
        self.books.move(POD_ADDED, partial(self.may_be_near, pod))

    def remove(self, pod: Pod) -> None:
        self.change_cache(self.cache.remove_pod, pod)
        self.books.move(POD_DELETED)

    def may_be_near(self, pod: Pod, other: Pod) -> bool:
        """The pre-check of a queued pod, `other`: whether it has a required affinity to the first
        (SCH-24)."""
        cache = self.cache
        info = cache.get_pod(pod) or info_of(pod)
        affinity = info_of(other).affinity
        return any(term.matches(info, cache.namespaces) for term in affinity)

    # -- its own pods that have none ------------------------------------------------------------

    def enqueue(self, pod: Pod) -> None:
        now_ms = self.books.client.elapsed()
        self.books.beliefs.queue.add(pod, now_ms)
        self.books.queue_changed(now_ms)

    def update(self, old: Pod, new: Pod) -> None:
        """Update it in the queue; an assumed pod has left the queue already. There is no call for a
        pod that a new list shows unchanged (SCH-26)."""
        books = self.books
        if not self.cache.is_assumed(new):
            now_ms = books.client.elapsed()
            books.beliefs.queue.update(old, new, now_ms)
            books.queue_changed(now_ms)
            if self.nominator.said(old) != self.nominator.said(new):
                self.nomination_ended(old)

    def dequeue(self, pod: Pod) -> None:
        """Remove it from the queue. If it waits for Permit plugins, reject it, so that its binding
        task gives back the room it was assumed to take."""
        books = self.books
        books.beliefs.queue.delete(pod)
        waiting = books.beliefs.waiting.get(pod.meta.uid)
        if waiting is not None:
            waiting.reject("", "removed")
            books.move(POD_DELETED)
        else:
            self.nomination_ended(pod)

    def nomination_ended(self, old: Pod) -> None:
        """A pod that was nominated as `old` is not so any more. Pods that are not more important
        had to leave room for it: to them it is as if a pod was deleted there."""
        if self.tells_others and self.nominator.said(old):
            self.books.move(POD_DELETED, lambda pod: pod.priority <= old.priority)
