"""StoreEndpoint: the Store's own Endpoint, the plainest there is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from testbed.errors import AlreadyExists, Conflict, Invalid, NotFound
from testbed.objects.meta import Meta, Object, Revision
from testbed.store.change import Entry
from testbed.store.endpoint import BETWEEN, Handler, Listing, Operation, creator_of
from testbed.store.footprint import HISTORY, LOG, Footprint
from testbed.store.store import Put, Store
from testbed.store.watch import Cursor, Watch, tail_of

VERBS = ("get", "list", "watch", "create", "update", "delete", "txn", "compact")
"""What the Store's own Endpoint knows."""
READS = ("get", "list", "watch")
ANY = "0"
"""As a revision: whatever the Endpoint has read."""
ASSEMBLY = "scenario"
"""Who creates what a World begins with."""
EXACT, NOT_OLDER = "Exact", "NotOlderThan"
"""How a list is to match the revision it names."""
TOO_LARGE = "ResourceVersionTooLarge"
"""Why a read is refused by an Endpoint that has not read so far."""


class StoreEndpoint:
    """The Store's own Endpoint: get, list, watch, create, update, delete, `txn` and `compact`.

    It stamps identity and revision on what it writes and checks preconditions; it admits
    everything, knows no subresource and, unless told to lag, hides nothing.
    """

    near: bool = False
    is_front: bool = False

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
        """It reads nothing until it is asked for it."""

    def restart(self) -> None:
        """Forget the cursors; watches are opened on new ones, which start where the Store is."""
        for cursor in self.cursors.values():
            cursor.forget()
        self.cursors.clear()

    def digest(self) -> dict[str, object]:
        """What of its memory decides what it will do, for a Moment: all but how many uids it has
        given, which are only compared with each other."""
        return {name: held for name, held in vars(self).items() if name != "_created"}

    def completed(self, item: Object) -> Object:
        """An object that is there from the start: as it was given."""
        return item

    def cursor(self, plural: str) -> Cursor:
        """How far this Endpoint has read the history of that kind."""
        cursor = self.cursors.get(plural)
        if cursor is None or cursor.is_expired:
            follows = plural not in self._lags
            cursor = Cursor(
                self.store, self.name, plural, follows=follows, lag_ms=self._lag_ms,
                on_behind=lambda: self._lag(plural),
            )  # fmt: skip
            self.cursors[plural] = cursor
            if not follows:
                self.store.mark(reads=(f"{LOG}{plural}",), writes=(cursor.key,))
        return cursor

    def read_to(self, cursor: Cursor) -> int | None:
        """The revision as of which it knows a kind; None: it follows the Store."""
        # What it has read may just be forgotten, while all it has still to read is kept.
        return None if cursor.follows else max(cursor.revision, self.store.compacted)

    def _lag(self, plural: str) -> None:
        if self.on_behind is not None:
            self.on_behind(self.cursors[plural])

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        """Each verb is one read, or one commit: nothing can come between."""
        if operation.verb not in VERBS or operation.subresource:
            raise Invalid(
                f"the Store's own Endpoint cannot {operation}: it knows get, list, watch, create, "
                "update, delete, txn and compact, and no subresource"
            )
        return getattr(self, f"_{operation.verb}")(operation, caller, now_ms)
        yield BETWEEN

    def may(self, operation: Operation, caller: str = "") -> Footprint:
        """One key; a list or a watch reads its kind's log, a txn every key it names."""
        if operation.verb == "compact":
            return Footprint(frozenset({LOG, HISTORY}), frozenset({HISTORY}))
        at, view = operation.revision, operation.view
        is_dated = str(at) not in ("", ANY) and not _is_at_least(operation)
        if is_dated and operation.verb in READS and not view.is_told(at):
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
        for kind in sorted(kinds):
            may |= self.tails(kind)
        return may

    def tails(self, plural: str) -> Footprint:
        """What a commit of a kind is added to: what each server that lags is still to read, this
        one too if it has not begun to."""
        touched = self.store.touched(plural)
        return touched | tail_of(self.name, plural) if plural in self._lags else touched

    def _view(self, operation: Operation) -> frozenset[str]:
        """What a list or a watch reads: the history, as far as a lagging cursor has read it."""
        keys = {HISTORY}
        if operation.plural in self._lags:
            cursor = f"cursor:{self.name}/{operation.plural}"
            keys |= {cursor, f"{LOG}{operation.plural}"}
        return frozenset(keys | operation.view.logs)

    def _opened(self, plural: str) -> frozenset[str]:
        """The lagging cursor that the first look at a kind makes."""
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
        if operation.revision and operation.revision != meta.revision:
            raise Conflict(
                f"{operation.key}: the object has been modified ({operation.revision!r} was read, "
                f"it is at {meta.revision!r}); please apply your changes to the latest version"
            )
        return entry

    def _get(self, operation: Operation, *_: Any) -> Object:
        entry = self.store.get(operation.key, self._dated(operation))
        if entry is None:
            raise NotFound(f"{operation.key} not found")
        return entry.value  # type: ignore[return-value]

    def _list(self, operation: Operation, *_: Any) -> Listing:
        if _is_at_least(operation):
            wanted = _revision(operation) or 0
            return self.listing(
                operation, None, live=self.cursor(operation.plural).revision < wanted
            )
        return self.listing(operation, self._dated(operation), live=not operation.revision)

    def listing(self, operation: Operation, at: int | None, *, live: bool = False) -> Listing:
        """What it selects, as it was at a revision; without one, as far as this Endpoint has read,
        or `live` as the Store has it."""
        plural, selector = operation.plural, operation.selector
        prefix = f"{plural}/{selector.namespace}/" if selector.namespace else f"{plural}/"
        cursor = self.cursor(plural)
        if at is None and not live and not cursor.follows:
            at = self.read_to(cursor)
            self.store.mark(reads={cursor.key})
        elif at is None:
            self.store.mark(reads=sorted(operation.view.logs))
        store = self.store
        store.note_told()
        found = tuple(entry.value for entry in store.snapshot(prefix, at))
        items = tuple(item for item in found if selector.matches(item))
        now = Revision(store.revision if at is None else at, operation.view.as_listed)
        return Listing(items, now)

    def _watch(self, operation: Operation, *_: Any) -> Watch:
        since = self._dated(operation)
        if since is None:
            since = self.store.revision
            self.store.mark(reads=sorted(operation.view.logs))
        cursor = self.cursor(operation.plural)
        options = operation.options
        return Watch(
            cursor, operation.selector, since=since, fields=options.get("fields"),
            bookmarks=bool(options.get("bookmarks")),
        )  # fmt: skip

    def _dated(self, operation: Operation) -> int | None:
        """The point in history it speaks of, None if it does not say, or says that any will do; a
        read of the past depends on what of it has been compacted away.

        If it is one that a list or a watch of the same has told, then whoever told it has seen to
        it what comes before that point and what after. Otherwise it may be anybody's, and so the
        order of all that was committed matters.
        """
        at = _revision(operation)
        if at is not None:
            self.store.mark(reads={HISTORY})
            if not operation.view.is_told(operation.revision):
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
        """Write several objects at one revision, if each is still as it was read."""
        olds: list[Any] = []
        for item in operation.body:
            entry = self.store.get(item.key)
            old: Any = None if entry is None else entry.value
            read = item.meta.revision
            if read and (old is None or old.meta.revision != read):
                raise Conflict(
                    f"{item.key}: the object has been modified since {read!r} was read; nothing "
                    "of the transaction was done"
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
        """Forget what came before a revision, if one is named; the revision of now. Expired if
        that is forgotten already."""
        before = _revision(operation)
        if before is not None:
            self.store.compact(before)
        self.store.mark(reads=(LOG,))
        self.store.note_told()
        return Revision(self.store.revision)

    def _made(self, item: Object, caller: str, now_ms: int) -> Object:
        """A new object, with an identity of its own: who made it, and how many before it. What a
        World begins with may have one already, and an age."""
        if not self._created:
            self._created.update(_counted(self.store))
        creator = creator_of(self.name, caller)
        self.store.mark(writes=(f"uids:{creator}",))
        nth = self._created[creator] = self._created.get(creator, 0) + 1
        given = item.meta if caller == ASSEMBLY else Meta()
        return item.with_meta(
            uid=given.uid or f"{creator}-{nth}",
            created_ms=now_ms // 1000 * 1000 if given.created_ms is None else given.created_ms,
            revision=Revision(self.store.revision + 1),
        )

    def _revised(self, item: Object, old: Object) -> Object:
        """What an object becomes: its identity stays; the old one itself if nothing changes."""
        meta = old.meta
        new = item.with_meta(
            uid=meta.uid,
            created_ms=meta.created_ms,
            revision=Revision(self.store.revision + 1),
        )
        return old if new.is_as(old) else new


def _counted(store: Store) -> dict[str, int]:
    """How many objects each creator has made of those that are there: an Endpoint that takes the
    place of another goes on counting."""
    created: dict[str, int] = {}
    for entry in store.snapshot(""):
        if isinstance(entry.value, Object):
            creator, _, nth = entry.value.meta.uid.rpartition("-")
            if nth.isdecimal():
                created[creator] = max(created.get(creator, 0), int(nth))
    return created


def _is_at_least(operation: Operation) -> bool:
    """Whether any state will do for it that is no older than the revision it names."""
    return operation.verb == "list" and operation.options.get("match") == NOT_OLDER


def _revision(operation: Operation) -> int | None:
    """The point in history it speaks of; None if it does not say."""
    text = str(operation.revision)
    if text in ("", ANY):
        return None
    if not text.isdecimal():
        raise Invalid(f"{operation}: {text!r} is no revision; give one that an answer has told")
    return int(text)


def _check_body(operation: Operation) -> None:
    """What is written must be what the Operation is about."""
    body = operation.body
    key = body.key if isinstance(body, Object) else f"{body!r}"
    if key != operation.key:
        raise Invalid(f"{operation}: its body is {key}")
