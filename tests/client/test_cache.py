"""The Cache: what one actor knows, as stale as its watch, and right again when all is quiet."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

from testbed.choosers.drawn import Drawn
from testbed.choosers.uniform import Uniform
from testbed.client.cache import Cache
from testbed.client.client import Client
from testbed.errors import ApiError, Crashed, Expired, NotFound, ScenarioError, UnknownName
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
from testbed.objects import Map, Note, Object, Pod, PodSpec, Revision
from testbed.store.endpoint import Operation
from testbed.store.selector import Selector
from testbed.store.store_endpoint import ANY, StoreEndpoint
from testbed.turns.life import Seat
from testbed.turns.table import Table
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.stage import Apart, Puppet, note, play, world_of

ON_N1 = Selector(fields=(("spec.node_name", "n1"),))
Calls = list[str]


def told(calls: Calls) -> dict[str, Callable[..., None]]:
    """Handlers that write down how they are called."""

    def say(item: Any) -> str:
        words = getattr(item, "data", None) or getattr(item, "spec", None)
        value = words.get("x", "") if isinstance(words, Map) else getattr(words, "node_name", "")
        return f"{item.meta.name}={value}@{item.meta.revision}"

    return {
        "add": lambda new: calls.append(f"add {say(new)}"),
        "update": lambda old, new: calls.append(f"update {say(old)} {say(new)}"),
        "delete": lambda last: calls.append(f"delete {say(last)}"),
    }


def watcher(
    calls: Calls, kind: type[Note] | type[Pod] = Note, selector: Selector | None = None
) -> Callable[[Client], Any]:
    """An actor that does nothing but know."""

    async def run(client: Client) -> None:
        cache: Cache[Any] = Cache(client, kind, selector or Selector())
        cache.on(**told(calls))

    return run


def steps_of(*steps: tuple[int, str, Object]) -> Callable[[Client], Any]:
    """An actor that writes these, each some time after the one before."""

    async def run(client: Client) -> None:
        for wait_ms, verb, item in steps:
            await client.sleep(wait_ms)
            if verb == "create":
                await client.create(item)
            elif verb == "update":
                await client.update(item)
            else:
                await client.delete(item, whatever_it_was=True)

    return run


# -- list, then watch ---------------------------------------------------------------------------


@pytest.mark.spec("API-54")
def test_it_lists_and_then_watches_from_the_revision_of_the_list() -> None:
    """What is written between the two is delivered; nothing is told twice; bookmarks are asked
    for."""
    calls: Calls = []
    world = world_of(alpha=watcher(calls), writer=steps_of((1, "create", note("b", x="2"))))
    world.add(note("a", x="1"))
    world.limit(delay_max_ms=10)
    cues = ("serve alpha/* list notes", "serve writer/main create *", "serve alpha/* watch notes")
    played = play(world, *cues, late=("answer alpha/*",))
    assert calls == ["add a=1@2", "add b=2@3"]
    assert list(played.said("serve")) == [
        "serve alpha/cache-notes list notes",
        "serve writer/main create notes/default/b",
        "serve alpha/cache-notes watch notes",
    ]
    (cache,) = world.table.roles["alpha"].life.caches  # type: ignore[union-attr]
    assert cache.revision == world.store.peek("notes/default/b").value.meta.revision  # type: ignore[union-attr]
    assert cache.upto == cache.revision


def test_it_has_synced_when_it_has_listed() -> None:
    """Before, it knows of nothing; a task that waits for it goes on in a turn of its own."""
    seen: list[object] = []

    async def alpha(client: Client) -> None:
        cache = Cache(client, Note)
        seen.extend([cache.has_synced, cache.all(), cache.get("a")])
        await cache.synced()
        seen.extend([cache.has_synced, [n.meta.name for n in cache.all()], cache.get("z")])
        seen.append(cache.get("b") is cache.items["notes/default/b"])

    world = world_of(alpha=alpha)
    world.add(note("b"), note("a"), note("team/a"))
    played = play(world)
    assert seen == [False, [], None, True, ["a", "b", "a"], None, True]
    assert "resume alpha/main signal alpha/notes-synced" in list(played.said("resume"))


def test_it_is_as_stale_as_its_watch() -> None:
    """What is committed and not delivered it does not know; what is delivered it does."""
    seen: list[str] = []

    async def alpha(client: Client) -> None:
        cache = Cache(client, Note)
        await cache.synced()
        for _ in range(2):
            await client.sleep(10)
            known = cache.get("n")
            seen.append("nothing" if known is None else known.data["x"])
            now = await client.get(Note, "n")
            seen.append(now.data["x"])

    world = world_of(alpha=alpha, writer=steps_of((1, "create", note(x="1"))))
    world.limit(delay_max_ms=10)
    play(world, "answer alpha/main get *", late=("deliver *",))
    assert seen == ["nothing", "1", "1", "1"]


@pytest.mark.spec("API-45")
def test_it_knows_what_its_selector_selects() -> None:
    """What begins to match is added, what stops is deleted, with the last content that matched."""
    calls: Calls = []
    writer = steps_of(
        (1, "create", Pod("p")),
        (1, "update", Pod("p", spec=PodSpec("n1"))),
        (1, "update", Pod("p", spec=PodSpec("n2"))),
        (1, "delete", Pod("p")),
    )
    play(world_of(alpha=watcher(calls, Pod, ON_N1), writer=writer))
    assert calls == ["add p=n1@3", "delete p=n1@4"]


# -- handlers -----------------------------------------------------------------------------------


@pytest.mark.spec("API-57")
def test_handlers_are_called_in_order_and_apart_from_each_other() -> None:
    """Every set of them for every Change, in the order they were given, all within the turn of
    the delivery; a set need not have all three."""
    calls: Calls = []

    async def alpha(client: Client) -> None:
        cache = Cache(client, Note)
        cache.on(**told(calls))
        cache.on(add=lambda new: calls.append("second"), delete=lambda _: calls.append("second"))

    writer = steps_of((1, "create", note(x="1")), (1, "update", note(x="2")), (1, "delete", note()))
    played = play(world_of(alpha=alpha, writer=writer))
    assert calls == ["add n=1@2", "second", "update n=1@2 n=2@3", "delete n=2@4", "second"]
    assert len(played.every("deliver *")) == 3


@each_row("error", [KeyError("n"), NotFound("n"), Expired("n")])
@each_row("wait_ms", [0, 10])
def test_a_handler_that_raises_ends_its_actor(error: Exception, wait_ms: int) -> None:
    """It runs in the reader's turn, so the life of its actor ends there, and the place is told;
    also if it is an error that an Endpoint might have sent, told by a list or by a watch."""

    async def alpha(client: Client) -> None:
        def handler(new: Note) -> None:
            raise error

        Cache(client, Note).on(add=handler)
        await client.sleep(1_000)

    world = world_of(writer=steps_of((wait_ms, "create", note())), alpha=alpha)
    played = play(world, is_held=False)
    said = str(played.verdict.violations[0])
    assert f"alpha/cache-notes died of {type(error).__name__}: " in said
    assert "at test_cache.py" in said
    assert "in handler" in said


def test_its_handlers_are_called_without_waking_its_reader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """But as that task: they read its context variables, and what they spawn gets them, too."""
    where = ContextVar("where", default="outside")
    seen: list[str] = []

    async def child(client: Client) -> None:
        seen.append(f"{where.get()} in {client._table.caller().path}")

    async def alpha(client: Client) -> None:
        where.set("inside")
        cache = Cache(client, Note)

        def handler(new: Note) -> None:
            seen.append(f"{where.get()} in {client._table.caller().path}")
            client.spawn("child", child, client)

        cache.on(add=handler)

    world = world_of(writer=steps_of((5, "create", note())), alpha=alpha)
    moved: list[str] = []
    carry = Table.carry

    def carrying(table: Table, seat: Seat) -> bool:
        moved.append(seat.path)
        return carry(table, seat)

    monkeypatch.setattr(Table, "carry", carrying)
    play(world)
    assert seen == ["inside in alpha/cache-notes", "inside in alpha/child"]
    assert moved.count("alpha/cache-notes") == 4  # its start, its list, its watch, and the end


def test_a_handler_that_breaks_a_rule_is_told_at_its_own_line() -> None:
    """And the Run ends, although it catches the error."""

    async def alpha(client: Client) -> None:
        def handler(new: Note) -> None:
            with contextlib.suppress(ScenarioError):
                client.pick("node", [])

        Cache(client, Note).on(add=handler)

    world = world_of(writer=steps_of((5, "create", note())), alpha=alpha)
    said = r"^\S+test_cache\.py, line \d+: alpha/cache-notes picks"
    with pytest.raises(ScenarioError, match=said):
        play(world)


def test_a_handler_may_end_its_life_but_not_go_on_after_that() -> None:
    """As in any task, Crashed ends it; a handler that swallows that is found out."""

    def exiting(swallows: bool) -> World:
        async def alpha(client: Client) -> None:
            def handler(new: Note) -> None:
                with contextlib.suppress(*([Crashed] if swallows else [])):
                    client.exit()

            Cache(client, Note).on(add=handler)

        return world_of(writer=steps_of((5, "create", note())), alpha=alpha)

    assert play(exiting(swallows=False)).verdict.outcome == "held"
    with pytest.raises(ScenarioError, match="alpha/cache-notes swallowed Crashed and went on"):
        play(exiting(swallows=True))


def test_a_reader_is_cancelled_whatever_is_delivered_first() -> None:
    """A delivery does not take back what is to cancel the wait that goes on after it."""
    told_after: set[int] = set()

    def cancelled(seed: int) -> None:
        calls: Calls = []

        async def alpha(client: Client) -> None:
            cache = Cache(client, Note)
            cache.on(update=lambda old, new: calls.append("update"))
            await cache.synced()
            client.cancel(cache.reader)
            calls.clear()
            await client.join(cache.reader)
            told_after.add(len(calls))

        writer = steps_of(*[(0, "update", note(x=str(n))) for n in range(5)])
        world = world_of(alpha=alpha, writer=writer)
        world.add(note())
        assert world.run(Uniform(seed)).is_held

    for seed in range(30):
        cancelled(seed)
    assert len(told_after) > 1, "no delivery came between"


def test_a_handler_cannot_be_async() -> None:
    """It could not await; it is said what to do instead, and no `except` hides it."""

    async def handler(new: Note) -> None:
        """Never called."""

    async def alpha(client: Client) -> None:
        try:
            Cache(client, Note).on(add=handler)  # type: ignore[arg-type]
        except Exception:  # noqa: BLE001
            return

    with pytest.raises(ScenarioError, match=r"handler is async; a handler cannot await"):
        play(world_of(alpha=alpha))


# -- breaks -------------------------------------------------------------------------------------


def lists_and_watches(steps: Iterator[str]) -> list[str]:
    """What a Cache has asked for, by verb."""
    return [words.split()[2] for words in steps if words.startswith("serve alpha/cache-")]


@pytest.mark.spec("API-46", "API-55")
def test_a_broken_watch_is_resumed_and_nothing_is_lost() -> None:
    """After 0.8 s, from the last revision seen, without another list."""
    calls: Calls = []
    writer = steps_of((1, "create", note("a")), (1, "create", note("b")))
    world = world_of(alpha=watcher(calls), writer=writer)
    world.allow(BreakWatch())
    played = play(world, "deliver * notes/default/a ADDED", "fault *")
    assert calls == ["add a=@2", "add b=@3"]
    assert lists_and_watches(played.said("serve")) == ["list", "watch", "watch"]
    assert played.only("deliver * notes/default/b ADDED").now_ms == 1 + 800


@pytest.mark.spec("API-55")
def test_it_tries_again_ever_more_rarely_until_all_was_well_for_two_minutes() -> None:
    """0.8 s, doubling, 30 s at most; from the beginning when the last such wait is longer ago."""

    async def clock(client: Client) -> None:
        await client.sleep(265_000, "later")
        await client.sleep(1)

    world = world_of(alpha=watcher([]), z=clock)
    world.allow(Crash("store"), Restart("store"), BreakWatch(times_max=2))
    retry = "wake alpha/cache-notes retry notes*"
    down = ("answer alpha/* watch notes", "fault * crash store", *[retry] * 8)
    soon = ("fault * restart store", retry, "fault * break_watch *", retry)
    played = play(world, *down, *soon, "wake z/main later", "fault * break_watch *")
    asleep = [(played.steps[wake.causes[0] - 1], wake) for wake in played.every(retry)]
    assert [wake.now_ms - began.now_ms for began, wake in asleep] == [
        *(800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000),
        *(30_000, 30_000, 800),
    ]


@pytest.mark.spec("API-55")
@each_row(("well_ms", "waited_ms"), [(120_000, 1600), (120_001, 800)])
def test_two_minutes_have_to_be_over(well_ms: int, waited_ms: int) -> None:
    """Since the last error: one that comes just then still counts as the next in a row."""

    async def clock(client: Client) -> None:
        await client.sleep(well_ms, "later")
        await client.sleep(1)

    world = world_of(alpha=watcher([]), z=clock)
    world.allow(BreakWatch(times_max=2))
    opened = "answer alpha/* watch notes"
    played = play(world, opened, "fault * break_watch *", "wake z/main later", "fault *")
    assert [step.now_ms for step in played.every("fault *")] == [0, well_ms]
    retried = played.every("wake alpha/cache-notes retry notes*")
    assert [step.now_ms for step in retried] == [800, well_ms + waited_ms]


# -- compaction ---------------------------------------------------------------------------------


async def changing(client: Client) -> None:
    """More than a Cache that was away will ever learn of."""
    for value in ("2", "3"):
        await client.update(note("a", x=value))
    await client.delete(note("b"), whatever_it_was=True)
    await client.create(note("d"))
    await client.delete(note("d"), whatever_it_was=True)
    await client.create(note("e", x="1"))


@pytest.mark.spec("API-56")
def test_when_history_is_gone_it_lists_again_and_tells_the_difference() -> None:
    """What is missing is deleted, as it was last known; what differs is updated from what was
    known; what is new is added; what lay between is lost."""
    calls: Calls = []
    world = world_of(alpha=watcher(calls), writer=changing)
    world.add(note("a", x="1"), note("b", x="1"), note("c", x="1"))
    world.allow(BreakWatch(), Compact())
    cues = ("start writer*", "fault * break_watch *", "serve * create notes/default/e")
    played = play(world, "answer alpha/* watch *", *cues, "fault * compact *")
    assert calls == [
        "add a=1@2",
        "add b=1@3",
        "add c=1@4",
        "update a=1@2 a=3@6",
        "delete b=1@3",
        "add e=1@10",
    ]
    assert lists_and_watches(played.said("serve")) == ["list", "watch", "watch", "list", "watch"]


def quiet_watcher(calls: Calls) -> World:
    """Alpha knows the pods on n1; others change for a while, then the watch breaks."""
    writer = steps_of(*[(1, "create", Pod(f"p{n}")) for n in range(5)])
    world = world_of(alpha=watcher(calls, Pod, ON_N1), writer=writer)
    world.start(Puppet("z", steps_of((70_000, "create", note()))))
    world.add(Pod("mine", spec=PodSpec("n1")))
    world.allow(BreakWatch(), Compact())
    return world


@pytest.mark.spec("API-44")
def test_a_bookmark_keeps_a_quiet_watch_resumable() -> None:
    """After it, a compaction forgets nothing this Cache would need; before it, it has to list."""
    calls: Calls = []
    cues = ("fault * compact *", "fault * break_watch *")
    played = play(quiet_watcher(calls), "deliver *BOOKMARK", *cues)
    assert lists_and_watches(played.said("serve")) == ["list", "watch", "watch"]
    played = play(quiet_watcher(calls), "serve * pods/default/p4", *cues)
    assert lists_and_watches(played.said("serve")) == ["list", "watch", "watch", "list", "watch"]
    assert calls == ["add mine=n1@2"] * 2, "and tells nobody, as nothing has changed"


def test_a_transaction_that_is_cut_by_a_break_is_told_once() -> None:
    """The watch resumes before it, so that nothing is missing, and what was known already is not
    told again."""
    calls: Calls = []

    async def writer(client: Client) -> None:
        for node in ("n1", "n2"):
            await client.sleep(1)
            pods = tuple(Pod(name, spec=PodSpec(node)) for name in ("p", "q", "r"))
            await client.ask(Operation("txn", "pods", "p", "default", pods))

    world = world_of(alpha=watcher(calls, Pod, ON_N1), writer=writer)
    world.allow(BreakWatch(times_max=2))
    cues = (
        "deliver * pods/default/p ADDED",
        "fault *",
        "wake *",
        "deliver * p* DELETED",
        "fault *",
    )
    play(world, *cues)
    assert calls == [
        *("add p=n1@2", "add q=n1@2", "add r=n1@2"),
        *("delete p=n1@3", "delete q=n1@3", "delete r=n1@3"),
    ]


# -- what it reads ------------------------------------------------------------------------------


@each_row(
    ("kind", "path", "near"),
    [
        (Pod, "spec.nodename", "spec.node_name"),
        (Pod, "specs", "spec"),
        (Pod, "meta.label.app", "meta.labels"),
        (Note, "dat", "data"),
    ],
)
def test_a_field_that_the_kind_does_not_have_is_refused(
    kind: type[Object], path: str, near: str
) -> None:
    """Nothing is ever delivered for it. It ends the Run even if the actor goes on, and says where
    the Cache was made."""

    async def alpha(client: Client) -> None:
        with contextlib.suppress(UnknownName):
            Cache(client, kind, reads=("meta.name", path))

    world = World("test")
    world.start(Apart("alpha", alpha))
    with pytest.raises(UnknownName) as refused:
        play(world)
    assert f"the Cache of alpha could read: {path!r}. Did you mean {near!r}?" in str(refused.value)
    assert str(refused.value).startswith(f"{__file__}, line ")


@each_row(
    ("kind", "path"),
    [
        (Note, "data.any"), (Pod, "meta.labels.app"), (Pod, "meta"), (Pod, "meta.revision"),
        (Pod, "key"), (Pod, "spec.containers"), (Pod, "status.conditions"), (Pod, "spec"),
    ],
)  # fmt: skip
def test_a_field_or_a_key_of_a_map_may_be_declared(kind: type[Object], path: str) -> None:
    """What names the object, too."""

    async def alpha(client: Client) -> None:
        await Cache(client, kind, reads=(path,)).synced()

    world = World("test")
    world.start(Apart("alpha", alpha))
    play(world)


def test_its_footprint_is_what_it_declares() -> None:
    """The list and the watch read those fields of the log; a delivery writes the Cache; whoever
    looks at it reads it; a write of another field does not clash with the list."""

    async def alpha(client: Client) -> None:
        cache = Cache(client, Pod, reads=("spec.node_name",))
        await client.sleep(10)
        cache.get("p")

    async def writer(client: Client) -> None:
        pod = Pod("p", spec=PodSpec("n1"))
        await client.sleep(1)
        await client.update(pod)
        await client.update(Pod("p", spec=PodSpec("n1", "mine")))

    world = World("test")
    world.start(Apart("alpha", alpha), Apart("writer", writer))
    world.add(Pod("p"))
    played = play(world)
    listing = played.only("serve alpha/* list *")
    fields = ["log:pods.meta.uid", "log:pods.spec.node_name"]
    assert listing.marks.reads == [*fields, "history"]
    assert listing.option.may.reads >= set(listing.marks.reads)
    assert played.only("serve alpha/* watch *").marks.reads == ["history"]
    bound, other = played.every("serve writer/*")
    assert listing.did.clashes(bound.did)
    assert not listing.did.clashes(other.did)
    assert "cache:alpha/pods" in played.every("deliver *")[0].did.writes
    assert played.only("wake alpha/*").did.reads == {"cache:alpha/pods", "mem:alpha"}


# -- everything at once -------------------------------------------------------------------------


class Mirror:
    """Two Caches of one actor, and what their handlers make of what they are told: each call must
    fit what was told before, and at the end both must say what the Store does."""

    def __init__(self) -> None:
        self.views: list[dict[str, Any]] = []

    async def __call__(self, client: Client) -> None:
        """One life: it begins knowing nothing."""
        self.views = []
        self.mirror(Cache(client, Note))
        self.mirror(Cache(client, Note, Selector(fields=(("data.x", "1"),))))

    def mirror(self, cache: Cache[Note]) -> None:
        """Keep, from its handlers alone, what the Cache must hold."""
        view: dict[str, Any] = {}

        def add(new: Note) -> None:
            assert new.key not in view
            view[new.key] = new

        def update(old: Note, new: Note) -> None:
            assert view[new.key] == old != new
            view[new.key] = new

        def delete(last: Note) -> None:
            assert view.pop(last.key).is_as(last)

        cache.on(add=add, update=update, delete=delete)
        self.views.append(view)


def scribbler(writes: list[tuple[str, str, str]]) -> Callable[[Client], Any]:
    """Writes these, whatever comes of it."""

    async def run(client: Client) -> None:
        for verb, name, value in writes:
            await client.sleep(300)
            try:
                if verb == "delete":
                    await client.delete(note(name), whatever_it_was=True)
                elif verb == "txn":
                    both = (note("a", x=value), note("b", x=value))
                    await client.ask(Operation("txn", "notes", "a", "default", both))
                elif verb == "create":
                    await client.create(note(name, x=value))
                else:
                    await client.update(note(name, x=value))
            except ApiError:
                pass

    return run


def stormy(mirror: Mirror, writes: list[list[tuple[str, str, str]]], lags: bool) -> World:
    """A mirror, writers, and every kind of trouble."""
    world = world_of(mirror=mirror)
    if lags:
        world.serve(lambda store: StoreEndpoint(store, lags=("notes",)))
    for number, some in enumerate(writes):
        world.start(Puppet(f"writer{number}", scribbler(some)))
    world.allow(
        BreakWatch(times_max=2),
        Compact(times_max=2),
        Crash("mirror", restart_after_ms=500),
        Crash("store", restart_after_ms=700),
        Lag(),
        LoseReply(times_max=2),
        LoseRequest(times_max=2),
        Partition("mirror"),
        ServerError(times_max=2),
        Stall("mirror"),
        ClockStep(),
    )
    return world


def agrees(world: World, mirror: Mirror) -> None:
    """All have come to rest, and the handlers were called with what is there."""
    verdict = world.verdict
    assert verdict is not None
    assert (verdict.among_others, verdict.end) == ("held", "quiet"), str(verdict)
    actual = {entry.key: entry.value for entry in world.store.snapshot("notes/")}
    chosen = {key: item for key, item in actual.items() if item.data["x"] == "1"}  # type: ignore[attr-defined]
    assert mirror.views == [actual, chosen]


write = st.tuples(
    st.sampled_from(["create", "update", "delete", "txn"]),
    st.sampled_from(["a", "b", "c"]),
    st.sampled_from(["1", "2"]),
)


@pytest.mark.spec("INV-40")
@given(st.data(), st.lists(st.lists(write, max_size=6), min_size=1, max_size=2), st.booleans())
@settings(
    max_examples=40,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
def test_whatever_happens_it_equals_the_store_in_the_end(
    data: DataObject, writes: list[list[tuple[str, str, str]]], lags: bool
) -> None:
    """Hypothesis draws what is written, every choice and every fault; a failure shrinks."""
    mirror = Mirror()
    world = stormy(mirror, writes, lags)
    world.run(Drawn(data), driver="direct")
    agrees(world, mirror)


WRITES = [
    [("create", "a", "1"), ("update", "a", "2"), ("delete", "a", ""), ("create", "a", "1")],
    [("txn", "", "1"), ("create", "c", "1"), ("txn", "", "2"), ("delete", "b", "")],
]


@pytest.mark.spec("INV-40")
@pytest.mark.parametrize("lags", [False, True])
def test_it_equals_the_store_after_every_one_of_many_storms(lags: bool) -> None:
    """Six hundred random Runs, half of them with a lagging server, with four faults on average."""
    chooser = Uniform(7)
    for number in range(300):
        mirror = Mirror()
        world = stormy(mirror, WRITES, lags)
        world.run(chooser, driver="direct", number=number)
        agrees(world, mirror)


@pytest.mark.spec("API-54")
@each_row(("quorum", "known"), [(False, ["a"]), (True, ["a", "b"])])
def test_a_cache_begins_with_what_its_server_has_read_or_with_what_there_is(
    quorum: bool, known: list[str]
) -> None:
    """At a server that is behind it holds what was; a quorum list is of the Store."""
    seen: list[list[str]] = []

    async def reads(client: Client) -> None:
        await client.create(note("a"))
        await client.list(Note, at=Revision(ANY))
        await client.create(note("b"))
        cache = Cache(client, Note, quorum=quorum)
        await cache.synced()
        seen.append([item.meta.name for item in cache.all()])

    world = world_of(reader=reads)
    world.serve(lambda store: StoreEndpoint(store, lags=("notes",)))
    play(world, "answer reader/cache-notes list notes", late=("feed *",))
    assert seen == [known]
