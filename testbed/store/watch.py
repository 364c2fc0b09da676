"""Cursor and Watch: ordered, gap-free reading of the Store's history.

A Cursor is how far one server has read the Changes of one kind, as a watch cache has; it copies
nothing. A Watch is one reader of a Cursor, with a Selector. It delivers each matching Change that
its Cursor has passed, once and in order, or ends with Expired if a compaction was faster.

What a commit costs. A Cursor indexes its Watches by the first field that they select by. It shows a
Change only to the Watches at the old or the new value of that field, and to those that select by
nothing. A Watch that is not shown a Change owes its reader a bookmark. It says so once, and owes
nothing again until it has sent a Change or a bookmark.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from operator import attrgetter

from testbed.errors import Expired, HarnessBug
from testbed.objects.meta import Numbered, Object, reader_of, revision_from
from testbed.store.change import Change
from testbed.store.delivery import ADDED, BOOKMARK, DELETED, ERROR, MODIFIED, Delivery
from testbed.store.footprint import HISTORY, LOG, NOTHING, tail_of
from testbed.store.selector import Selector, View
from testbed.store.store import Store


class Cursor:
    """How far one server has read the history of one kind.

    A watch cache is no more than this here: the objects are those of the Store at its revision. A
    server restarts by calling `forget` and making a new Cursor.
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
        """Start at a revision, by default the present; Expired if that is compacted.

        `on_behind` is called whenever there is something to feed after there was nothing, and here
        if it starts behind; and when it expires, so that there is nothing to feed any more.
        """
        self.store = store
        self.reader = reader
        self.plural = plural
        self.follows = follows
        """True: it moves with each commit. False: it moves by `advance` only."""
        self.lag_ms = lag_ms
        """How long after its commit it reads a Change, unless a Fault makes it later."""
        self.on_behind = on_behind
        self._log = store._log_of(plural)
        start = store._revision if revision is None else revision
        store.check_since(start)
        self._place = self._log.place_after(start)
        self._read = start
        self._has_called = False
        self._open: dict[Watch, None] = {}
        # Watches by path and value, and those that select by nothing.
        self._index: dict[str, dict[object, dict[Watch, None]]] = {}
        self._unfiled: dict[Watch, None] = {}
        # Open Watches that want bookmarks and whose readers have got all this Cursor has read.
        self._settled: dict[Watch, None] = {}
        self._opened = 0
        self._touches = NOTHING if follows else tail_of(reader, plural)
        store.listeners.add(plural, self._on_commit, self._on_compaction, self._touches)
        self._on_commit()

    @property
    def key(self) -> str:
        """Its name in a Footprint: `cursor:apiserver/pods`."""
        return f"cursor:{self.reader}/{self.plural}"

    @property
    def revision(self) -> int:
        """It has read all Changes of its kind up to this revision, and none after: the one just
        before the next Change (or transaction) to read, or else the Store's own revision."""
        self.store._counted()
        return self._upto

    @property
    def _upto(self) -> int:
        log, place = self._log, self._place
        if place == log.end:
            return self.store._revision
        return self._read if place < log.first else log[place].revision - 1

    @property
    def next_revision(self) -> int:
        """The revision of the next Change to read; only while it is behind."""
        return self._log[self._place].revision

    @property
    def is_behind(self) -> bool:
        """Whether there is a Change left to read."""
        self.store._counted()
        return self._place in self._log.places

    @property
    def is_expired(self) -> bool:
        """Whether a Change was compacted before it was read: forget this and make a new one."""
        return self._place < self._log.first

    def advance(self) -> Change | None:
        """Read exactly one Change and show it to the Watches; None if there is none to read. A
        `feed` is one such call; if `is_behind` still holds, the World offers the next."""
        # Also if there is nothing to read: a compaction may have taken it away.
        moves = (self.key,) if self._place in self._log.places else ()
        self.store.mark(reads=(HISTORY, *(() if moves else (self.key,))), writes=moves)
        return self._step()

    def is_part(self, change: Change) -> bool:
        """Whether more of its transaction follows; whether that has been read is then marked."""
        if self.follows:
            return False
        later = self.store._log.changes[change.serial - self.store._log.first :][:1]
        if is_part := bool(later) and later[0].revision == change.revision:
            self.store.mark(reads=(self.key,))
        return is_part

    def forget(self) -> None:
        """Close all its Watches and read no more: its server has crashed."""
        if not self.follows:
            self.store.mark(reads=(f"{LOG}{self.plural}",))
        self.store.listeners.remove(self.plural, self._on_commit)
        for watch in list(self._open):
            watch.close()

    def _on_commit(self, change: Change | None = None) -> None:
        if self.follows:
            while self._place < self._log.end:
                self._step()
            return
        if change is not None:
            # It will read them in the order of their commits, so these commits clash.
            self.store.mark(reads=self._touches.reads, writes=self._touches.writes)
        if self._place in self._log.places and not self._has_called and self.on_behind is not None:
            self._has_called = True
            self.on_behind()

    def _on_compaction(self) -> None:
        """End every Watch if a Change was forgotten before this Cursor read it."""
        if self.is_expired:
            for watch in list(self._open):
                watch._expire()
            if self._has_called and self.on_behind is not None:
                self._has_called = False
                self.on_behind()

    def _step(self) -> Change | None:
        log, place = self._log, self._place
        changes, index = log.changes, place - log.first
        if not 0 <= index < len(changes):
            return None
        change = changes[index]
        self._place = place + 1
        is_last = index + 1 == len(changes)
        if is_last:
            self._has_called = False
        for watch in self._watches_for(change) if self._index else [*self._unfiled]:
            watch._push(change)
        # A bookmark promises all of a revision, so it waits for the last of a transaction.
        if is_last or changes[index + 1].revision > change.revision:
            self._read = change.revision
            self._owe()
        return change

    def _watches_for(self, change: Change) -> list[Watch]:
        """The Watches that a Change may matter to, in the order in which they were opened."""
        found = list(self._unfiled)
        # Both values count: a Watch on a pod's node has to hear that the pod has left it.
        for path, values in self._index.items():
            read = reader_of(path)
            before = None if change.old is None else read(change.old.value)
            after = None if change.new is None else read(change.new.value)
            found += values.get(before, ())
            if after != before:
                found += values.get(after, ())
        found.sort(key=attrgetter("number"))
        return found

    def _owe(self) -> None:
        """Notify the Watches for which the Change just read makes a bookmark due."""
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
    """A watch on a Cursor: every matching Change after a revision, in order, once."""

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
        """Open it; Expired if a Change after `since` has been compacted.

        It delivers `first` before all else: objects that exist already, however old. If its server
        keeps only Changes from `oldest` on, and `since` is before that, it delivers just an ERROR.
        `on_ready` is called whenever there is something to take after there was nothing, and
        `on_owing` whenever `owes_bookmark` becomes true; here too.
        """
        cursor.store.check_since(since)
        self.cursor = cursor
        self.selector = selector
        self.since = since
        """It delivers Changes newer than this."""
        self.revision = since
        """The last revision that its reader got; a resumed watch starts here."""
        self.view = View(cursor.plural, selector, fields)
        self.bookmarks = bookmarks
        self.key = ""
        """Its name in a Footprint; a Stream sets it."""
        self.on_ready = on_ready
        self.on_owing = on_owing
        self.is_open = True
        self.number = cursor._file(self)
        """Its place among its Cursor's Watches, in the order in which they were opened."""
        self.queue: deque[Change] = deque(first)
        """Changes still to deliver, oldest first."""
        self._next: Delivery | None = None
        self._is_over = False
        if cursor.is_expired:
            self._expire()
        elif since + 1 < oldest:
            self._end(f"too old resource version: {since} ({oldest})")
        # No gap: here it takes from the log all that its Cursor has read after `since`, and it is
        # indexed already, so the Cursor shows it every Change from the next one on.
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
        """Whether its Cursor has read past the reader's last revision, without a match."""
        is_told = self.is_ready or self.cursor._read <= self.revision
        return self.bookmarks and self.is_open and not is_told

    def peek(self) -> Delivery | None:
        """What `take` would deliver now; None if nothing.

        An ERROR with Expired if the Store has compacted what was still to be delivered.
        """
        # This is asked in the turn of a commit, too, if the reader waits by then. It is no look of
        # the Endpoint that is served there, so it takes nothing that would mark that turn.
        if self.queue and self.since < self.queue[0].revision < self.cursor.store._compacted:
            self._expire()
        elif self.queue and self._next is None:
            self._next = self._delivery(self.queue[0])
        return self._next

    def take(self) -> Delivery:
        """Deliver the next; after an ERROR the Watch is closed."""
        delivery = self.peek()
        if delivery is None:
            raise HarnessBug(f"a watch of {self.plural} was taken from with nothing to deliver")
        change = delivery._change
        if change is None:
            self.close()
            return delivery
        # How much of a transaction has been read by now, and not by when it was first peeked at.
        if self.cursor.is_part(change):
            delivery = self._delivery(change)
        self.queue.popleft()
        self._next = None
        self.revision = int(delivery.revision._text)
        if not self.queue:
            self._settle()
        return delivery

    def take_bookmark(self) -> Delivery:
        """Deliver a BOOKMARK: all that matches, up to the Cursor's revision, has been delivered."""
        if not self.owes_bookmark:
            raise HarnessBug(f"a watch of {self.plural} was asked for a bookmark it does not owe")
        self.revision = self.cursor._upto
        self.cursor.store.mark_revision_read()
        self._settle()
        return Delivery(BOOKMARK, revision=revision_from(self.revision, self.view))

    def close(self) -> None:
        """Deliver no more. The reader may resume from the last revision that it got."""
        if self.is_open:
            self.is_open = False
            self.queue.clear()
            self._next = None
            self.cursor._unfile(self)

    def _push(self, change: Change) -> None:
        """Take a Change that the Cursor has just passed, if it matches."""
        if not self.is_open or change.revision <= self.since or not self.view.delivers(change):
            return
        # Also after its end, as long as its reader has not been told: which of two commits came
        # upon that end depends on their order.
        store, queue = self.cursor.store, self.queue
        if self.key:
            store.heard(change, self.key)
        if self._is_over:
            return
        self.cursor._settled.pop(self, None)
        queue.append(change)
        if len(queue) == 1:
            if self.on_ready is not None:
                self.on_ready(self)
        elif self.since < queue[0].revision < store._compacted:
            self._expire()

    def _delivery(self, change: Change) -> Delivery:
        """The Delivery of a Change; an object that starts to match is ADDED, one that stops is
        DELETED (API-45)."""
        # While more of the same transaction is to come, it names the revision before: a reader that
        # resumes there gets the transaction once more as a whole, rather than only half of it.
        queue, selector, new = self.queue, self.selector, change.new
        written = change.revision
        is_cut = len(queue) > 1 and queue[1].revision == written
        whole = written - 1 if is_cut else min(written, self.cursor._upto)
        revision = revision_from(whole, self.view, is_commit=whole == written)
        if new is not None and selector.has(new):
            type = MODIFIED if selector.has(change.old) else ADDED
            return Delivery(type, new.value, revision, change)
        assert change.old is not None
        last = change.old.value
        if isinstance(last, Object):
            last = last.with_meta(revision=revision_from(written, is_commit=True))
        return Delivery(DELETED, last, revision, change)

    def _settle(self) -> None:
        """After the last match: owe a bookmark now, or wait in `_settled` until one is due."""
        if not self.bookmarks or not self.is_open:
            return
        if self.cursor._read <= self.revision:
            self.cursor._settled[self] = None
        elif self.on_owing is not None:
            self.on_owing(self)

    def _expire(self) -> None:
        """End with Expired: what was still to be delivered is compacted."""
        self._end(
            f"too old resource version: {self.revision} ({self.cursor.store._compacted}): a "
            f"compaction overtook this watch of {self.plural}; list again"
        )

    def _end(self, message: str) -> None:
        """End with an ERROR, and drop everything before it."""
        self._is_over = True
        was_ready = self.is_ready
        self.queue.clear()
        self._next = Delivery(ERROR, error=Expired(Numbered(message)))
        if not was_ready and self.on_ready is not None:
            self.on_ready(self)
