"""Digest: all that what a scheduler will do depends on, with no time but how far it is from now.

Two moments with equal digests go on alike. Left out is what only counts or tells: how often a pod
was taken beyond what still matters, when it first came, which Events were said of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from actors.scheduler.memory.books import Books
from actors.scheduler.queue.queued import QueuedPod

ATTEMPTS_MAX = 8
"""After so many a pod is left alone for as long as it ever is."""


def digest_of(books: Books, now_ms: int) -> list[object]:
    """Of its books: who waits where and since when, who is where, who was promised what."""
    return [*_queue(books, now_ms), *_cluster(books), *_under_way(books, now_ms)]


def _queue(books: Books, now_ms: int) -> Iterator[object]:
    yield "has news", books.queue.has_news
    for place, waiting in books.queue.waiting.items():
        yield place, [_told(queued, now_ms) for queued in waiting]


def _told(queued: QueuedPod, now_ms: int) -> object:
    return (
        queued.pod, now_ms - queued.since_ms, min(queued.attempts, ATTEMPTS_MAX),
        sorted(queued.refused_by), queued.is_gated,
    )  # fmt: skip


def _cluster(books: Books) -> Iterator[object]:
    """The order counts: of nodes, and of the pods on them."""
    for node in books.cache.nodes:
        pods = [(info.pod, books.cache.is_assumed(info.pod)) for info in node.pods]
        yield node.name, node.node, pods
    for name, infos in books.nominator.nominated.items():
        yield "nominated to", name, [info.pod for info in infos]


def _under_way(books: Books, now_ms: int) -> Iterator[object]:
    """The cycle that has not ended, those who wait for leave, what is to expire, the timers."""
    if books.in_hand is not None:
        yield "in hand", _told(books.in_hand, now_ms), books.last
    yield "wait for leave", list(books.waiting)
    yield "timers", books.phases(now_ms)
