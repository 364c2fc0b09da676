"""Cache: an actor's own view of one kind, as stale as its watch (the reflector and informer).

1. List whatever the server has read, or, if this was listed before, nothing older than what was
   seen then (API-54); what changed is told to the handlers as additions, updates, deletions.
2. Watch from the revision of the list; apply each Delivery, tell the handlers.
3. The watch broke: wait (0.8 s, doubling to 30 s, and 0.8 s again when the last such wait is two
   minutes ago; API-55), watch again from the last revision seen.
4. The history is gone (Expired): back to 1. If the server has not read so far itself, list again
   from the Store.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from testbed.client.audit import audited
from testbed.client.client import Client
from testbed.client.stream import Stream
from testbed.errors import ApiError, Expired
from testbed.objects.meta import UNSET, Map, Object, Revision, key_of
from testbed.store.delivery import BOOKMARK, DELETED, Delivery
from testbed.store.endpoint import EVERYTHING, Listing
from testbed.store.selector import Selector, differ_in
from testbed.store.store_endpoint import ANY, NOT_OLDER, TOO_LARGE
from testbed.turns.waits import Waitable

O = TypeVar("O", bound=Object)  # noqa: E741

RETRY_MS, RETRY_MS_MAX = 800, 30_000
HEALTHY_MS = 120_000

Handler = Callable[..., None]


class Cache(Generic[O]):
    """What one actor knows of one kind. Made in `run`; its reader is a task of that actor.

    `reads` declares the fields the actor looks at (`("spec.node_name",)`); None declares them all.
    Of an object that stays it is told only of changes to those: nobody is told of any other, so
    what else an object holds, its revision included, may be older than the watch is.

    It begins with whatever its server has read, which may be older than what an earlier life of the
    actor knew; with `quorum`, with what the Store itself holds.

    Handlers are plain functions, run by the reader in the turn of the delivery: they cannot await.
    """

    def __init__(
        self,
        client: Client,
        kind: type[O],
        selector: Selector = EVERYTHING,
        *,
        reads: tuple[str, ...] | None = None,
        quorum: bool = False,
    ) -> None:
        self.kind = kind
        self.selector = selector
        self.reads = reads
        self.known: dict[str, O] = {}
        """What it holds, by key; for the testbed: to look at it leaves no mark."""
        self.is_listing = False
        """While its handlers are told what a list has shown: of what is gone they are told as it
        was last known, which may be long ago (API-56)."""
        self._revision = UNSET
        self._quorum = quorum
        self._client = client
        self._table = client._table
        self._key = f"cache:{client.name}/{kind.plural}"
        self._handlers: list[tuple[Handler | None, Handler | None, Handler | None]] = []
        self._synced = client.signal(f"{kind.plural}-synced")
        client._life.caches.append(self)
        self.reader = client.spawn(f"cache-{kind.plural}", self._read)

    # -- what the actor sees --------------------------------------------------------------------

    @property
    def has_synced(self) -> bool:
        """Whether it has listed at least once in this life."""
        return self._synced.is_set

    @property
    def items(self) -> Mapping[str, O]:
        """What it holds, by key."""
        self._table.marks.reads.append(self._key)
        return {key: self._shown(item) for key, item in self.known.items()}

    @property
    def revision(self) -> Revision:
        """How far it has read; unset until it has listed, and again when that has expired."""
        self._table.marks.reads.append(self._key)
        return self._revision

    @property
    def upto(self) -> Revision:
        """How far it has read; for the testbed: to look at it leaves no mark."""
        return self._revision

    def synced(self) -> Waitable:
        """Wait until it has listed for the first time."""
        return self._synced.wait()

    def get(self, name: str, namespace: str = "default") -> O | None:
        """The object of that name as this actor knows it; None if it knows of none."""
        self._table.marks.reads.append(self._key)
        item = self.known.get(key_of(self.kind, name, namespace))
        return None if item is None else self._shown(item)

    def all(self) -> list[O]:
        """All it knows, in order of their keys."""
        self._table.marks.reads.append(self._key)
        return [self._shown(self.known[key]) for key in sorted(self.known)]

    def on(
        self,
        *,
        add: Handler | None = None,
        update: Handler | None = None,
        delete: Handler | None = None,
    ) -> None:
        """Call these from now on: `add(new)`, `update(old, new)`, `delete(last)`. Sets of them are
        independent of each other and called in the order they were given (API-57)."""
        for handler in (add, update, delete):
            if inspect.iscoroutinefunction(handler):
                raise self._table.refused(
                    f"{self._client.name}: {handler.__qualname__} is async; a handler cannot "
                    "await. Let it put the object in a queue that a task of yours reads."
                )
        self._handlers.append((add, update, delete))

    # -- its reader -----------------------------------------------------------------------------

    async def _read(self) -> None:
        client, kind = self._client, self.kind
        projected: dict[str, Any] = {} if self.reads is None else {"fields": self.reads}
        listed = Map({**projected, "match": NOT_OLDER})
        watched = Map({**projected, "bookmarks": True})
        at = UNSET if self._quorum else Revision(ANY)
        stream: Stream | None = None
        retry_ms = RETRY_MS
        retried_at_ms = 0
        while True:
            news: Listing | Delivery | None = None
            try:
                if not self._revision:
                    options = listed if at else Map(projected)
                    news = await client.list(kind, self.selector, at=at, options=options)
                elif stream is None:
                    stream = await client.watch(
                        kind, self._revision, self.selector, options=watched
                    )
                else:
                    news = await stream.next()
            except Expired:
                # What a list may not be as old as, a server that is behind may not have read.
                at, self._revision, stream = self._revision, UNSET, None
            except ApiError as error:
                stream = None
                if TOO_LARGE in error.causes:
                    at = UNSET
                    continue
                if self._table.now_ms - retried_at_ms > HEALTHY_MS:
                    retry_ms = RETRY_MS
                retried_at_ms = self._table.now_ms
                await client.sleep(retry_ms, f"retry {kind.plural}")
                retry_ms = min(2 * retry_ms, RETRY_MS_MAX)
            # Not within the `try`: what a handler raises is no refusal, and ends the actor.
            if isinstance(news, Listing):
                self._replace(news)
            elif news is not None:
                self._apply(news)

    def _replace(self, listing: Listing) -> None:
        """Take over a list: what lies between it and what was known is lost (API-56)."""
        self._table.marks.writes.append(self._key)
        new = {item.key: item for item in listing.items}
        old, self.known, self._revision = self.known, new, listing.revision
        self.is_listing = True
        for key in sorted({*old, *new}):
            self._tell(old.get(key), new.get(key))
        self.is_listing = False
        self._synced.set()

    def _apply(self, delivery: Delivery) -> None:
        """Take over one Delivery, and tell the handlers."""
        self._table.marks.writes.append(self._key)
        self._revision = delivery.revision
        if delivery.type == BOOKMARK:
            return
        item: Any = delivery.object
        old = self.known.get(item.key)
        if delivery.type == DELETED:
            if self.known.pop(item.key, None) is not None:
                self._tell(item, None)
        else:
            self.known[item.key] = item
            self._tell(old, item)

    def _tell(self, old: O | None, new: O | None) -> None:
        self._table.marks.is_handed_on |= bool(self._handlers)
        for add, update, delete in self._handlers:
            if new is None:
                if delete is not None and old is not None:
                    delete(self._shown(old))
            elif old is None:
                if add is not None:
                    add(self._shown(new))
            elif update is not None and self._differ(old, new):
                update(self._shown(old), self._shown(new))

    def _differ(self, old: O, new: O) -> bool:
        """Whether they do in anything that the actor has declared."""
        if old is new or self.reads is None:
            return old is not new and old != new
        return differ_in(self.reads, old, new)

    def _shown(self, item: O) -> O:
        if self.reads is None or not self._table.audits:
            return item
        return audited(item, self.reads, self._client.name, self._table.refused)
