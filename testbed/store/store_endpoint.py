"""StoreEndpoint: the Store's own Endpoint, the plainest there is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from testbed.errors import AlreadyExists, Conflict, Invalid, NotFound
from testbed.objects.calendar import whole_second
from testbed.objects.meta import Meta, Object, Revision, revision_from, text_of
from testbed.store.change import Entry
from testbed.store.endpoint import BETWEEN, Handler, Listing, Operation, creator_of
from testbed.store.footprint import HISTORY, LOG, Footprint, tail_of
from testbed.store.precondition import preconditions
from testbed.store.store import Put, Store
from testbed.store.watch import Cursor, Watch

VERBS = ("get", "list", "watch", "create", "update", "delete", "txn", "compact")
"""All verbs of the Store's own Endpoint."""
READS = ("get", "list", "watch")
ANY = "0"
"""As a revision: any state will do, however old."""
ASSEMBLY = "scenario"
"""The caller that creates the initial objects of a World."""
EXACT, NOT_OLDER = "Exact", "NotOlderThan"
"""How a list matches the revision that it names."""
NO_META = Meta()
TOO_LARGE = "ResourceVersionTooLarge"
"""Why an Endpoint refuses to read at a revision that it has not reached yet."""


class StoreEndpoint:
    """The Store's own Endpoint: get, list, watch, create, update, delete, `txn` and `compact`.

    It stamps uid and revision on what it writes, and checks preconditions. It admits everything and
    knows no subresource.

    It reads the present, and answers a list with it. For the kinds in `lags` it reads through a
    Cursor that falls behind instead, as an API server does through its watch cache: a list that
    names no revision still sees the present, one that accepts any revision sees the state at the
    Cursor. Preconditions are always checked against the present: a write made from old data gets a
    Conflict.
    """

    near: bool = False
    is_front: bool = False
    marks_memory: ClassVar[bool] = True

    def __init__(
        self,
        store: Store,
        name: str = "store",
        *,
        lags: tuple[str, ...] = (),
        lag_ms: int = 0,
    ) -> None:
        self.name = name
        self.store = store
        self.switches: Any = None
        self.on_behind: Callable[[Cursor], None] | None = None
        self._lags = lags
        self._lag_ms = lag_ms
        self.cursors: dict[str, Cursor] = {}
        self._created: dict[str, int] = {}

    def begin(self) -> None:
        """Do nothing: it reads a kind only when an Operation needs it."""

    def restart(self) -> None:
        """Forget the cursors; new watches get new ones, which start at the present."""
        for cursor in self.cursors.values():
            cursor.forget()
        self.cursors.clear()

    def digest(self) -> dict[str, object]:
        """The memory that decides what it does next, for a Moment: all but the number of uids given
        out, since uids are only ever compared with each other."""
        return {name: held for name, held in vars(self).items() if name != "_created"}

    def completed(self, item: Object) -> Object:
        """An object of the initial state, unchanged: this Endpoint sets no defaults."""
        return item

    def cursor(self, plural: str) -> Cursor:
        """The Cursor of a kind; a new one at the first look at the kind, or if the last one has
        expired."""
        cursor = self.cursors.get(plural)
        follows = plural not in self._lags
        if not follows:  # only a compaction makes it expire
            self.store.mark(reads=(HISTORY,))
        if cursor is None or cursor.is_expired:
            cursor = Cursor(
                self.store, self.name, plural, follows=follows, lag_ms=self._lag_ms,
                on_behind=lambda: self._lag(plural),
            )  # fmt: skip
            self.cursors[plural] = cursor
            if not follows:
                self.store.mark(reads=(f"{LOG}{plural}",), writes=(cursor.key,))
        elif not follows:
            self.store.mark(reads=(cursor.key,))
        return cursor

    def read_to(self, cursor: Cursor) -> int | None:
        """The revision up to which it has read a kind; None: it follows the Store."""
        # If the first unread Change is the one at `compacted`, the cursor has lost nothing, and the
        # state before that Change is the last that can be worked out.
        return None if cursor.follows else max(cursor._upto, self.store._compacted - 1)

    def _lag(self, plural: str) -> None:
        if self.on_behind is not None:
            self.on_behind(self.cursors[plural])

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        """Each verb is one read or one commit, in one turn: nothing can come between."""
        if operation.verb not in VERBS or operation.subresource:
            raise Invalid(
                f"the Store's own Endpoint cannot {operation}: it knows get, list, watch, create, "
                "update, delete, txn and compact, and no subresource; serve an ApiServer for more"
            )
        return getattr(self, f"_{operation.verb}")(operation, caller, now_ms)
        yield BETWEEN  # never reached: it makes this a generator, as a handler has to be

    def may(self, operation: Operation, caller: str = "") -> Footprint:
        """One key; a list or a watch reads the log of its kind, a txn every key that it names."""
        if operation.verb == "compact":
            return Footprint(frozenset({LOG, HISTORY}), frozenset({HISTORY}))
        at, view = operation.revision, operation.view
        is_named = text_of(at) not in ("", ANY)
        is_dated = is_named and not _is_at_least(operation)
        if is_named and operation.verb in READS and not view.has_returned(at):
            past = frozenset({HISTORY})
            return Footprint(past | {LOG}, past | self._opened(operation.plural))
        if operation.verb == "get":
            return Footprint(reads=frozenset({HISTORY if is_dated else operation.key}))
        if operation.verb in ("list", "watch"):
            return Footprint(reads=self._view(operation), writes=self._opened(operation.plural))
        keys, kinds = {operation.key}, {operation.plural}
        if operation.verb == "txn":
            keys = {item.key for item in operation.body}
            kinds = {item.plural for item in operation.body}
        logs = {f"{LOG}{kind}" for kind in kinds}
        may = Footprint(frozenset(keys), frozenset(keys | logs))
        if any(asked and not is_of_commit(asked) for asked in preconditions(operation)):
            may |= Footprint(frozenset({LOG}), frozenset({HISTORY}))
        for kind in sorted(kinds):
            may |= self.tails(kind)
        return may

    def tails(self, plural: str) -> Footprint:
        """What a commit of a kind adds to: the unread Changes of each server that lags behind it.
        This server is included even if it has not begun to read the kind."""
        touched = self.store.listeners.touched(plural)
        return touched | tail_of(self.name, plural) if plural in self._lags else touched

    def _view(self, operation: Operation) -> frozenset[str]:
        """What a list or a watch reads: the history, and the position of a lagging cursor."""
        keys = {HISTORY}
        if operation.plural in self._lags:
            cursor = f"cursor:{self.name}/{operation.plural}"
            keys |= {cursor, f"{LOG}{operation.plural}"}
        return frozenset(keys | operation.view.logs)

    def _opened(self, plural: str) -> frozenset[str]:
        """What opening a lagging cursor writes; the first look at a kind opens one."""
        keys = {f"cursor:{self.name}/{plural}"} if plural in self._lags else set()
        return frozenset(keys)

    def _existing(self, operation: Operation) -> Entry:
        entry = self.store.get(operation.key)
        if entry is None:
            raise NotFound(f"{operation.key} not found")
        meta = entry.value.meta  # type: ignore[attr-defined]
        if operation.uid and operation.uid != meta.uid:
            raise Conflict(
                f"{operation.key}: the precondition names uid {operation.uid}, it is {meta.uid}"
            )
        if operation.revision and not is_at(self.store, operation.revision, meta.revision):
            raise Conflict(
                f"{operation.key}: the object has been modified; please apply your changes to the "
                "latest version"
            )
        return entry

    def _get(self, operation: Operation, *_: Any) -> Object:
        entry = self.store.get(operation.key, self._dated(operation))
        if entry is None:
            raise NotFound(f"{operation.key} not found")
        return entry.value  # type: ignore[return-value]

    def _list(self, operation: Operation, *_: Any) -> Listing:
        if _is_at_least(operation):
            wanted = self._dated(operation) or 0
            return self.listing(operation, None, live=self.cursor(operation.plural)._upto < wanted)
        return self.listing(operation, self._dated(operation), live=not operation.revision)

    def listing(self, operation: Operation, at: int | None, *, live: bool = False) -> Listing:
        """What the Operation selects, at revision `at`. Without `at`: the present if `live` or if
        the Endpoint does not lag, else the state up to which it has read."""
        plural, selector, view = operation.plural, operation.selector, operation.view
        prefix = f"{plural}/{selector.namespace}/" if selector.namespace else f"{plural}/"
        cursor = self.cursor(plural)
        if at is not None:
            self.store.check_readable(at)
        if at is None and not live and not cursor.follows:
            at = self.read_to(cursor)
            self.store.mark(reads={cursor.key})
        elif at is None:
            self.store.mark(reads=sorted(view.logs))
        store = self.store
        store.mark_revision_read()
        found = tuple([entry.value for entry in store._snapshot(prefix, at)])
        items = found if selector._accepts is None else tuple(filter(selector._accepts, found))
        now = revision_from(store._revision if at is None else at, view.as_listed)
        return Listing(items, now)

    def _watch(self, operation: Operation, *_: Any) -> Watch:
        since = self._dated(operation)
        if since is None:
            since = self.store._revision
            self.store.mark(reads=sorted(operation.view.logs))
            if operation.options.get("bookmarks"):
                self.store.mark_revision_read()
        cursor = self.cursor(operation.plural)
        options = operation.options
        return Watch(
            cursor, operation.selector, since=since, fields=options.get("fields"),
            bookmarks=bool(options.get("bookmarks")),
        )  # fmt: skip

    def _dated(self, operation: Operation) -> int | None:
        """The revision that a read asks for; None if it names none, or accepts any.

        It marks what such a read depends on: compactions, and the order of the commits around it.
        """
        # A revision that a list or a watch of the same view returned is safe: the footprint of that
        # read already fixes which Changes of the view come before it. One from elsewhere (of an
        # object, of another kind) was numbered by all commits, and to swap any two of them changes
        # what it means. So then the order of all commits matters.
        at = _revision(operation)
        if at is not None:
            self.store.mark(reads={HISTORY})
            if not operation.view.has_returned(operation.revision):
                self.store.look_back()
        return at

    def _create(self, operation: Operation, caller: str, now_ms: int) -> Object:
        _check_body(operation)
        if self.store.get(operation.key) is not None:
            raise AlreadyExists(f"{operation.key} already exists")
        new = self._made(operation.body, caller, now_ms)
        self.store.put(new.key, new)
        return new

    def _update(self, operation: Operation, *_: Any) -> Object:
        _check_body(operation)
        old: Any = self._existing(operation).value
        new = self._revised(operation.body, old)
        if new is not old:
            self.store.put(new.key, new)
        return new

    def _delete(self, operation: Operation, *_: Any) -> Object:
        entry = self._existing(operation)
        self.store.delete(operation.key)
        return entry.value  # type: ignore[return-value]

    def _txn(self, operation: Operation, caller: str, now_ms: int) -> tuple[Object, ...]:
        """Write several objects at one revision, if each is unchanged since it was read."""
        olds: list[Any] = []
        for item in operation.body:
            entry = self.store.get(item.key)
            old: Any = None if entry is None else entry.value
            read = item.meta.revision
            if read and (old is None or not is_at(self.store, read, old.meta.revision)):
                raise Conflict(
                    f"{item.key}: the object has been modified since it was read; nothing of the "
                    "transaction was done"
                )
            olds.append(old)
        items = tuple(
            self._made(item, caller, now_ms) if old is None else self._revised(item, old)
            for item, old in zip(operation.body, olds, strict=True)
        )
        changed = [i for i, old in zip(items, olds, strict=True) if i is not old]
        self.store.txn((), [Put(item.key, item) for item in changed])
        return items

    def _compact(self, operation: Operation, *_: Any) -> Revision:
        """Compact up to the named revision, if there is one, and return the present revision.
        Expired if that much is compacted already."""
        before = _revision(operation)
        self.store.mark(reads=(LOG, HISTORY))  # also if it is refused
        if before is not None:
            self.store.compact(before)
        self.store.mark_revision_read()
        return Revision(self.store._revision)

    def _made(self, item: Object, caller: str, now_ms: int) -> Object:
        """A new object with a uid: its creator and a number, `alpha-3`. Only an object of the
        initial state may bring a uid and a creation time of its own."""
        if not self._created:
            self._created.update(_counted(self.store))
        creator = creator_of(self.name, caller)
        self.store.mark(writes=(f"uids:{creator}",))
        nth = self._created[creator] = self._created.get(creator, 0) + 1
        given = item.meta if caller == ASSEMBLY else NO_META
        return item.with_meta(
            uid=given.uid or f"{creator}-{nth}",
            created_ms=whole_second(now_ms) if given.created_ms is None else given.created_ms,
            revision=self.store.next_revision,
        )

    def _revised(self, item: Object, old: Object) -> Object:
        """The object after an update: it keeps its uid and age. `old` itself if nothing changes."""
        meta = old.meta
        new = item.with_meta(
            uid=meta.uid,
            created_ms=meta.created_ms,
            revision=self.store.next_revision,
        )
        return old if new.is_as(old) else new


def is_of_commit(asked: Revision | str) -> bool:
    """Whether it is the revision of one commit, as an object bears it."""
    return isinstance(asked, Revision) and asked._is_commit


def is_at(store: Store, asked: Revision, there: Revision) -> bool:
    """Whether an object is at the revision that a precondition names.

    If that is the revision of one commit, it is that of this object in every order or in none. Any
    other (of a list, or made up) is a number, and what it means depends on the order of all
    commits.
    """
    if not is_of_commit(asked):
        store.look_back()
    return text_of(asked) == text_of(there)


def _counted(store: Store) -> dict[str, int]:
    """The highest number in the uids of each creator, so that an Endpoint which takes the place of
    another goes on counting."""
    created: dict[str, int] = {}
    for entry in store._snapshot("", None):
        if isinstance(entry.value, Object):
            creator, _, nth = entry.value.meta.uid.rpartition("-")
            if nth.isdecimal():
                created[creator] = max(created.get(creator, 0), int(nth))
    return created


def _is_at_least(operation: Operation) -> bool:
    """Whether it accepts any state that is not older than the revision it names."""
    return operation.verb == "list" and operation.options.get("match") == NOT_OLDER


def _revision(operation: Operation) -> int | None:
    """The revision that it names; None if it names none, or accepts any."""
    text = text_of(operation.revision)
    if text in ("", ANY):
        return None
    if not text.isdecimal():
        raise Invalid(f"{operation}: {text!r} is no revision; give one that an answer has told")
    return int(text)


def _check_body(operation: Operation) -> None:
    """Invalid if the body is not the object that the Operation names."""
    body = operation.body
    key = body.key if isinstance(body, Object) else f"{body!r}"
    if key != operation.key:
        raise Invalid(f"{operation}: its body is {key}")
