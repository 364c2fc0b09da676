"""Endpoints for these tests: one whose verbs take several turns, and a near one."""

from __future__ import annotations

from typing import Any

import attrs

from testbed.errors import NotFound
from testbed.objects.meta import Map, Object
from testbed.objects.note import Note
from testbed.store.endpoint import BETWEEN, Handler, Operation, Pause
from testbed.store.footprint import Footprint
from testbed.store.store import Store
from testbed.store.store_endpoint import StoreEndpoint


class Clerk(StoreEndpoint):
    """Knows, beside the Store's own verbs: `move` a Note to another name, in two transactions;
    `file` it once something has come about, which `options` name; and `break`, to fail."""

    marks_memory = True

    def __init__(self, store: Store, name: str = "clerk", *, lags: tuple[str, ...] = ()) -> None:
        super().__init__(store, name, lags=lags)
        self.lives = 1

    def restart(self) -> None:
        """Count the lives."""
        super().restart()
        self.lives += 1

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        """Each verb of its own, and those of the Store's own Endpoint."""
        match operation.verb:
            case "move":
                return (yield from self._move(operation))
            case "file":
                return (yield from self._file(operation))
            case "break":
                raise ZeroDivisionError("the clerk is broken")
        return (yield from super().handle(operation, caller, now_ms))

    def may(self, operation: Operation, caller: str = "") -> Footprint:
        """A move writes two keys."""
        if operation.verb not in ("move", "file"):
            return super().may(operation, caller)
        keys = frozenset({operation.key, operation.body.key})
        return Footprint(keys, keys | {"log:notes"})

    def _move(self, operation: Operation) -> Handler:
        """Take it away; put it under its new name. Between the two it is nowhere."""
        gone = self.store.delete(operation.key)
        if gone is None:
            raise NotFound(f"{operation.key} not found")
        yield BETWEEN
        return self._written(attrs.evolve(operation.body, data=gone.value.data))  # type: ignore[attr-defined]

    def _file(self, operation: Operation) -> Handler:
        """Wait for a revision of `options`, or for a time, or for whichever is first; write."""
        options = operation.options
        cursor = self.cursor("notes") if "revision" in options else None
        revision = options.get("revision", 0)
        yield Pause(cursor=cursor, revision=revision, until_ms=options.get("until_ms"))
        return self._written(operation.body)

    def _written(self, item: Object) -> Object:
        item = item.with_meta(revision=self.store.next_revision)
        self.store.put(item.key, item)
        return item


class Runtime(Clerk):
    """A near one: what it is asked is done and answered in the caller's own turn."""

    near = True
    marks_memory = True


def move(old: str, new: str, endpoint: str = "clerk") -> Operation:
    """Ask for a Note to be moved."""
    return Operation("move", "notes", old, "default", Note(new), endpoint=endpoint)


def file(item: Note, endpoint: str = "clerk", **options: Any) -> Operation:
    """Ask for a Note to be written later."""
    name = item.meta.name
    return Operation(
        "file", "notes", name, "default", item, options=Map(options), endpoint=endpoint
    )
