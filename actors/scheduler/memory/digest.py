"""Digest: all that a scheduler's further actions depend on, with times relative to now.

Two moments with equal digests go on alike: that is how a lap is found in an endless Run. Left out
is what only counts or informs: attempts beyond those that still change the backoff, when a pod was
first seen, which Events were written.
"""

from __future__ import annotations

from collections.abc import Iterator

from actors.scheduler.memory.books import Books
from actors.scheduler.memory.cycle_record import CycleRecord
from actors.scheduler.queue.queued import QueuedPod

ATTEMPTS_MAX = 8
"""After this many attempts the backoff grows no more."""


# What is missing here could differ between two moments that look equal, and a Run that makes
# progress would be taken for a lap. What is here without need (a count, an absolute time) differs
# in each lap, and none would ever be found. Hence times become distances, and counts have a limit.
def digest_of(books: Books, cycle: CycleRecord, now_ms: int) -> list[object]:
    """Which pods wait and since when, which pods are where, and which are nominated."""
    return [*_queue(books, now_ms), *_cluster(books), *_under_way(books, cycle, now_ms)]


def _queue(books: Books, now_ms: int) -> Iterator[object]:
    yield "news", books.beliefs.queue.news
    for place, waiting in books.beliefs.queue.waiting.items():
        yield place, [_queued(queued, now_ms) for queued in waiting]


def _queued(queued: QueuedPod, now_ms: int) -> object:
    return (
        queued.pod, now_ms - queued.since_ms, min(queued.attempts, ATTEMPTS_MAX),
        sorted(queued.refused_by), queued.is_gated,
    )  # fmt: skip


def _cluster(books: Books) -> Iterator[object]:
    """The order of the nodes, and of the pods on each, matters: it breaks ties."""
    cache, nominator = books.beliefs.cache, books.beliefs.nominator
    for node in cache.nodes:
        pods = [(info.pod, cache.is_assumed(info.pod)) for info in node.pods]
        yield node.name, node.node, pods
    for name, infos in nominator.nominated.items():
        yield "nominated to", name, [info.pod for info in infos]


def _under_way(books: Books, cycle: CycleRecord, now_ms: int) -> Iterator[object]:
    """The current cycle, the pods that wait for Permit plugins, and the timers."""
    if cycle.current is not None:
        yield "current cycle", _queued(cycle.current, now_ms), cycle.decision
    yield "wait on permit", list(books.beliefs.waiting)
    yield "timers", books.timers.phases(now_ms)
