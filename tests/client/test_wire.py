"""The wire: announced, served, answered; verbs of several turns; what crashes leave of them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from testbed.client.client import Client
from testbed.client.request import Post
from testbed.client.stream import Stream
from testbed.errors import ApiError, ScenarioError
from testbed.faults.crash import Crash
from testbed.store.endpoint import Operation
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.endpoints import Clerk, Runtime, file, move
from tests.shared.stage import note, play, world_of


def clerk_of(world: World) -> tuple[Clerk, Post]:
    """The test Endpoint of a World, and its place on the wire."""
    post = world.wire.posts["clerk"]
    assert isinstance(post.endpoint, Clerk)
    return post.endpoint, post


def names_in(world: World) -> list[str]:
    """The Notes in the Store, by name."""
    return [key.rpartition("/")[2] for key in (e.key for e in world.store.snapshot("notes/"))]


async def asked(client: Client, operation: Operation, said: list[str], **more: Any) -> None:
    """Ask, and keep how it ended."""
    try:
        await client.ask(operation, **more)
        said.append("answered")
    except ApiError as error:
        said.append(f"{type(error).__name__}: {error}")


def moving(said: list[str], seen: list[list[str]] | None = None, *, wait_ms: int = 0) -> World:
    """Alpha moves the Note a to b; with `seen`, beta lists all Notes, that much later."""

    async def alpha(client: Client) -> None:
        await asked(client, move("a", "b"), said)

    async def beta(client: Client) -> None:
        assert seen is not None
        await client.sleep(wait_ms)
        listing = await client.ask(Operation("list", "notes", endpoint="clerk"))
        seen.append([item.meta.name for item in listing.items])

    world = world_of(alpha=alpha) if seen is None else world_of(alpha=alpha, beta=beta)
    world.serve(Clerk)
    world.add(note("a", x="1"))
    return world


# -- one operation ------------------------------------------------------------------------------


def test_an_operation_is_announced_then_served_then_answered() -> None:
    """Three turns; each caused by the one before; the effect is that of the second."""
    revisions: list[int] = []

    async def alpha(client: Client) -> None:
        revisions.append(world.store.revision)
        await client.create(note())
        revisions.append(world.store.revision)

    world = world_of(alpha=alpha)
    played = play(world)
    assert list(played.said("start", "serve", "answer")) == [
        "start alpha/main",
        "serve alpha/main create notes/default/n",
        "answer alpha/main create notes/default/n",
    ]
    assert [step.causes for step in played.steps] == [(0,), (1,), (2,)]
    assert [step.revision for step in played.steps] == ["", "2", ""]
    assert revisions == [1, 2]


def test_a_write_names_the_record_it_follows_from() -> None:
    """`because` stands on the Step in which it takes effect."""

    async def alpha(client: Client) -> None:
        number = client.record("decided", on="n")
        await client.create(note(), because=number)
        await client.update(note(a="1"))

    played = play(world_of(alpha=alpha))
    assert [step.because for step in played.every("serve *")] == [1, 0]


@each_row("because", [3, 0, "decided"])
def test_what_is_no_record_is_nothing_to_follow_from(because: Any) -> None:
    """It is the scenario's mistake, and told as that, also if it is caught."""

    async def alpha(client: Client) -> None:
        with suppress(Exception):
            await client.create(note(), because=because)

    with pytest.raises(ScenarioError, match=r"alpha asks because=.*, which is no Record"):
        play(world_of(alpha=alpha))


def test_whom_nobody_serves_is_an_error_of_the_scenario() -> None:
    """The error lists the names that are served; an actor cannot catch it away."""

    async def alpha(client: Client) -> None:
        await asked(client, Operation("get", "notes", "n", endpoint="clark"), [])

    world = world_of(alpha=alpha)
    world.serve(Clerk)
    with pytest.raises(
        ScenarioError, match=r"nothing answers to 'clark'; .* serves store, clerk\."
    ):
        play(world)


def test_an_endpoint_that_fails_ends_the_run_with_its_own_error() -> None:
    """No actor can have caused it, so `run` raises it bare."""

    async def alpha(client: Client) -> None:
        await asked(client, Operation("break", "notes", endpoint="clerk"), [])

    world = world_of(alpha=alpha)
    world.serve(Clerk)
    with pytest.raises(ZeroDivisionError, match="the clerk is broken"):
        play(world)


# -- verbs of two transactions ------------------------------------------------------------------


def test_a_crash_between_the_two_leaves_it_half_done() -> None:
    """The half that was done stays done, the other never is; the caller knows only that it does
    not know; and the Endpoint lives again."""
    said: list[str] = []
    read: list[list[str]] = []
    world = moving(said, read, wait_ms=2_000)
    world.allow(Crash("clerk", restart_after_ms=1_000))
    played = play(world, "serve alpha/main move *", "fault * crash clerk", "start clerk/start")
    assert said == ["Unavailable: clerk went away before it answered"]
    assert not played.every("serve * move.2 *")
    assert names_in(world) == []
    assert read == [[]], "it serves again"
    assert clerk_of(world)[0].lives == 2
    assert not clerk_of(world)[1].requests


@each_row(
    ("cues", "names"),
    [
        (("start alpha/main",), ["a"]),
        (("serve alpha/main move *",), []),
        (("serve alpha/main move.2 *",), ["b"]),
    ],
)
def test_all_a_crash_leaves_unanswered_gets_one_and_the_same_error(
    cues: tuple[str, ...], names: list[str]
) -> None:
    """Not served, half served, served and not answered: what has happened differs, and only
    that; nobody can tell from the error."""
    said: list[str] = []
    world = moving(said)
    world.allow(Crash("clerk"))
    played = play(world, *cues, "fault * crash clerk")
    assert said == ["Unavailable: clerk went away before it answered"]
    assert names_in(world) == names
    assert played.only("answer *").causes == (played.only("fault *").number,)


def test_an_endpoint_that_is_down_refuses_at_once() -> None:
    """Without a `serve`, and without effect; when it is up again it serves."""
    said: list[str] = []

    async def alpha(client: Client) -> None:
        await asked(client, move("a", "b"), said)
        await client.sleep(5_000)
        await asked(client, move("a", "b"), said)

    world = world_of(alpha=alpha)
    world.serve(Clerk)
    world.add(note("a"))
    world.allow(Crash("clerk", restart_after_ms=2_000))
    played = play(world, "fault * crash clerk")
    assert said == ["Unavailable: clerk is down: connection refused", "answered"]
    assert [step.now_ms for step in played.every("serve *")] == [5_000, 5_000]


def test_a_crash_takes_back_the_feeds_and_forgets_the_cursors() -> None:
    """What the server had not read it never will; its next life starts from the present."""
    read: list[list[str]] = []

    async def alpha(client: Client) -> None:
        for name in ("a", "b"):
            await client.create(note(name))
        await client.sleep(2_000)
        for _ in range(2):
            listing = await client.ask(Operation("list", "notes", endpoint="clerk"))
            read.append([item.meta.name for item in listing.items])
            await client.create(note(f"later{len(read)}"))
            await client.sleep(1)

    async def beta(client: Client) -> None:
        await client.ask(Operation("list", "notes", endpoint="clerk"))

    world = world_of(beta=beta, alpha=alpha)
    world.serve(lambda store: Clerk(store, lags=("notes",)))
    world.allow(Crash("clerk", restart_after_ms=1_000))
    cues = ("answer beta/*", "serve alpha/* create notes/default/b", "fault * crash clerk")
    played = play(world, *cues, late=("start alpha*", "feed *"))
    assert read == [["a", "b"], ["a", "b", "later1"]]
    (feed, last) = played.every("feed clerk/feed-notes notes*")
    assert (feed.now_ms, last.now_ms) == (2_000, 2_001)
    assert str(last.sentence) == "feed clerk/feed-notes notes#3", "the one taken back was the first"


def test_a_server_that_is_down_is_fed_nothing() -> None:
    """Another one commits meanwhile; nothing moves until it lives again, and then all arrives."""
    told: list[str] = []

    async def alpha(client: Client) -> None:
        await client.ask(Operation("list", "notes", endpoint="clerk"))
        await client.sleep(500)
        await client.create(note("a"))
        await client.sleep(1_000)
        stream: Stream = await client.ask(Operation("watch", "notes", endpoint="clerk"))
        await client.create(note("b"))
        told.append((await stream.next()).key)

    world = world_of(alpha=alpha)
    world.serve(lambda store: Clerk(store, lags=("notes",)))
    world.allow(Crash("clerk", restart_after_ms=1_000))
    played = play(world, "answer alpha/main list *", "fault * crash clerk")
    assert told == ["notes/default/b"]
    assert [step.now_ms for step in played.every("feed *")] == [1_500]


# -- waiting verbs ------------------------------------------------------------------------------


def filing(said: list[str], **options: Any) -> World:
    """Alpha asks for a Note to be filed when something has come about; beta writes at 100 ms."""

    async def alpha(client: Client) -> None:
        await asked(client, file(note("filed"), **options), said)

    async def beta(client: Client) -> None:
        await client.sleep(100)
        await client.create(note("b"))

    world = world_of(alpha=alpha, beta=beta)
    world.serve(Clerk)
    return world


def test_a_handler_may_wait_for_a_cursor() -> None:
    """Its next part is offered by the turn that moves the cursor there, and not before."""
    said: list[str] = []
    played = play(filing(said, revision=2))
    write = played.only("serve beta/main create *")
    rest = played.only("serve alpha/main file.2 *")
    assert (rest.now_ms, rest.causes) == (100, (write.number,))
    assert said == ["answered"]


@each_row(("until_ms", "at_ms"), [(70, 70), (300, 100)])
def test_a_handler_may_wait_for_whichever_is_first(until_ms: int, at_ms: int) -> None:
    """The cursor or the time: one Option, performed once, of one sentence."""
    said: list[str] = []
    world = filing(said, revision=2, until_ms=until_ms)
    played = play(world)
    rest = played.only("serve alpha/main file.2 *")
    assert str(rest.sentence) == "serve alpha/main file.2 notes/default/filed"
    assert rest.now_ms == at_ms
    assert not world.wire.paused
    if at_ms == 100:
        assert rest.causes == (played.only("serve * file notes*").number, rest.number - 1)


def test_what_has_come_about_already_is_not_waited_for() -> None:
    """It is a pause all the same: something else may come between."""
    played = play(filing([], revision=1))
    first, rest = played.every("serve alpha/main file*")
    assert (rest.now_ms, rest.causes) == (0, (first.number,))


def test_a_handler_may_wait_for_what_a_lagging_cursor_reads() -> None:
    """It is the cursor that counts, not the Store: a feed lets it go on."""
    said: list[str] = []

    async def alpha(client: Client) -> None:
        await client.ask(Operation("list", "notes", endpoint="clerk"))
        await client.create(note("b"))
        await asked(client, file(note("filed"), revision=2), said)

    world = world_of(alpha=alpha)
    world.serve(lambda store: Clerk(store, lags=("notes",)))
    played = play(world, "serve alpha/main file notes*", "feed *", late=("feed *",))
    feed, *_ = played.every("feed *")
    assert played.only("serve alpha/main file.2 *").causes == (feed.number,)
    assert said == ["answered"]


def test_a_crash_ends_a_wait() -> None:
    """Its caller gets an error; what it waited for comes about, and wakes nothing."""
    said: list[str] = []
    world = filing(said, revision=2, until_ms=300)
    world.allow(Crash("clerk"))
    played = play(world, "serve alpha/main file notes*", "fault * crash clerk")
    assert said == ["Unavailable: clerk went away before it answered"]
    assert not played.every("serve * file.2 *")
    assert names_in(world) == ["b"]
    assert not world.wire.paused


def test_a_wait_for_what_never_comes_is_stuck() -> None:
    """Nothing can move, and it is said who waits for which answer."""
    world = filing([], revision=99)
    played = play(world, is_held=False)
    assert played.verdict.end == "stuck"
    said = "alpha/main waits for the answer to file notes/default/filed"
    assert said in played.verdict.violations[0].said


# -- messages, and near Endpoints ---------------------------------------------------------------


def test_a_message_takes_effect_and_is_not_answered() -> None:
    """Its sender goes on in the same turn; no task gets a refusal."""
    done: list[int] = []

    async def alpha(client: Client) -> None:
        create = Operation("create", "notes", "n", "default", note())
        client.tell(create)
        client.tell(create)
        done.append(world.store.revision)

    world = world_of(alpha=alpha)
    played = play(world)
    assert done == [1]
    assert list(played.said("start", "serve", "answer")) == [
        "start alpha/main",
        "serve alpha/main create notes/default/n",
        "serve alpha/main create notes/default/n#2",
    ]
    assert [step.outcome for step in played.every("serve *")] == ["", "AlreadyExists"]
    assert not world.wire.posts["store"].requests


def near(ask: Any) -> World:
    """Alpha with an Endpoint near to it."""
    world = world_of(alpha=ask)
    world.serve(lambda store: Runtime(store, "runtime"))
    return world


def test_a_near_endpoint_answers_in_the_turn_that_asks() -> None:
    """No Option between, no turn: what was asked is done when the call returns."""
    said: list[str] = []

    async def alpha(client: Client) -> None:
        made = await client.ask(
            Operation("create", "notes", "n", "default", note(), endpoint="runtime")
        )
        said.append(f"{made.meta.revision} {world.store.revision}")
        await asked(client, Operation("get", "notes", "m", "default", endpoint="runtime"), said)

    world = near(alpha)
    played = play(world)
    assert said == ["2 2", "NotFound: notes/default/m not found"]
    assert list(played.said("start", "serve", "answer")) == ["start alpha/main"]
    assert played.steps[0].did.writes >= {"notes/default/n", "log:notes"}


def test_a_message_to_a_near_endpoint_is_there_at_once() -> None:
    """As what is asked of it; no task gets an error if it is refused."""
    revisions: list[int] = []

    async def alpha(client: Client) -> None:
        for _ in range(2):
            client.tell(Operation("create", "notes", "n", "default", note(), endpoint="runtime"))
            revisions.append(world.store.revision)

    world = near(alpha)
    assert list(play(world).said("start", "serve")) == ["start alpha/main"]
    assert revisions == [2, 2]


def test_a_near_endpoint_may_not_pause() -> None:
    """There is no turn in which something else could come between; the verb is named."""

    async def alpha(client: Client) -> None:
        await asked(client, move("a", "b", "runtime"), [])

    world = near(alpha)
    world.add(note("a"))
    with pytest.raises(ScenarioError, match=r"runtime is near, so its move may not pause"):
        play(world)


def test_a_watch_of_a_near_endpoint_is_a_stream_like_any_other() -> None:
    """It is opened at once; each delivery is an Option."""
    told: list[str] = []

    async def alpha(client: Client) -> None:
        stream: Stream = await client.ask(Operation("watch", "notes", endpoint="runtime"))
        await client.create(note())
        told.append((await stream.next()).key)

    played = play(near(alpha))
    assert told == ["notes/default/n"]
    assert played.every("deliver alpha/watch-notes notes/default/n ADDED")


# -- a request, and the life that sent it -------------------------------------------------------


def test_a_request_may_outlive_its_life_and_its_reply_may_not() -> None:
    """What was sent takes effect, after the crash and even after the restart; no task learns it."""
    lives: list[int] = []

    async def alpha(client: Client) -> None:
        lives.append(world.store.revision)
        if len(lives) == 1:
            await client.create(note())
            raise AssertionError("the reply has reached a dead life")
        await client.sleep(10)

    world = world_of(alpha=alpha)
    world.allow(Crash("alpha", restart_after_ms=0))
    played = play(world, "start alpha/main", "fault * crash alpha", "start alpha/main#2")
    assert lives == [1, 1]
    assert names_in(world) == ["n"]
    assert list(played.said("serve", "answer")) == ["serve alpha/main create notes/default/n"]
    assert not world.wire.posts["store"].requests


def test_a_reply_on_its_way_dies_with_the_life_it_was_for() -> None:
    """Even if the next life waits for an answer to the very same question."""
    answers: list[str] = []

    async def alpha(client: Client) -> None:
        made = await client.ask(Operation("create", "notes", "n", "default", note()))
        answers.append(made.meta.uid)

    world = world_of(alpha=alpha)
    world.allow(Crash("alpha", restart_after_ms=0))
    world.goes_on = True
    cues = ("serve alpha/*", "fault * crash alpha", "start alpha/main#2")
    played = play(world, *cues, is_held=False)
    assert not answers, "the second create is refused: the first has happened"
    assert "AlreadyExists" in str(played.verdict)
    assert len(played.every("answer *")) == 1


@each_row("cue", ["start alpha/main", "serve alpha/main watch *"])
def test_a_watch_nobody_can_get_any_more_is_closed(cue: str) -> None:
    """Its caller has crashed, before it was served or after: nothing is kept for it."""

    async def alpha(client: Client) -> None:
        await client.ask(Operation("watch", "notes"))

    world = world_of(alpha=alpha)
    world.allow(Crash("alpha"))
    play(world, cue, "fault * crash alpha")
    assert_no_watch(world)


@each_row("late", [(), ("answer *",)])
def test_what_comes_too_late_is_not_kept(late: tuple[str, ...]) -> None:
    """A caller's own deadline passes, before its watch is served or after; the watch is closed,
    and what is still on its way takes effect."""
    said: list[str] = []

    async def alpha(client: Client) -> None:
        stream = Operation("watch", "notes")
        await asked(client, stream, said, timeout_ms=100)
        await asked(
            client, Operation("create", "notes", "n", "default", note()), said, timeout_ms=0
        )
        await client.sleep(1_000)
        said.append(f"{client.now()}")

    world = world_of(alpha=alpha)
    world.limit(delay_max_ms=1_000)
    played = play(world, *_overtaken(late))
    assert said == [
        "TimedOut: watch notes: no answer within 100 ms; it may have happened",
        "TimedOut: create notes/default/n: no answer within 0 ms; it may have happened",
        "1100",
    ]
    assert names_in(world) == ["n"]
    assert not played.every("answer *")
    assert_no_watch(world)


def _overtaken(late: tuple[str, ...]) -> tuple[str, ...]:
    timeouts = ("wake * timeout of watch*", "wake * timeout of create*")
    return ("serve * watch notes", *timeouts) if late else timeouts


def assert_no_watch(world: World) -> None:
    """Neither on the wire, nor at the Endpoint, nor among what it has in hand."""
    assert not world.wire.streams.open
    assert not world.wire.posts["store"].requests
    endpoint: Any = world.wire.posts["store"].endpoint
    assert all(not cursor._open for cursor in endpoint.cursors.values())
