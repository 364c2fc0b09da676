"""Endpoints of drawn Worlds: with memory that is marked and that is not, slow ones, a near one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from testbed.errors import Conflict, TooManyRequests
from testbed.objects import Map, Note
from testbed.store.endpoint import BETWEEN, Handler, Operation, Pause
from testbed.store.footprint import Footprint
from testbed.store.store import Store
from testbed.store.store_endpoint import StoreEndpoint
from testbed.store.txn import Compare, Put

OWN_VERBS = (
    "add", "look", "slow", "behind", "twice", "write", "deny", "who", "range", "far", "erase",
    "both",
)  # fmt: skip
WRITES = ("write", "twice", "behind", "erase", "both")


class Ledger(StoreEndpoint):
    """Counts who has asked it for what. It says in Footprints who changes that and who looks."""

    marks = True

    def __init__(self, store: Store, name: str = "ledger") -> None:
        super().__init__(store, name, lags=(), lag_ms=0)
        self.entries: list[str] = []

    def restart(self) -> None:
        """Forget all entries."""
        super().restart()
        self.entries = []

    def digest(self) -> dict[str, object]:
        """What a lap is known by."""
        return {"entries": tuple(self.entries)}

    def may(self, operation: Operation, caller: str = "") -> Footprint:
        """Its own memory, and the note that `write` writes."""
        if operation.verb not in OWN_VERBS:
            return super().may(operation, caller)
        memory = frozenset({f"memory:{self.name}"} if self.marks else ())
        if operation.verb in ("range", "far"):
            return Footprint(memory | {"log:", "history"}, memory)
        if operation.verb not in WRITES:
            return Footprint(memory, memory)
        keys = frozenset({operation.key, f"{operation.key}-2"})
        return Footprint(memory | keys, memory | keys | {"log:notes"})

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        """Its own verbs, and those of the Store's own Endpoint."""
        match operation.verb:
            case "add":
                return self._add(f"{operation.name} of {caller}")
            case "look":
                return self._looked()
            case "who":
                return f"{caller} at {now_ms}, {operation.uid}"
            case "slow":
                yield Pause(until_ms=now_ms + 10)
                return self._looked()
            case "behind":
                cursor = self.cursor("notes")
                yield Pause(
                    cursor=cursor, revision=self.store.revision + 1, until_ms=now_ms + 20,
                    may=Footprint(writes=frozenset({operation.key})),
                )  # fmt: skip
                return self._wrote(operation, caller)
            case "twice":
                first = self._wrote(operation, caller)
                yield BETWEEN
                return f"{first} {self._wrote(operation, f'{caller} again')}"
            case "write":
                return self._wrote(operation, caller)
            case "range" | "far":
                return self._seen(operation)
            case "erase":
                return str(self.store.delete(operation.key) is not None)
            case "both":
                return self._both(operation)
            case "deny" if self._count() % 2:
                raise TooManyRequests(f"{self._count()} entries", retry_after_s=self._count())
            case "deny":
                raise Conflict(f"no entry of {caller}", causes=("empty",))
        return (yield from super().handle(operation, caller, now_ms))

    def _seen(self, operation: Operation) -> str:
        """What the Store shows to an Endpoint, asked in every way."""
        store, far = self.store, operation.verb == "far"
        if far:
            return f"{store.revision} {store.compacted} {len(store)}"
        name = operation.options.get("name", "")
        match operation.options.get("how"):
            case "changes":
                found = [
                    change.key for change in store.changes(plural="notes", since=store.compacted)
                ]
            case "between":
                found = [e.key for e in store.between("leases/", "notes0", at=None, limit=1)]
            case "get":
                found = [str(store.get("notes/default/x", at=None) is not None)]
            case _:
                found = [e.key for e in store.range(f"notes/{name}", at=None, limit=2)]
        return str(found)

    def _both(self, operation: Operation) -> str:
        """Two notes at one revision, if the first is not there."""
        note = Note(operation.name, data=Map(by="both"))
        now = self.store.next_revision
        puts = [
            Put(item.key, item.with_meta(revision=now))
            for item in (note, note.with_meta(name=f"{operation.name}-2"))
        ]
        is_absent = Compare(note.key, "revision", "=", 0)
        done = self.store.txn((is_absent,), then=puts, otherwise=())
        return str(done.succeeded)

    def _mark(self, *, writes: bool) -> None:
        if self.marks:
            key = (f"memory:{self.name}",)
            self.store.mark(reads=key, writes=key if writes else ())

    def _add(self, entry: str) -> str:
        self._mark(writes=True)
        self.entries.append(entry)
        return f"entry {len(self.entries)}"

    def _looked(self) -> str:
        self._mark(writes=False)
        return str(self.entries)

    def _count(self) -> int:
        self._mark(writes=False)
        return len(self.entries)

    def _wrote(self, operation: Operation, by: str) -> str:
        entry = self.store.get(operation.key)
        old: Any = None if entry is None else entry.value
        if old is None or old.data.get("by") != by:
            note = Note(operation.name, data=Map(by=by))
            note = note.with_meta(revision=self.store.next_revision)
            self.store.put(note.key, note)
        self._mark(writes=False)
        return f"after {len(self.entries)}"


class Diary(Ledger):
    """The same, but it says nothing of its memory."""

    marks = False


class Pocket(Ledger):
    """A near one: served and answered in the caller's own turn."""

    near = True


class Purse(Pocket):
    """A near one that says nothing of its memory."""

    marks = False


class Gate(Ledger):
    """One that stands before the Store, and counts all that it is asked."""

    is_front = True

    def begin(self) -> None:
        """Note that the World begins."""
        super().begin()
        self.entries = ["begun"]

    def completed(self, item: Any) -> Any:
        """An object of the initial state, with a label."""
        return item.with_meta(labels={**item.meta.labels, "gate": "open"})

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        """Count, then answer."""
        self._add(str(operation))
        return (yield from super().handle(operation, caller, now_ms))

    def may(self, operation: Operation, caller: str = "") -> Footprint:
        """Its own memory as well."""
        memory = frozenset({f"memory:{self.name}"})
        return super().may(operation, caller) | Footprint(memory, memory)


class Clock(Ledger):
    """One that only counts in how far it was asked, and after so many requests begins anew."""

    def __init__(self, store: Store, name: str = "clock", hours: int = 3) -> None:
        super().__init__(store, name)
        self.hours = hours

    def _add(self, entry: str) -> str:
        said = super()._add(entry)
        if len(self.entries) >= self.hours:
            self.entries = []
        return said


ENDPOINTS: dict[str, Callable[[Store], Ledger]] = {
    "ledger": lambda store: Ledger(store, "ledger"),
    "diary": lambda store: Diary(store, "diary"),
    "pocket": lambda store: Pocket(store, "pocket"),
    "purse": lambda store: Purse(store, "purse"),
    "clock": lambda store: Clock(store, "clock"),
}
"""By its name, what makes it."""
