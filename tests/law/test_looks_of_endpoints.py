"""What an Endpoint sees of numbers leaves a mark, too: what it is asked to compare, what it hands
on as a text, and all that one may see that does not say that it marks that by itself."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from actors.apiserver.server import ApiServer
from testbed import Operation, World
from testbed.choosers.complete import Complete
from testbed.client.client import Client
from testbed.errors import ApiError, ScenarioError
from testbed.faults.crash import Crash
from testbed.objects import Binding, Note, Pod, Target
from testbed.objects.binding import DeleteOptions, Eviction, Preconditions
from testbed.objects.meta import Revision
from testbed.store.change import Change
from testbed.store.endpoint import Handler
from testbed.store.footprint import NOTHING, Footprint
from testbed.store.store import Get, Store
from testbed.store.store_endpoint import StoreEndpoint
from testbed.store.watch import Cursor, Watch
from tests.each_row import each_row
from tests.models.looking import RUNS, commits, ends_of, is_seen, of_actors, says
from tests.shared.stage import Doing, note

BOTH = {(), ("nobody_says_odd",)}


# -- preconditions ---------------------------------------------------------------------------------


async def updates_from_a_list(client: Client) -> None:
    """Name the revision of a list as that of an object."""
    listing = await client.list(Note)
    await client.update(note("n", a="1").with_meta(revision=listing.revision))


async def updates_from_a_number(client: Client) -> None:
    """Name a revision that nobody has told."""
    await client.update(note("n", a="1"), whatever_it_was=True)
    await client.update(note("n", a="2").with_meta(revision=Revision(4)))


async def deletes_by_a_number(client: Client) -> None:
    """The same for a delete."""
    await client.update(note("n", a="1"), whatever_it_was=True)
    await client.delete(note("n").with_meta(revision=Revision(4)))


async def writes_several_by_a_number(client: Client) -> None:
    """The same for a transaction."""
    await client.update(note("n", a="1"), whatever_it_was=True)
    item = note("n", a="2").with_meta(revision=Revision(4))
    await client.ask(Operation("txn", "notes", "n", "default", (item,)))


async def patches_by_a_number(client: Client) -> None:
    """The same for a patch, as a text."""
    old = await client.update(note("n", a="1"), whatever_it_was=True)
    await client.patch(
        old, {"metadata": {"resourceVersion": "4", "annotations": {"a": "b"}}}, how="strategic"
    )


async def patches_from_a_list(client: Client) -> None:
    """The same for a patch, with the revision of a list."""
    old = await client.update(note("n", a="1"), whatever_it_was=True)
    of = (await client.list(Note)).revision
    await client.patch(old, {"metadata": {"resourceVersion": of, "annotations": {"a": "b"}}})


async def binds_by_a_number(client: Client) -> None:
    """The same for a binding."""
    pod = await client.create(Pod.of("p"))
    meta = pod.with_meta(revision=Revision(4)).meta
    binding = Binding(meta, target=Target(name="n1"))
    await client.ask(Operation("create", "pods", "p", "default", binding, subresource="binding"))


async def evicts_by_a_number(client: Client) -> None:
    """The same for an eviction."""
    await client.create(Pod.of("p"))
    options = DeleteOptions(preconditions=Preconditions(revision=Revision(4)))
    eviction = Eviction("p", delete_options=options)
    await client.ask(Operation("create", "pods", "p", "default", eviction, subresource="eviction"))


OF_BOTH = (updates_from_a_list, updates_from_a_number, deletes_by_a_number)
OF_THE_API = (patches_by_a_number, patches_from_a_list, binds_by_a_number, evicts_by_a_number)
ASKS = {
    f"{front.__name__}-{f.__name__}": (front, f)
    for front, known in (
        (StoreEndpoint, (*OF_BOTH, writes_several_by_a_number)),
        (ApiServer, (*OF_BOTH, *OF_THE_API)),
    )
    for f in known
}


@each_row(("front", "asks"), ASKS.values(), ids=ASKS)
def test_a_precondition_that_all_commits_have_counted_is_marked(
    front: type[StoreEndpoint], asks: Doing
) -> None:
    """Unless it names the revision of one commit; also if the server alone compares it."""

    async def tries(client: Client) -> None:
        try:
            await asks(client)
        except ApiError:
            says(client, odd=True)
        else:
            says(client, odd=False)

    def build(world: World) -> None:
        world.serve(front)
        of_actors(a=tries, b=commits)(world)

    assert is_seen(build) == BOTH


def test_a_precondition_of_one_commit_costs_nothing() -> None:
    """An update, a patch and a delete of what was read are in order with nothing else."""

    async def writes(client: Client) -> None:
        one = await client.get(Note, "n")
        two = await client.update(one.saying(a="1"))
        tree = {"metadata": {"annotations": {"a": "b"}, "resourceVersion": two.meta.revision}}
        three = await client.patch(two, tree)
        four = await client.patch(three, {"metadata": {"annotations": {"a": "c"}}})
        await client.delete(four)

    def build(world: World) -> None:
        world.serve(ApiServer)
        of_actors(a=writes, b=commits)(world)

    complete = Complete()
    assert ends_of(build, complete, 100) == {()}
    assert complete.classes == complete.runs == 1


async def refused_a_delete(client: Client, old: Pod) -> None:
    """Delete what has changed since."""
    await client.delete(old)


async def refused_a_binding(client: Client, old: Pod) -> None:
    """Bind what has changed since."""
    binding = Binding(old.meta, target=Target(name="n1"))
    await client.ask(Operation("create", "pods", "p", "default", binding, subresource="binding"))


@each_row("refused", [refused_a_delete, refused_a_binding])
def test_the_text_of_a_refusal_with_revisions_in_it_is_marked(refused: Any) -> None:
    """It says of what revision the object is."""

    async def reads(client: Client) -> None:
        old = await client.create(Pod.of("p"))
        await client.update(old.with_meta(labels={"a": "b"}))
        try:
            await refused(client, old)
        except ApiError as error:
            says(client, odd="5" in str(error))

    def build(world: World) -> None:
        world.serve(ApiServer)
        of_actors(a=reads, b=commits)(world)

    assert is_seen(build) == BOTH


def test_a_revision_in_a_patch_is_marked_where_it_becomes_a_text() -> None:
    """As an annotation anybody can read it again."""

    async def patches(client: Client) -> None:
        listing = await client.list(Note)
        tree = {"metadata": {"annotations": {"seen": listing.revision}}}
        new = await client.patch(listing.items[0], tree)
        says(client, odd=new.meta.annotations["seen"] == "3")

    def build(world: World) -> None:
        world.serve(ApiServer)
        of_actors(a=patches, b=commits)(world)

    assert is_seen(build) == BOTH


# -- Endpoints that do not say that they mark ------------------------------------------------------


class Seeing(StoreEndpoint):
    """Answers `see` with what it sees somewhere, and marks nothing."""

    def __init__(self, store: Store, name: str = "seeing") -> None:
        super().__init__(store, name, lags=("notes",))
        self.follows = Cursor(store, name, "pods")
        self.began = 0
        self.keep()

    def keep(self) -> None:
        """Keep what will show all that is committed from now on."""
        self.heard: list[Change] = []
        self.store.listeners.add("pods", self.heard.append)
        self.kept = self.store.log()
        self.watch_of_all = Watch(self.follows, Operation("").selector, 1)

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


@each_row("sees", SIGHTS.values(), ids=SIGHTS)
@each_row("is_near", [False, True])
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


# -- Endpoints that say that they mark what they remember ------------------------------------------

MEMORY = ("log", "a kept log", "a watch", "a listener")
"""What one keeps is its memory, so that it marks this by itself; it is not given a Log at all."""
READS: dict[str, Callable[[Seeing], object]] = {
    **{name: sees for name, sees in SIGHTS.items() if name not in MEMORY},
    "created": lambda it: it.store.range("pods/")[0].created == 4 if len(it.store) > 1 else None,
    "snapshot": lambda it: not it.store.snapshot("pods/"),
    "changes": lambda it: it.store.changes()[-1].key.startswith("pods"),
    "len": lambda it: len(it.store) == 1,
    "a body": lambda it: "4" in repr(it.store.next_revision),
}


@pytest.mark.parametrize("sees", READS.values(), ids=READS)
@pytest.mark.parametrize("is_near", [False, True])
def test_each_read_of_an_endpoint_that_says_that_it_marks_is_marked(
    sees: Callable[[Seeing], object], *, is_near: bool
) -> None:
    """By the Store, also where the harness reads without a mark: what it declares is about what it
    remembers."""

    def keep(it: Seeing) -> None:
        """Keep nothing."""

    facts = {"see": sees, "near": is_near, "marks_memory": True, "keep": keep}
    kind = type("Sees", (Seeing,), facts)

    async def asks(client: Client) -> None:
        await client.update(note("n", a="1"), whatever_it_was=True)
        says(client, odd=await client.ask(Operation("see", endpoint="seeing")))

    def build(world: World) -> None:
        world.serve(kind)
        of_actors(a=asks, b=commits)(world)

    assert is_seen(build) == BOTH


@pytest.mark.parametrize("when", ["made", "asked", "begun"])
def test_a_log_is_refused_to_an_endpoint_that_says_that_it_marks(when: str) -> None:
    """It would show all that is committed from then on; the error says what to do instead."""

    class Takes(StoreEndpoint):
        marks_memory = True

        def __init__(self, store: Store) -> None:
            super().__init__(store, "takes")
            if when == "made":
                store.log("pods")

        def begin(self) -> None:
            if when == "begun":
                self.store.log("pods")

        def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
            self.store.log("pods")
            return None
            yield

    async def asks(client: Client) -> None:
        await client.ask(Operation("see", endpoint="takes"))

    def build(world: World) -> None:
        world.serve(Takes)
        of_actors(a=asks)(world)

    with pytest.raises(ScenarioError, match=r"declares `marks_memory`.*\nNext: .*store\.unmarked"):
        ends_of(build, Complete(), 1)


def test_what_is_read_unmarked_is_on_the_word_of_the_endpoint() -> None:
    """It looks back itself, and then the search sees both orders."""

    def keep(it: Seeing) -> None:
        """Keep a log, and be trusted with it."""
        it.kept = it.store.unmarked.log("pods")

    def see(it: Seeing) -> object:
        it.store.look_back()
        return bool(it.kept.changes)

    kind = type("Sees", (Seeing,), {"see": see, "marks_memory": True, "keep": keep})

    async def asks(client: Client) -> None:
        says(client, odd=await client.ask(Operation("see", endpoint="seeing")))

    def build(world: World) -> None:
        world.serve(kind)
        of_actors(a=asks, b=commits)(world)

    assert is_seen(build) == BOTH
