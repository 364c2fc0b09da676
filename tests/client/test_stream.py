"""The stream: one reader, one Option for each delivery, and never silence."""

from __future__ import annotations

import pytest

from testbed.client.client import Client
from testbed.client.open_watch import BOOKMARK_MS
from testbed.client.stream import Stream
from testbed.errors import Expired, ScenarioError, WatchBroken
from testbed.faults.break_watch import BreakWatch
from testbed.faults.compact import Compact
from testbed.faults.crash import Crash
from testbed.objects import Map, Node, Note, Pod, PodSpec, Revision
from testbed.store.endpoint import Operation
from testbed.store.selector import Selector
from testbed.store.store_endpoint import ANY, StoreEndpoint
from testbed.world.world import World
from tests.shared.endpoints import Clerk
from tests.shared.stage import Puppet, note, play, world_of

BOOKMARKS = Map(bookmarks=True)
ON_N1 = Selector(fields=(("spec.node_name", "n1"),))


class Reader:
    """Reads one watch to the end of a World; keeps the deliveries in order."""

    def __init__(
        self, selector: Selector | None = None, *, since: int = 1, bookmarks: bool = False
    ) -> None:
        self.selector = selector or Selector()
        self.since = Revision(since)
        self.options = BOOKMARKS if bookmarks else Map()
        self.told: list[str] = []

    async def __call__(self, client: Client, kind: type[Note] | type[Pod] = Note) -> None:
        stream = await client.watch(kind, self.since, self.selector, options=self.options)
        while True:
            try:
                delivery = await stream.next()
            except (WatchBroken, Expired) as error:
                self.told.append(f"{type(error).__name__}: {error}")
                return
            self.told.append(f"{delivery.type} {delivery.key} rv {delivery.revision}")

    async def pods(self, client: Client) -> None:
        """Reads a watch of pods."""
        await self(client, Pod)


def writing(*names: str) -> Puppet:
    """Creates Notes of these names, one after another, from 1 s on, a second apart."""

    async def run(client: Client) -> None:
        for name in names:
            await client.sleep(1_000)
            await client.create(note(name))

    return Puppet("writer", run)


# -- deliveries ---------------------------------------------------------------------------------


def test_the_causes_of_a_delivery_are_the_commit_and_the_waiting_reader() -> None:
    """A set, oldest first, in either order of the two; one Step if it was both."""
    world = world_of(alpha=Reader())
    world.start(writing("a"))
    played = play(world)
    asked, write = (
        played.only("answer alpha/main watch *"),
        played.only("serve writer/main create*"),
    )
    assert played.only("deliver *").causes == (asked.number, write.number)

    world = world_of(alpha=Reader())
    world.start(writing("a"))
    world.limit(delay_max_ms=5_000)
    late = ("start alpha/*",)
    played = play(world, "start writer/*", "wake *", "serve writer/*", "answer writer/*", late=late)
    asked, write = (
        played.only("answer alpha/main watch *"),
        played.only("serve writer/main create*"),
    )
    assert played.only("deliver *").causes == (write.number, asked.number)


@pytest.mark.spec("API-52")
def test_watches_of_two_kinds_are_in_no_order() -> None:
    """A pod can be seen on a node before the node is seen, and the other way round."""

    def seen(first: str) -> list[str]:
        order: list[str] = []

        def reading(kind: type[Node] | type[Pod]) -> Puppet:
            async def run(client: Client) -> None:
                stream = await client.watch(kind, Revision(1))
                order.append((await stream.next()).key)

            return Puppet(kind.plural, run)

        async def writer(client: Client) -> None:
            await client.sleep(1)
            await client.create(Node("n1"))
            await client.create(Pod("p", spec=PodSpec("n1")))

        world = world_of(writer=writer)
        world.start(reading(Node), reading(Pod))
        play(world, "answer writer/main create pods/*", f"deliver {first}/*", late=("deliver *",))
        return order

    assert seen("nodes") == ["nodes/n1", "pods/default/p"]
    assert seen("pods") == ["pods/default/p", "nodes/n1"]


# -- readers ------------------------------------------------------------------------------------


def test_a_stream_has_one_reader() -> None:
    """A second task that reads it gets an error that names the first; the Run ends."""

    async def alpha(client: Client) -> None:
        stream = await client.watch(Note, Revision(1))

        async def read() -> None:
            await stream.next()

        client.spawn("one", read)
        client.spawn("two", read)

    with pytest.raises(ScenarioError, match=r"watch-notes has two readers: alpha/one, alpha/two"):
        play(world_of(alpha=alpha), "start alpha/one")


def test_the_path_of_a_stream_is_free_when_it_is_closed() -> None:
    """Two at a time are numbered; the next one takes the first free number."""
    paths: list[str] = []

    async def alpha(client: Client) -> None:
        first, second = [await client.watch(Note, Revision(1)) for _ in range(2)]
        first.close()
        third, fourth = [await client.watch(Note, Revision(1)) for _ in range(2)]
        pods = await client.watch(Pod, Revision(1))
        paths.extend(stream._watch.path for stream in (first, second, third, fourth, pods))

    play(world_of(alpha=alpha))
    assert [path.removeprefix("alpha/watch-") for path in paths] == [
        "notes",
        "notes#2",
        "notes",
        "notes#3",
        "pods",
    ]


# -- how it ends --------------------------------------------------------------------------------


@pytest.mark.spec("API-46")
def test_a_break_is_told_now_to_a_waiting_reader() -> None:
    """In a turn of its own, which the fault has caused; what was offered is withdrawn, and a
    watch that resumes from the last revision seen has lost nothing."""
    reader, second = Reader(), Reader(since=2)

    async def alpha(client: Client) -> None:
        await reader(client)
        await second(client)

    world = world_of(alpha=alpha)
    world.start(writing("a", "b"))
    world.allow(BreakWatch())
    played = play(world, "deliver * notes/default/a ADDED", "serve writer/*", "fault *")
    assert reader.told == [
        "ADDED notes/default/a rv 2",
        "WatchBroken: the watch of notes was closed",
    ]
    assert second.told == ["ADDED notes/default/b rv 3"]
    asked, fault = played.only("deliver *a ADDED"), played.only("fault *")
    assert played.only("deliver *BROKEN").causes == (asked.number, fault.number)


def test_a_compaction_that_overtakes_a_watch_ends_it_in_expired() -> None:
    """What was still to be delivered is gone; the reader gets an error, each time it asks."""
    told: list[str] = []

    async def alpha(client: Client) -> None:
        stream: Stream = await client.ask(Operation("watch", "notes", revision=Revision(1)))
        await client.sleep(5_000)
        for _ in range(2):
            try:
                await stream.next()
            except Expired as error:
                told.append(str(error))

    world = world_of(alpha=alpha)
    world.start(writing("a", "b"))
    world.allow(Compact())
    played = play(world, "serve * notes/default/b", "fault *")
    assert (
        told
        == [
            "too old resource version: 1 (3): a compaction overtook this watch of notes; list again"
        ]
        * 2
    )
    assert [step.outcome for step in played.every("deliver *")] == ["Expired", "Expired"]


def test_a_compaction_after_a_delivery_was_offered_makes_it_expired() -> None:
    """The turn that delivers it reads how far history is kept, so the two do not commute."""
    reader = Reader()
    world = world_of(alpha=reader)
    world.start(writing("a", "b"))
    world.allow(Compact())
    world.limit(delay_max_ms=5_000)
    played = play(world, "serve * notes/default/b", "fault *", late=("deliver *",))
    assert [told.partition(":")[0] for told in reader.told] == ["Expired"]
    deliver, compact = played.only("deliver *"), played.only("fault *")
    assert deliver.option.may.clashes(compact.option.may)
    assert deliver.did.clashes(compact.did)


def test_a_crash_closes_all_watches_of_a_life() -> None:
    """However many there were; nothing is kept for a reader that is dead."""

    async def alpha(client: Client) -> None:
        streams = [await client.watch(kind, Revision(1)) for kind in (Note, Pod, Note, Node)]
        await streams[0].next()

    world = world_of(alpha=alpha)
    world.start(writing("a"))
    world.allow(Crash("alpha"))
    play(world, "answer alpha/main watch nodes", "fault *")
    assert not world.wire.streams.open
    endpoint = world.wire.posts["store"].endpoint
    assert isinstance(endpoint, StoreEndpoint)
    assert not any(cursor._open for cursor in endpoint.cursors.values())


# -- bookmarks ----------------------------------------------------------------------------------


def elsewhere(*at_ms: int) -> Puppet:
    """Writes what the watch on n1 does not select, at these times."""

    async def run(client: Client) -> None:
        for time_ms in at_ms:
            await client.sleep(time_ms - client.now())
            await client.create(Pod(f"p{time_ms}"))

    return Puppet("writer", run)


@pytest.mark.spec("API-44")
def test_a_quiet_watch_is_sent_a_bookmark_a_minute_after_it_fell_behind() -> None:
    """One for all it missed; none when nothing was missed, and none unless it was asked for."""
    reader, plain = Reader(ON_N1, bookmarks=True), Reader(ON_N1)
    world = world_of(alpha=reader.pods, plain=plain.pods)
    world.start(elsewhere(1_000, 5_000, 70_000))
    played = play(world)
    assert reader.told == ["BOOKMARK  rv 3", "BOOKMARK  rv 4"]
    assert not plain.told
    assert [step.now_ms for step in played.every("deliver *")] == [
        1_000 + BOOKMARK_MS,
        70_000 + BOOKMARK_MS,
    ]
    cause = played.only("serve * pods/default/p1000").number
    assert cause in played.only("deliver *BOOKMARK").causes


def test_a_reader_that_comes_and_goes_gets_its_bookmark_all_the_same() -> None:
    """It is due a minute after the watch fell behind, not after the reader last asked."""
    told: list[int] = []

    async def alpha(client: Client) -> None:
        stream = await client.watch(Pod, Revision(1), ON_N1, options=BOOKMARKS)
        while not told:
            place, _ = await client.first(stream.next(), client.sleep(7_000))
            if place == 0:
                told.append(client.now())

    world = world_of(alpha=alpha)
    world.start(elsewhere(1_000))
    play(world)
    assert told == [1_000 + BOOKMARK_MS]


def test_a_watch_that_is_opened_behind_owes_a_bookmark_from_then_on() -> None:
    """What it missed before it was opened counts as well."""
    reader = Reader(ON_N1, bookmarks=True)
    world = world_of(alpha=reader.pods)
    world.add(Pod("p"))
    played = play(world)
    assert reader.told == ["BOOKMARK  rv 2"]
    assert played.only("deliver *").now_ms == BOOKMARK_MS


@pytest.mark.spec("API-44")
def test_no_bookmark_comes_before_a_change_that_is_not_delivered() -> None:
    """One that is due gives way to a Change that comes, and is owed again only after that."""
    reader = Reader(ON_N1, bookmarks=True)

    async def writer(client: Client) -> None:
        await client.sleep(1_000)
        await client.create(Pod("p"))
        await client.sleep(BOOKMARK_MS - 1)
        await client.create(Pod("q", spec=PodSpec("n1")))
        await client.create(Pod("r"))

    world = world_of(alpha=reader.pods, writer=writer)
    played = play(world, "serve * pods/default/r")
    assert reader.told == ["ADDED pods/default/q rv 3", "BOOKMARK  rv 4"]
    created_ms = 1_000 + BOOKMARK_MS - 1
    assert [step.now_ms for step in played.every("deliver *")] == [
        created_ms,
        created_ms + BOOKMARK_MS,
    ]


# -- lagging Endpoints --------------------------------------------------------------------------


def lagging(*lags: str) -> World:
    """A World with a clerk that lags in these kinds when it is not fed."""
    world = world_of()
    world.serve(lambda store: Clerk(store, lags=lags))
    world.limit(delay_max_ms=10_000)
    return world


def watching(plural: str, told: list[str], name: str = "alpha") -> Puppet:
    """Reads a watch of the clerk's."""

    async def run(client: Client) -> None:
        stream: Stream = await client.ask(
            Operation("watch", plural, revision=Revision(1), endpoint="clerk")
        )
        while True:
            told.append((await stream.next()).key)

    return Puppet(name, run)


def test_the_causes_of_a_fed_delivery_are_the_feed_and_the_reader() -> None:
    """And the feed is caused by the commit, and by the feed before it."""
    world = lagging("notes")
    world.start(watching("notes", []), writing("a", "b"))
    played = play(world, "serve * notes/default/b", late=("feed *",))
    writes = [step.number for step in played.every("serve writer/*")]
    first, second = played.every("feed *")
    assert (first.causes, second.causes) == ((writes[0],), (writes[1], first.number))
    one, two = played.every("deliver *")
    assert one.causes == (played.only("answer alpha/*").number, first.number)
    assert set(two.causes) == {one.number, second.number}


def test_what_was_fed_to_a_busy_reader_is_caused_by_its_feed_all_the_same() -> None:
    """Not by the commit, nor by the turn in which the reader came back."""

    async def alpha(client: Client) -> None:
        stream: Stream = await client.ask(
            Operation("watch", "notes", revision=Revision(1), endpoint="clerk")
        )
        await client.sleep(5_000)
        for _ in range(2):
            await stream.next()

    world = lagging("notes")
    world.start(Puppet("alpha", alpha), writing("a", "b"))
    played = play(world)
    feeds = [step.number for step in played.every("feed *")]
    assert [step.causes[0] for step in played.every("deliver *")] == feeds


def test_a_list_of_a_lagging_server_does_not_commute_with_a_feed() -> None:
    """Announced and done; a list of another kind does. With a compaction neither commutes: the
    revision that it tells may be one that is forgotten, or not."""

    async def alpha(client: Client) -> None:
        for plural in ("notes", "pods"):
            await client.ask(Operation("list", plural, revision=Revision(ANY), endpoint="clerk"))

    world = lagging("notes")
    world.start(Puppet("alpha", alpha), watching("notes", [], "beta"), writing("a"))
    world.allow(Compact())
    played = play(world, "serve writer/*", "fault *", late=("start alpha/*", "feed *"))
    notes, pods = played.every("serve alpha/main list *")
    feed, compact = played.only("feed *"), played.only("fault *")
    for one, other in ((notes, feed), (notes, compact), (pods, compact)):
        assert one.option.may.clashes(other.option.may)
        assert one.did.clashes(other.did)
    assert not pods.option.may.clashes(feed.option.may)
    assert not pods.did.clashes(feed.did)


def test_a_server_that_a_compaction_has_overtaken_is_fed_anew() -> None:
    """Its reader gets Expired; if it lists and watches again, it misses nothing from then on."""
    told: list[str] = []

    async def alpha(client: Client) -> None:
        since = Revision(1)
        while True:
            stream: Stream = await client.ask(
                Operation("watch", "notes", revision=since, endpoint="clerk")
            )
            try:
                while True:
                    told.append((await stream.next()).key)
            except Expired:
                listing = await client.ask(Operation("list", "notes", endpoint="clerk"))
                told.append(f"{len(listing.items)} listed")
                since = listing.revision

    world = lagging("notes")
    world.start(Puppet("alpha", alpha), writing("a", "b", "c"))
    world.allow(Compact())
    play(world, "serve * notes/default/b", "fault *", late=("feed *",))
    assert told == ["2 listed", "notes/default/c"]
