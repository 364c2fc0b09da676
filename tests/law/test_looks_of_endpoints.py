"""What an Endpoint sees leaves a mark, too: all that one may see that does not say that it marks that
by itself."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from looking import RUNS, commits, is_seen, of_actors, says
from stage import note

from testbed import Operation, World
from testbed.client.client import Client
from testbed.errors import ApiError
from testbed.faults.crash import Crash
from testbed.store.change import Change
from testbed.store.endpoint import Handler
from testbed.store.footprint import NOTHING, Footprint
from testbed.store.store import Get, Store
from testbed.store.store_endpoint import StoreEndpoint
from testbed.store.watch import Cursor, Watch

BOTH = {(), ("nobody_says_odd",)}


# -- Endpoints that do not say that they mark ------------------------------------------------------


class Seeing(StoreEndpoint):
    """Answers `see` with what it sees somewhere, and marks nothing."""

    def __init__(self, store: Store, name: str = "seeing") -> None:
        super().__init__(store, name, lags=("notes",))
        self.heard: list[Change] = []
        store.listen("pods", self.heard.append)
        self.kept = store.log()
        follows = Cursor(store, name, "pods")
        self.watch_of_all = Watch(follows, Operation("").selector, 1)
        self.follows = follows
        self.began = 0

    def restart(self) -> None:
        """Note how far the Store was."""
        super().restart()
        self.began = self.store.revision

    def see(self) -> object:
        """What it answers."""
        raise NotImplementedError

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        """Look, and say."""
        if operation.verb != "see":
            return (yield from super().handle(operation, caller, now_ms))
        return self.see()

    def may(self, operation: Operation, caller: str = "") -> Footprint:
        """Nothing that it knows of."""
        return NOTHING if operation.verb == "see" else super().may(operation, caller)


def _of_n(endpoint: Seeing) -> Any:
    entry = endpoint.store.get("notes/default/n")
    assert entry is not None
    return entry


SIGHTS: dict[str, Callable[[Seeing], object]] = {
    "get": lambda it: _of_n(it).revision == 3,
    "text": lambda it: _of_n(it).value.meta.revision.text == "3",
    "txn": lambda it: it.store.txn((), (Get("notes/default/n"),)).revision == 3,
    "log": lambda it: it.store.log("notes").changes[-1].revision == 3,
    "a kept log": lambda it: it.kept.changes[-1].key.startswith("pods"),
    "next_revision": lambda it: it.store.next_revision.text == "4",
    "first_after": lambda it: it.store.first_after(10**9) == 4,
    "a new cursor": lambda it: it.cursor("pods").revision == 3,
    "a cursor": lambda it: it.follows.revision == 3,
    "a watch": lambda it: it.watch_of_all.is_ready,
    "a listener": lambda it: len(it.heard) == 1,
    "peek": lambda it: it.store.peek("pods/default/of-b") is not None,
    "revision": lambda it: it.store.revision == 3,
}


@pytest.mark.parametrize("sees", SIGHTS.values(), ids=SIGHTS)
@pytest.mark.parametrize("is_near", [False, True])
def test_an_endpoint_that_does_not_say_that_it_marks_may_see_anything(
    sees: Callable[[Seeing], object], *, is_near: bool
) -> None:
    """In the Store, in what it keeps of it, or in what it was told of it."""
    kind = type("Sees", (Seeing,), {"see": sees, "near": is_near})

    async def asks(client: Client) -> None:
        await client.update(note("n", a="1"), whatever_it_was=True)
        says(client, odd=await client.ask(Operation("see", endpoint="seeing")))

    def build(world: World) -> None:
        world.serve(kind)
        of_actors(a=asks, b=commits)(world)

    assert is_seen(build) == BOTH


def test_an_endpoint_that_does_not_say_that_it_marks_may_note_much_as_it_restarts() -> None:
    """The start of its next life has its place among all commits."""
    kind = type("Began", (Seeing,), {"see": lambda it: it.began == 3})

    async def asks(client: Client) -> None:
        await client.sleep(5)
        with suppress(ApiError):
            says(client, odd=await client.ask(Operation("see", endpoint="seeing")))

    def build(world: World) -> None:
        world.serve(kind)
        world.allow(Crash("seeing", restart_after_ms=1))
        of_actors(a=asks, b=commits)(world)

    assert is_seen(build, 3 * RUNS) == BOTH


def test_an_endpoint_that_does_not_say_that_it_marks_may_see_its_cursors_move() -> None:
    """A cursor that lags is moved in a turn of its own."""
    kind = type("Moved", (Seeing,), {"see": lambda it: it.cursors["notes"].is_behind})

    async def asks(client: Client) -> None:
        await client.ask(Operation("list", "notes", endpoint="seeing"))
        await client.update(note("n", a="1"), whatever_it_was=True)
        says(client, odd=await client.ask(Operation("see", endpoint="seeing")))

    def build(world: World) -> None:
        world.serve(kind)
        of_actors(a=asks)(world)

    assert is_seen(build) == BOTH
