"""Cache: an actor's own view of one kind, as stale as its watch (the reflector and informer).

1. List; what changed since the last list is told to the handlers as additions, updates, deletions.
2. Watch from the revision of the list; apply each Delivery, tell the handlers.
3. The watch broke: wait (0.8 s, doubling to 30 s, and 0.8 s again when the last such wait is two
   minutes ago; API-55), watch again from the last revision seen.
4. The history is gone (Expired): back to 1.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from testbed.audit import audited
from testbed.client import Client
from testbed.endpoint import EVERYTHING, Listing
from testbed.errors import ApiError, Expired
from testbed.objects.meta import UNSET, Map, Object, key_of
from testbed.stream import Stream
from testbed.turns import Wait
from testbed.watch import BOOKMARK, DELETED, Delivery, Selector

O = TypeVar("O", bound=Object)  # noqa: E741

RETRY_MS, RETRY_MS_MAX = 800, 30_000
HEALTHY_MS = 120_000

Handler = Callable[..., None]


class Cache(Generic[O]):
    """What one actor knows of one kind. Made in `run`; its reader is a task of that actor.

    `reads` declares the fields the actor looks at (`("spec.node_name",)`), so that a change of
    any other one is known to matter to nobody; None declares them all. Handlers are plain
    functions, run by the reader in the turn of the delivery: they cannot await.
    """

    def __init__(
        self,
        client: Client,
        kind: type[O],
        selector: Selector = EVERYTHING,
        *,
        reads: tuple[str, ...] | None = None,
    ) -> None:
        self.kind = kind
        self.selector = selector
        self.reads = reads
        self.items: dict[str, O] = {}
        """What it holds, by key; for the testbed. An actor asks `get` and `all`."""
        self.revision = UNSET
        """How far it has read; unset until it has listed, and again when that has expired."""
        self._client = client
        self._table = client._table
        self._key = f"cache:{client.name}/{kind.plural}"
        self._handlers: list[tuple[Handler | None, Handler | None, Handler | None]] = []
        self._synced = client.signal(f"{kind.plural}-synced")
        client._life.caches.append(self)
        client.spawn(f"cache-{kind.plural}", self._read)

    # -- what the actor sees --------------------------------------------------------------------

    @property
    def has_synced(self) -> bool:
        """Whether it has listed at least once in this life."""
        return self._synced.is_set

    def synced(self) -> Wait:
        """Wait until it has listed for the first time."""
        return self._synced.wait()

    def get(self, name: str, namespace: str = "default") -> O | None:
        """The object of that name as this actor knows it; None if it knows of none."""
        self._table.marks.reads.append(self._key)
        item = self.items.get(key_of(self.kind, name, namespace))
        return None if item is None else self._shown(item)

    def all(self) -> list[O]:
        """All it knows, in order of their keys."""
        self._table.marks.reads.append(self._key)
        return [self._shown(self.items[key]) for key in sorted(self.items)]

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
        listed, watched = Map(projected), Map(projected, bookmarks=True)
        stream: Stream | None = None
        retry_ms = RETRY_MS
        retried_at_ms = 0
        while True:
            news: Listing | Delivery | None = None
            try:
                if not self.revision:
                    news = await client.list(kind, self.selector, options=listed)
                elif stream is None:
                    stream = await client.watch(kind, self.revision, self.selector, options=watched)
                else:
                    news = await stream.next()
            except Expired:
                self.revision, stream = UNSET, None
            except ApiError:
                stream = None
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
        old, self.items, self.revision = self.items, new, listing.revision
        for key in sorted({*old, *new}):
            self._tell(old.get(key), new.get(key))
        self._synced.set()

    def _apply(self, delivery: Delivery) -> None:
        """Take over one Delivery, and tell the handlers."""
        self._table.marks.writes.append(self._key)
        self.revision = delivery.revision
        if delivery.type == BOOKMARK:
            return
        item: Any = delivery.object
        old = self.items.get(item.key)
        if delivery.type == DELETED:
            if self.items.pop(item.key, None) is not None:
                self._tell(item, None)
        else:
            self.items[item.key] = item
            self._tell(old, item)

    def _tell(self, old: O | None, new: O | None) -> None:
        for add, update, delete in self._handlers:
            if new is None:
                if delete is not None and old is not None:
                    delete(self._shown(old))
            elif old is None:
                if add is not None:
                    add(self._shown(new))
            elif update is not None and new is not old and new != old:
                update(self._shown(old), self._shown(new))

    def _shown(self, item: O) -> O:
        if self.reads is None or not self._table.audits:
            return item
        return audited(item, self.reads, self._client.name, self._table.refused)
