"""Scenarios with many kinds of Steps side by side."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from testbed.client.cache import Cache
from testbed.client.client import Client
from testbed.errors import ApiError, Cancelled, Conflict
from testbed.faults.break_watch import BreakWatch
from testbed.faults.clock_step import ClockStep
from testbed.faults.compact import Compact
from testbed.faults.crash import Crash
from testbed.faults.lag import Lag
from testbed.faults.lose_reply import LoseReply
from testbed.faults.lose_request import LoseRequest
from testbed.faults.partition import Partition
from testbed.faults.restart import Restart
from testbed.faults.server_error import ServerError
from testbed.faults.stall import Stall
from testbed.objects import Note, Pod, PodSpec, PodStatus
from testbed.store.endpoint import Operation
from testbed.store.selector import Selector
from testbed.store.store import Store
from testbed.world.world import World
from tests.shared.endpoints import Clerk, file, move
from tests.shared.stage import Apart, Puppet, note


async def creates(client: Client) -> None:
    """Two tasks, each of which creates a Note of its own, twice."""

    async def one(name: str) -> None:
        for n in range(2):
            try:
                made = await client.create(note(f"{client.name}-{name}-{n}"))
                client.record("made", uid=made.meta.uid)
            except ApiError as error:
                client.record("failed", why=error.reason)

    tasks = [client.spawn(name, one, name) for name in ("x", "y")]
    for task in tasks:
        await client.join(task)


def says(client: Client, what: str) -> Callable[..., None]:
    """A handler that records of which object it hears."""

    def say(*items: Note | Pod) -> None:
        client.record(what, key=items[-1].key)

    return say


async def hears(client: Client) -> None:
    """Has a Cache, and records in which order it hears of what."""
    cache = Cache(client, Note)
    cache.on(add=says(client, "added"), delete=says(client, "gone"))
    await cache.synced()
    await client.queue("idle", idle=True).get()


async def hears_late(client: Client) -> None:
    """Lists, waits, and opens a watch on what has happened since."""
    try:
        listing = await client.list(Note)
        await client.get(Note, "n")
        stream = await client.watch(Note, listing.revision)
        for _ in range(3):
            got = await client.first(stream.next(), client.sleep(5, "enough"))
            if got[0] == 1:
                client.record("nothing")
                continue
            client.record("heard", key=got[1].key)
        stream.close()
    except ApiError as error:
        client.record("refused", why=error.reason)


async def shares(client: Client) -> None:
    """Tasks with a queue, a signal, a cancel and a join between them."""
    inbox, ready = client.queue("inbox"), client.signal("ready")

    async def taker(name: str) -> None:
        try:
            for _ in range(2):
                client.record("took", who=name, item=await inbox.get())
        except Cancelled:
            client.record("cancelled", who=name)
            raise

    async def setter() -> None:
        await client.sleep(0, "soon")
        ready.set()
        inbox.put("s")
        await client.sleep(0, "soon")
        ready.clear()

    async def waiter() -> None:
        place, _ = await client.first(ready.wait(), client.sleep(0, "at once"), inbox.get())
        client.record("first", place=place)

    a, b = client.spawn("taker", taker, "a"), client.spawn("taker", taker, "b")
    c, d = client.spawn("setter", setter), client.spawn("waiter", waiter)
    inbox.put("1")
    inbox.put("2")
    await client.sleep(0, "a while")
    client.cancel(a)
    client.record("ended", which=[task.has_ended for task in (a, b, c, d)])
    await client.join(d)
    client.cancel(b)
    place, _ = await client.first(client.join(a), client.join(b), client.sleep(3, "late"))
    client.record("last", place=place)


async def writes(client: Client) -> None:
    """Updates and deletes, with deadlines."""
    for n in range(2):
        try:
            seen = await client.get(Note, "n", timeout_ms=20)
            await client.update(seen.saying(**{client.name: str(n)}), timeout_ms=0)
        except Conflict:
            client.record("conflict")
        except ApiError as error:
            client.record("refused", why=error.reason)
            await client.sleep(2, "retry")


async def looks_back(client: Client) -> None:
    """Reads the past, at a revision its own write has told it."""
    try:
        mine = await client.create(note(f"{client.name}-own"))
        listing = await client.list(Note, at=mine.meta.revision)
        client.record("then", keys=[item.key for item in listing.items])
        stream = await client.watch(Note, mine.meta.revision)
        place, got = await client.first(stream.next(), client.sleep(1, "enough"))
        client.record("heard", key=got.key if place == 0 else "")
        stream.close()
    except ApiError as error:
        client.record("refused", why=error.reason)


async def beats(client: Client) -> None:
    """Changes what nobody has declared, and once what somebody has."""
    name = client.name
    try:
        pod = await client.get(Pod, name)
        for n in range(2):
            pod = await client.update(attrs.evolve(pod, status=PodStatus(str(n))))
        await client.update(attrs.evolve(pod, spec=PodSpec("n1")))
    except ApiError as error:
        client.record("refused", why=error.reason)


async def declares(client: Client) -> None:
    """A Cache that declares one field, and one with a selector."""
    bound = Cache(client, Pod, reads=("spec.node_name",))
    mine = Cache(client, Pod, Selector(fields=(("spec.node_name", "n1"),)), reads=())
    bound.on(update=says(client, "bound"))
    mine.on(add=says(client, "mine"))
    await bound.synced()
    await mine.synced()
    client.record("knows", bound=[p.key for p in bound.all() if p.spec.node_name])
    await client.sleep(0, "look")
    client.record("knows", bound=[p.key for p in bound.all() if p.spec.node_name])
    await client.queue("idle", idle=True).get()


async def asks_the_clerk(client: Client) -> None:
    """Moves a Note in two transactions, and files one once the clerk's cursor is there."""
    try:
        await client.ask(move(f"m-{client.name}", f"moved-{client.name}"))
        await client.ask(file(note(f"filed-{client.name}"), until_ms=2))
        listing = await client.list(Note)
        await client.ask(file(note(f"more-{client.name}"), revision=int(str(listing.revision))))
    except ApiError as error:
        client.record("refused", why=error.reason)


def lagging(store: Store) -> Clerk:
    """A clerk that hears late of Notes."""
    return Clerk(store, "clerk", lags=("notes",))


FAULTS = (
    Crash("*", restart_after_ms=0), Crash("store", restart_after_ms=1), BreakWatch(),
    LoseReply(), LoseRequest(), ServerError(), Partition(for_ms=3), Stall(by_ms=2), Lag(by_ms=2),
    ClockStep(), Compact(), Restart(),
)  # fmt: skip


def world(
    *names: str, faults: bool = False, window: int | None = None, apart: bool = True
) -> World:
    """A World in which these play, each by its function's name."""
    made = World("side_by_side", store=Store(window=window))
    made.add(note("n"), Pod("p1"), Pod("p2"))
    made.add(*(note(f"m-{name}") for name in names))
    for name in names:
        do = globals()[name.rstrip("2")]
        made.start((Apart if apart else Puppet)(name.replace("_", "-"), do))
    if faults:
        made.allow(*FAULTS)
    return made


def pods(*, faults: bool = False) -> World:
    """Two pods that beat, and who looks on."""
    made = World("pods")
    made.add(Pod("p1"), Pod("p2"))
    made.start(Apart("p1", beats), Apart("p2", beats), Apart("declares", declares))
    if faults:
        made.allow(*FAULTS)
    return made


def clerks(*, faults: bool = False) -> World:
    """Two Endpoints on one Store, of which one lags."""
    made = World("clerks")
    made.serve(lagging)
    made.add(note("n"), note("m-a"), note("m-b"))
    made.start(
        Apart("a", asks_the_clerk), Apart("b", asks_the_clerk), Apart("c", listens_to_the_clerk)
    )
    if faults:
        made.allow(*FAULTS, Crash("clerk", restart_after_ms=0))
    return made


async def listens_to_the_clerk(client: Client) -> None:
    """Lists at the clerk, who lags, and watches from there."""
    try:
        listing = await client.ask(Operation("list", "notes", endpoint="clerk"))
        client.record("listed", keys=[item.key for item in listing.items])
        watching = Operation("watch", "notes", revision=listing.revision, endpoint="clerk")
        stream = await client.ask(watching)
        for _ in range(3):
            client.record("heard", key=(await stream.next()).key)
        await client.create(note("mine"))
    except ApiError as error:
        client.record("refused", why=error.reason)
