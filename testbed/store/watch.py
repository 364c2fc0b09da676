"""Cursor and Watch: ordered, gap-free reading of the Store's history.

A Cursor is how far one server has read the Changes of one kind. It copies nothing: the list a
lagging server answers with is `store.range(prefix, at=cursor.revision)`. A Watch is one reader of
a Cursor with a Selector; it delivers each matching Change its Cursor has passed, once, in order,
or ends in Expired if a compaction was faster.

What a commit costs. A Cursor files its Watches under the first field they select by, so a Change
is offered only to those filed under the value that field had before or has now, and to those that
select by nothing. Whoever was not offered it is owed a bookmark, but is told so once per debt, and
each debt is paid by a delivery or a bookmark of its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from operator import attrgetter

from testbed.errors import Expired, HarnessBug
from testbed.objects.meta import Object, Revision, field_of
from testbed.store.change import Change
from testbed.store.delivery import ADDED, BOOKMARK, DELETED, ERROR, MODIFIED, Delivery
from testbed.store.footprint import HISTORY, LOG, NOTHING, Footprint
from testbed.store.selector import Selector, View
from testbed.store.store import Store


def tail_of(reader: str, plural: str) -> Footprint:
    """What each commit touches that a lagging reader will read."""
    return Footprint(
        frozenset({f"endpoint:{reader}"}), frozenset({f"cursor:{reader}/{plural}/tail"})
    )


class Cursor:
    """How far one reader has read the history of one kind; all a watch cache is.

    It remembers nothing else: to `forget` it and make a new one is how its server restarts.
    """

    def __init__(
        self,
        store: Store,
        reader: str,
        plural: str,
        *,
        revision: int | None = None,
        follows: bool = True,
        lag_ms: int = 0,
        on_behind: Callable[[], None] | None = None,
    ) -> None:
        """It starts at a revision, by default the present; Expired if that is compacted away.

        `on_behind` is called whenever there is something to feed after there was nothing, here
        too if it starts behind.
        """
        self.store = store
        self.reader = reader
        self.plural = plural
        self.follows = follows
        """True: it moves with each commit. False: it stands still until `advance`."""
        self.lag_ms = lag_ms
        """How long after its commit it reads a Change, if nothing makes it later."""
        self.on_behind = on_behind
        self._log = store.log(plural)
        start = store.revision if revision is None else revision
        store.check_since(start)
        self._place = self._log.place_after(start)
        self._read = start
        self._has_called = False
        self._open: dict[Watch, None] = {}
        # Path, value, and the Watches filed under it; and those that no value finds.
        self._index: dict[str, dict[object, dict[Watch, None]]] = {}
        self._unfiled: dict[Watch, None] = {}
        # The open Watches that want bookmarks and have been told of all this Cursor has read.
        self._settled: dict[Watch, None] = {}
        self._opened = 0
        self._touches = NOTHING if follows else tail_of(reader, plural)
        store.listen(plural, self._hear, self._lose, self._touches)
        self._hear()

    @property
    def key(self) -> str:
        """Its name in a Footprint: `cursor:apiserver/pods`."""
        return f"cursor:{self.reader}/{self.plural}"

    @property
    def revision(self) -> int:
        """The state of its kind it has read: all Changes of the kind up to here, and none after.

        While it is behind this stands still just before the next Change (or transaction) it has
        to read. With nothing left to read it is the Store's own revision.
        """
        if self.is_expired:
            return self._read
        if self._place == self._log.end:
            return self.store.revision
        return self._log[self._place].revision - 1

    @property
    def next_revision(self) -> int:
        """The revision of the Change it is to read next; only asked while it is behind."""
        return self._log[self._place].revision

    @property
    def is_behind(self) -> bool:
        """Whether there is a Change left to read."""
        return not self.is_expired and self._place < self._log.end

    @property
    def is_expired(self) -> bool:
        """Whether a Change it had not read was compacted away: forget it and make a new one."""
        return self._place < self._log.first

    def advance(self) -> Change | None:
        """Read exactly one Change and pass it to the Watches; None if there is none to read.

        Called by whoever performs a `feed`. Look at `is_behind` after it to offer the next.
        """
        if self.is_behind:
            self.store.mark(reads=(HISTORY,), writes=(self.key,))
        return self._step()

    def catch_up(self) -> None:
        """Read all there is."""
        while self.advance():
            pass

    def mark_part(self, change: Change) -> None:
        """Note, of a transaction of several, that it matters how far this has read it."""
        if not self.follows:
            later = self.store.log().changes[change.serial - self.store.log().first :][:1]
            if later and later[0].revision == change.revision:
                self.store.mark(reads=(self.key,))

    def forget(self) -> None:
        """Close all its Watches and read no more: its server crashed."""
        if not self.follows:
            self.store.mark(reads=(f"{LOG}{self.plural}",))
        self.store.unlisten(self.plural, self._hear)
        for watch in list(self._open):
            watch.close()

    def _hear(self, change: Change | None = None) -> None:
        if self.follows:
            while self._step():
                pass
            return
        if change is not None:
            # It will read them in the order in which they were committed.
            self.store.mark(reads=self._touches.reads, writes=self._touches.writes)
        if self.is_behind and not self._has_called and self.on_behind is not None:
            self._has_called = True
            self.on_behind()

    def _lose(self) -> None:
        """The Store forgot Changes of this kind: if they were not read, every Watch ends."""
        if self.is_expired:
            for watch in list(self._open):
                watch._expire()

    def _step(self) -> Change | None:
        if not self.is_behind:
            return None
        change = self._log[self._place]
        self._place += 1
        if self._place == self._log.end:
            self._has_called = False
        for watch in self._offered(change):
            watch._push(change)
        # A bookmark promises all of a revision, so it waits for the last of a transaction.
        if self.revision >= change.revision:
            self._read = change.revision
            self._owe()
        return change

    def _offered(self, change: Change) -> list[Watch]:
        """The Watches a Change may matter to, in the order they were opened."""
        offered = list(self._unfiled)
        if not self._index:
            return offered
        for path, values in self._index.items():
            olds = None if change.old is None else field_of(change.old.value, path)
            news = None if change.new is None else field_of(change.new.value, path)
            offered += values.get(olds, ())
            if news != olds:
                offered += values.get(news, ())
        offered.sort(key=attrgetter("number"))
        return offered

    def _owe(self) -> None:
        """Tell the Watches that have just fallen behind what was read that they owe a bookmark."""
        owing = [watch for watch in self._settled if watch.revision < self._read]
        for watch in owing:
            del self._settled[watch]
        for watch in owing:
            if watch.on_owing is not None and watch.owes_bookmark:
                watch.on_owing(watch)

    def _file(self, watch: Watch) -> int:
        self._open[watch] = None
        if watch.selector.filed_under is None:
            self._unfiled[watch] = None
        else:
            path, value = watch.selector.filed_under
            self._index.setdefault(path, {}).setdefault(value, {})[watch] = None
        self._opened += 1
        return self._opened

    def _unfile(self, watch: Watch) -> None:
        for watches in (self._open, self._unfiled, self._settled):
            watches.pop(watch, None)
        if watch.selector.filed_under is not None:
            path, value = watch.selector.filed_under
            values = self._index[path]
            del values[value][watch]
            if not values[value]:
                del values[value]


class Watch:
    """One open watch on a Cursor: every matching Change after a revision, in order, once."""

    def __init__(
        self,
        cursor: Cursor,
        selector: Selector,
        since: int,
        *,
        fields: tuple[str, ...] | None = None,
        bookmarks: bool = False,
        first: Sequence[Change] = (),
        oldest: int = 0,
        on_ready: Callable[[Watch], None] | None = None,
        on_owing: Callable[[Watch], None] | None = None,
    ) -> None:
        """Open it; Expired if what happened after `since` has been compacted away.

        Before all else it delivers `first`, which is what there is already. If its server can
        tell no more than what happened from `oldest` on, and that is too late, it only says so.
        `on_ready` is called whenever there is something to take after there was nothing, and
        `on_owing` whenever `owes_bookmark` becomes true; here too, if that is so from the start.
        """
        cursor.store.check_since(since)
        self.cursor = cursor
        self.selector = selector
        self.since = since
        """It delivers what is newer than this."""
        self.revision = since
        """The revision its reader was last told; a resumed watch starts here."""
        self.view = View(cursor.plural, selector, fields)
        self.bookmarks = bookmarks
        self.key = ""
        """Its name in a Footprint; whoever opens it for a reader gives it one."""
        self.on_ready = on_ready
        self.on_owing = on_owing
        self.is_open = True
        self.number = cursor._file(self)
        """Which of its Cursor's Watches it is, in the order they were opened."""
        self.queue: deque[Change] = deque()
        """What it has still to deliver, oldest first."""
        self._next: Delivery | None = None
        self._is_over = False
        # It takes over what its Cursor has already read.
        self.queue.extend(first)
        if cursor.is_expired:
            self._expire()
        elif since + 1 < oldest:
            self._end(f"too old resource version: {since} ({oldest})")
        for place in range(cursor._log.place_after(since), cursor._place):
            self._push(cursor._log[place])
        if not self.is_ready:
            self._settle()

    @property
    def plural(self) -> str:
        """The kind it watches."""
        return self.cursor.plural

    @property
    def is_ready(self) -> bool:
        """Whether there is something to take."""
        return bool(self.queue) or self._next is not None

    @property
    def owes_bookmark(self) -> bool:
        """Whether its Cursor has read on past what its reader was last told, without a match."""
        is_told = self.is_ready or self.cursor._read <= self.revision
        return self.bookmarks and self.is_open and not is_told

    def peek(self) -> Delivery | None:
        """What `take` would deliver now; None if nothing.

        If the Store has compacted away what was still to be delivered, an ERROR with Expired.
        """
        if self.queue and self.queue[0].revision < self.cursor.store.compacted:
            self._expire()
        if self.queue and self._next is None:
            self._next = self._delivery(self.queue[0])
        return self._next

    def take(self) -> Delivery:
        """Deliver the next; an ERROR is the last."""
        delivery = self.peek()
        if delivery is None:
            raise HarnessBug(f"a watch of {self.plural} was taken from with nothing to deliver")
        if delivery.change is None:
            self.close()
            return delivery
        self.queue.popleft()
        self._next = None
        self.revision = int(str(delivery.revision))
        if not self.queue:
            self._settle()
        return delivery

    def take_bookmark(self) -> Delivery:
        """Deliver a BOOKMARK: everything up to the Cursor's revision has been told."""
        if not self.owes_bookmark:
            raise HarnessBug(f"a watch of {self.plural} was asked for a bookmark it does not owe")
        self.revision = self.cursor.revision
        self.cursor.store.note_told()
        self._settle()
        return Delivery(BOOKMARK, revision=Revision(self.revision, self.view))

    def close(self) -> None:
        """Deliver no more. Its reader may resume from the revision it was last told."""
        if self.is_open:
            self.is_open = False
            self.queue.clear()
            self._next = None
            self.cursor._unfile(self)

    def _push(self, change: Change) -> None:
        """The Cursor has passed a Change that may match."""
        if not self.is_open or self._is_over or change.revision <= self.since:
            return
        if not self.view.tells(change):
            return
        self.queue.append(change)
        if self.key:
            self.cursor.store.heard(change, self.key)
        if len(self.queue) == 1:
            if self.on_ready is not None:
                self.on_ready(self)
        elif self.queue[0].revision < self.cursor.store.compacted:
            self._expire()

    def _delivery(self, change: Change) -> Delivery:
        """What to tell of a Change: what starts to match is ADDED, what stops DELETED (API-45)."""
        # While more of the same transaction is to come, a reader that resumes must get it all.
        self.cursor.mark_part(change)
        is_cut = len(self.queue) > 1 and self.queue[1].revision == change.revision
        whole = change.revision - 1 if is_cut else min(change.revision, self.cursor.revision)
        revision = Revision(whole, self.view)
        if change.new is not None and self.selector.matches(change.new.value):
            type = MODIFIED if self.selector.has(change.old) else ADDED
            return Delivery(type, change.new.value, revision, change)
        assert change.old is not None
        last = change.old.value
        if isinstance(last, Object):
            last = last.with_meta(revision=Revision(change.revision))
        return Delivery(DELETED, last, revision, change)

    def _settle(self) -> None:
        """All that matches has been told: owe a bookmark for the rest, or wait until one is due."""
        if not self.bookmarks or not self.is_open:
            return
        if not self.owes_bookmark:
            self.cursor._settled[self] = None
        elif self.on_owing is not None:
            self.on_owing(self)

    def _expire(self) -> None:
        """What was still to be delivered is gone, and so is the queue that kept it."""
        self._end(
            f"too old resource version: {self.revision} ({self.cursor.store.compacted}): a "
            f"compaction overtook this watch of {self.plural}; list again"
        )

    def _end(self, said: str) -> None:
        """End with an ERROR that says so, and deliver nothing before it."""
        self._is_over = True
        was_ready = self.is_ready
        self.queue.clear()
        self._next = Delivery(ERROR, error=Expired(said))
        if not was_ready and self.on_ready is not None:
            self.on_ready(self)
