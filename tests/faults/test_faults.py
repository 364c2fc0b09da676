"""The faults: each within its budget, only where it can strike, and nothing is silently lost."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest

import testbed.faults
from testbed.choosers.uniform import Uniform
from testbed.client.client import Client
from testbed.errors import (
    ApiError,
    Conflict,
    Expired,
    Forbidden,
    InternalError,
    TooManyRequests,
    Unavailable,
)
from testbed.fault import Fault
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
from testbed.faults.stale import Stale
from testbed.faults.stall import Stall
from testbed.objects import UNSET, Note, Pod, Revision
from testbed.store.endpoint import Operation
from testbed.store.store_endpoint import StoreEndpoint
from testbed.turns.trace import Trace
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.endpoints import Clerk, Runtime, file, move
from tests.shared.stage import Puppet, note, play, world_of

KINDS: dict[str, type[Fault]] = {
    "break_watch": BreakWatch,
    "clock_step": ClockStep,
    "compact": Compact,
    "crash": Crash,
    "lag": Lag,
    "lose_reply": LoseReply,
    "lose_request": LoseRequest,
    "partition": Partition,
    "restart": Restart,
    "server_error": ServerError,
    "stale": Stale,
    "stall": Stall,
}


class Busy:
    """Creates a Note, watches Notes, sleeps, writes again: something for every fault to strike.
    What befalls it is written down, with the time."""

    def __init__(self) -> None:
        self.log: list[str] = []

    async def __call__(self, client: Client) -> None:
        for name in ("a", "b"):
            try:
                await client.create(note(name))
                self.log.append(f"{client.now()} created {name}")
            except ApiError as error:
                self.log.append(f"{client.now()} {type(error).__name__}: {error}")
            await client.sleep(1_000, f"after {name}")


class Listener:
    """Watches Notes; resumes when it is told that the watch is broken, lists when it is told that
    history is gone, and gives up when nobody has answered for long."""

    def __init__(self) -> None:
        self.log: list[str] = []

    async def __call__(self, client: Client) -> None:
        since = Revision(1)
        while len(self.log) < 40:
            try:
                if not since:
                    listing = await client.list(Note)
                    since = listing.revision
                    self.log += [f"{client.now()} {item.meta.name}" for item in listing.items]
                stream = await client.watch(Note, since)
                while True:
                    delivery = await stream.next()
                    self.log.append(f"{client.now()} {delivery.key.rpartition('/')[2]}")
                    since = delivery.revision
            except ApiError as error:
                self.log.append(f"{client.now()} {type(error).__name__}")
                since = UNSET if isinstance(error, Expired) else since
                await client.sleep(100)


class Front(StoreEndpoint):
    """One of several that stand before the Store."""

    is_front = True


def stage_of(*faults: Fault) -> tuple[World, Busy, Listener]:
    """Alpha is busy, beta listens, and these faults may strike."""
    busy, listener = Busy(), Listener()
    world = world_of(alpha=busy, beta=listener)
    if any(isinstance(fault, Stale) for fault in faults):
        world.serve(lambda store: Front(store, "front-1"))
        world.serve(lambda store: Front(store, "front-2", lags=("notes",)))
    world.allow(*faults)
    return world, busy, listener


# -- what all of them have in common ------------------------------------------------------------


def test_each_fault_has_a_word_and_a_reason() -> None:
    """One file for each, named by its one word; the file says why it is legal, the class what it
    does."""
    found = {}
    for info in pkgutil.iter_modules(testbed.faults.__path__):
        module = importlib.import_module(f"testbed.faults.{info.name}")
        assert (module.__doc__ or "").startswith(f"{info.name}: ")
        (found[info.name],) = (
            kind
            for _, kind in inspect.getmembers(module, inspect.isclass)
            if issubclass(kind, Fault) and kind.__module__ == module.__name__
        )
        assert found[info.name].word == info.name
        assert found[info.name].__doc__
    assert found == KINDS


every_fault = each_row("fault", [kind(times_max=2) for kind in KINDS.values()], ids=list(KINDS))


@every_fault
def test_it_strikes_within_its_budget_and_marks_what_it_touches(fault: Fault) -> None:
    """As often as it may, and then it is not offered any more; its footprint names the budget, so
    that two of a kind are never taken for independent; the verdict counts it."""
    world, _, _ = stage_of(fault)
    first = ("fault * crash alpha*",) if isinstance(fault, Restart) else ()
    if first:
        world.allow(Crash("alpha", times_max=2))
    strike = f"fault fault/{fault.word} {fault.word} *"
    played = play(world, *(*first, strike) * 2)
    one, two = played.every(strike)
    assert f"budget:{fault.word}" in one.option.may.writes
    assert one.option.may.clashes(two.option.may)
    assert one.did.writes >= one.option.may.writes
    assert played.verdict.faults == (4 if first else 2)
    left = played.offered[two.number :]
    assert not any(word.startswith(f"{fault.word} ") for words in left for word in words)


@each_row("kind", [kind for kind in KINDS.values() if kind is not Compact])
def test_it_strikes_only_whom_it_names(kind: type[Fault]) -> None:
    """A glob over names: what it does not fit is never offered. There is one Store, and whom a
    compaction strikes need not be said."""
    offered = []
    for target in ("b*", "a*"):
        world, _, _ = stage_of(kind(target, times_max=2))
        if kind is Restart:
            world.allow(Crash("*", times_max=2))
        cues = ("fault * crash beta", "fault * crash alpha") if kind is Restart else ()
        words = [word for words in play(world, *cues).offered for word in words]
        offered.append({word for word in words if word.startswith(f"{kind.word} ")})
    assert offered[0]
    assert all("beta" in word for word in offered[0])
    assert all("alpha" in word for word in offered[1])


def test_a_run_that_nothing_is_allowed_in_is_offered_nothing() -> None:
    """Faults exist only where a scenario allows them."""
    world, _, _ = stage_of()
    played = play(world)
    assert not any(played.offered)
    assert played.verdict.faults == 0


def test_each_strike_has_a_sentence_of_its_own() -> None:
    """The second on one target is numbered; so are two watches of one kind, and two requests for
    the same. A lag is of all watches of a kind, and so it is one."""

    async def alpha(client: Client) -> None:
        async def read() -> None:
            stream = await client.watch(Note, Revision(1))
            await stream.next()

        client.spawn("reader", read)
        client.spawn("reader", read)
        for _ in range(2):
            await client.list(Note)
            await client.sleep(100)

    world = world_of(alpha=alpha)
    world.allow(BreakWatch(), Lag(), LoseReply(), Stall(times_max=2, by_ms=5))
    cues = ("start *", "fault * stall alpha", "serve * list notes#2", "fault * stall alpha#2")
    played = play(world, *cues)
    assert played.offered[played.only("fault * stall alpha#2").number - 1] == [
        "break_watch notes to alpha",
        "break_watch notes to alpha#2",
        "lag notes to alpha",
        "lose_reply alpha list notes#2",
        "stall alpha",
    ]


def test_two_allowances_of_a_kind_have_a_budget_each() -> None:
    """But they are of one kind, and so never taken for independent."""
    world, _, _ = stage_of(Stall("alpha", by_ms=5), Stall("beta", by_ms=5))
    played = play(world, "fault * stall beta", "fault * stall alpha")
    assert played.verdict.faults == 2
    started = played.only("start beta/*").number
    assert played.offered[started] == ["stall alpha", "stall beta"]


# -- crash, restart -----------------------------------------------------------------------------


def test_crash_ends_a_life_and_begins_another_if_it_says_so() -> None:
    """What is down cannot crash; when it is due the next life begins, and only then."""
    world, busy, _ = stage_of(Crash("alpha", restart_after_ms=2_500, times_max=2))
    played = play(world, "wake *", "fault * crash *")
    assert [step.now_ms for step in played.every("start alpha/*")] == [0, 3_500]
    assert busy.log[0] == "0 created a"
    assert busy.log[1].startswith("3500 AlreadyExists")
    assert all("crash alpha" not in words for words in _between(played, 1_000, 3_500))
    never, once, _ = stage_of(Crash("alpha"))
    played = play(never, "wake *", "fault * crash *")
    assert len(played.every("start alpha/*")) == 1
    assert once.log == ["0 created a"]


def _between(played: Any, after_ms: int, before_ms: int) -> Iterator[list[str]]:
    """The faults on offer after the first turn at one time and before the first at another."""
    steps = list(zip(played.steps, played.offered, strict=False))
    strikes = [step.number for step in played.steps if step.kind == "fault"]
    for step, words in steps:
        if after_ms <= step.now_ms < before_ms and step.number > strikes[0]:
            yield words


def test_an_actor_and_an_endpoint_can_be_brought_back() -> None:
    """Only when they are down; an actor with empty memory, an Endpoint with no cursors."""
    world, busy, listener = stage_of(Crash(), Crash("store"), Restart(times_max=2))
    cues = ("wake alpha/*", "fault * crash alpha", "fault * crash store")
    played = play(world, *cues, "fault * restart store", "fault * restart alpha")
    assert busy.log[1] == "1000 AlreadyExists: notes/default/a already exists"
    assert listener.log == ["0 a", "1000 WatchBroken", "2000 b"]
    crashed = next(step.number for step in played.every("fault * crash store"))
    assert played.offered[crashed] == ["restart alpha", "restart store"]
    assert not any(word.startswith("restart") for word in played.offered[0])
    restarted = played.only("fault * restart alpha").number
    assert not any(word.startswith("restart") for word in played.offered[restarted])


def test_an_actor_is_not_restarted_twice() -> None:
    """While its next life is announced there is nothing to bring back."""
    world, _, _ = stage_of(Crash("alpha", restart_after_ms=500), Restart())
    played = play(world, "wake *", "fault *")
    assert not any("restart alpha" in words for words in played.offered)
    assert len(played.every("start alpha/*")) == 2


def test_what_crashes_cannot_take_back_what_it_sent() -> None:
    """A request that was announced takes effect; its answer goes to nobody."""
    world, busy, listener = stage_of(Crash("alpha"))
    played = play(world, "start alpha/*", "fault * crash *")
    assert not busy.log
    assert listener.log == ["0 a"]
    assert not played.every("answer alpha/*")


# -- stall, lag, partition ----------------------------------------------------------------------


def test_stall_keeps_an_actor_from_moving() -> None:
    """Its answers, deliveries and timers come when that is over, none is lost; what it has sent is
    served, the others go on, and it is not stalled twice at a time."""
    world, busy, listener = stage_of(Stall("alpha", by_ms=5_000, times_max=2))
    played = play(world, "start alpha/*", "fault * stall *")
    assert busy.log == ["5000 created a", "6000 created b"]
    assert listener.log == ["0 a", "6000 b"]
    assert played.only("serve alpha/* notes/default/a").now_ms == 0
    assert all("stall alpha" not in words for words in _between(played, 0, 5_000))

    world, busy, listener = stage_of(Stall("beta", by_ms=5_000))
    play(world, "answer beta/*", "fault * stall *")
    assert busy.log == ["0 created a", "1000 created b"]
    assert listener.log == ["5000 a", "5000 b"]


def test_stall_moves_timers_and_never_drops_them() -> None:
    """One that was due while it was stalled is due when that is over; one that was not, as ever."""
    world, busy, _ = stage_of(Stall("alpha", by_ms=1_500))
    play(world, "answer alpha/*", "fault * stall *")
    assert busy.log == ["0 created a", "1500 created b"]
    world, busy, _ = stage_of(Stall("alpha", by_ms=500))
    play(world, "answer alpha/*", "fault * stall *")
    assert busy.log == ["0 created a", "1000 created b"]


def test_a_crash_ends_a_stall() -> None:
    """The next life is another process: it moves at once."""
    world, busy, _ = stage_of(Stall("alpha", by_ms=9_000), Crash("alpha", restart_after_ms=100))
    play(world, "start alpha/*", "fault * stall *", "fault * crash *")
    assert busy.log[0].startswith("100 AlreadyExists")


def test_lag_makes_one_kind_late_for_one_actor() -> None:
    """What is committed while it lasts comes that much later, in order all the same; what is
    committed after that, other kinds and other readers are in time."""

    async def writer(client: Client) -> None:
        for name in ("a", "b", "c"):
            await client.sleep(1_000)
            await client.create(note(name))
            await client.create(Pod(name))

    def reader(kind: Any, log: list[str]) -> Any:
        async def run(client: Client) -> None:
            stream = await client.watch(kind, Revision(1))
            while True:
                delivery = await stream.next()
                log.append(f"{client.now()} {delivery.key.rpartition('/')[2]}")

        return run

    late, pods, other = list[str](), list[str](), list[str]()
    world = world_of(writer=writer, other=reader(Note, other))

    async def alpha(client: Client) -> None:
        client.spawn("notes", reader(Note, late), client)
        client.spawn("pods", reader(Pod, pods), client)

    world.start(Puppet("alpha", alpha))
    world.allow(Lag("alpha", by_ms=700, for_ms=2_500))
    play(world, "answer alpha/notes *", "answer alpha/pods *", "fault * lag notes to alpha")
    assert late == ["1700 a", "2700 b", "3000 c"]
    assert other == pods == ["1000 a", "2000 b", "3000 c"]

    late.clear()
    world = world_of(writer=writer, alpha=reader(Note, late))
    world.allow(Lag("alpha", by_ms=1_500, for_ms=2_001))
    play(world, "answer alpha/*", "fault * lag *")
    assert late == ["2500 a", "3500 b", "3500 c"], "c may not overtake b"


def test_partition_delays_both_ways_and_loses_nothing() -> None:
    """Requests, answers and deliveries wait until it is over; timers inside do not."""
    world, busy, listener = stage_of(Partition("alpha", for_ms=5_000, times_max=2))
    played = play(world, "start alpha/*", "fault * partition *")
    assert busy.log == ["5000 created a", "6000 created b"], "the request had to wait"
    assert all("partition alpha" not in words for words in _between(played, 0, 5_000))

    world, busy, listener = stage_of(Partition("alpha", for_ms=5_000))
    play(world, "serve alpha/*", "fault * partition *")
    assert busy.log == ["5000 created a", "6000 created b"], "the answer had to wait"
    assert listener.log == ["0 a", "6000 b"], "its effect did not"

    world, busy, listener = stage_of(Partition("beta", for_ms=5_000))
    play(world, "answer beta/*", "fault * partition *")
    assert listener.log == ["5000 a", "5000 b"], "the deliveries had to wait"

    world, busy, listener = stage_of(Partition("alpha", for_ms=700))
    play(world, "answer alpha/*", "fault * partition *")
    assert busy.log == ["0 created a", "1000 created b"], "a timer is its own"


def test_partition_outlasts_a_crash() -> None:
    """It is the machine that cannot be reached: the next life cannot be either."""
    world, busy, _ = stage_of(Partition("alpha", for_ms=900), Crash("alpha", restart_after_ms=100))
    play(world, "start alpha/*", "fault * partition *", "fault * crash *")
    assert busy.log[0] == "900 created a"


def test_partition_leaves_alone_what_has_arrived_and_what_is_near() -> None:
    """The rest of a half-served Operation is its Endpoint's own; a near one needs no network."""
    seen: list[str] = []

    async def alpha(client: Client) -> None:
        await client.ask(Operation("list", "notes", endpoint="near"))
        seen.append(f"near at {client.now()}")
        await client.ask(move("a", "b"))
        seen.append(f"moved at {client.now()}")

    async def writer(client: Client) -> None:
        await client.sleep(100)
        await client.create(note("c"))

    async def filer(client: Client) -> None:
        await client.ask(file(note("filed"), revision=3))
        seen.append(f"filed at {client.now()}")

    world = world_of(alpha=filer, writer=writer)
    world.serve(Clerk)
    world.add(note("a"))
    world.allow(Partition("alpha", for_ms=500))
    played = play(world, "serve alpha/main file notes*", "fault * partition *")
    assert played.only("serve alpha/main file.2 *").now_ms == 100, "what it waited for had come"
    assert seen == ["filed at 500"]
    seen.clear()

    for cue in ("serve alpha/main move notes*", "serve alpha/main move.2 *"):
        world = world_of(alpha=alpha)
        world.serve(Clerk)
        world.serve(lambda store: Runtime(store, "near"))
        world.add(note("a"))
        world.allow(Partition("alpha", for_ms=500))
        played = play(world, cue, "fault * partition *")
        assert played.only("serve * move.2 *").now_ms == 0
        assert seen == ["near at 0", "moved at 500"]
        seen.clear()


# -- lose_request, lose_reply, server_error -----------------------------------------------------


def test_lose_request_has_no_effect_and_an_error() -> None:
    """Only what is announced and not served can be lost on its way."""
    world, busy, listener = stage_of(LoseRequest("alpha"))
    played = play(world, "start alpha/*", "fault * lose_request alpha create notes/default/a")
    assert busy.log == [
        "0 Unavailable: create notes/default/a: the connection was reset",
        "1000 created b",
    ]
    assert listener.log == ["1000 b"]
    assert not played.every("serve * notes/default/a")
    served = played.only("serve * notes/default/b").number
    assert "lose_request alpha create notes/default/b" not in played.offered[served]


def test_lose_reply_has_its_effect_and_an_error() -> None:
    """Its caller cannot tell it from a request that was lost."""
    world, busy, listener = stage_of(LoseReply("alpha"), LoseRequest("alpha"))
    played = play(world, "serve alpha/*", "fault * lose_reply alpha create notes/default/a")
    assert busy.log == [
        "0 Unavailable: create notes/default/a: the connection was reset",
        "1000 created b",
    ]
    assert listener.log == ["0 a", "1000 b"]
    announced = played.only("start alpha/*").number
    assert played.offered[announced] == ["lose_request alpha create notes/default/a"]


def test_lose_reply_of_a_watch_closes_it() -> None:
    """Nobody has it, so nothing is kept for it; the next one is another."""
    world, _, listener = stage_of(LoseReply("beta"))
    play(world, "serve beta/* watch *", "fault *")
    assert listener.log == ["0 Unavailable", "100 a", "1000 b"]
    assert not world.wire.streams.open


def test_half_served_nothing_is_lost_and_at_its_end_the_reply_may_be() -> None:
    """Between its transactions an Operation is in its Endpoint's hands, not on the wire."""
    said: list[str] = []

    async def alpha(client: Client) -> None:
        try:
            await client.ask(move("a", "b"))
        except Unavailable as error:
            said.append(str(error))

    world = world_of(alpha=alpha)
    world.serve(Clerk)
    world.add(note("a"))
    world.allow(LoseRequest(), LoseReply(), ServerError())
    played = play(world, "serve * move.2 *", "fault * lose_reply *")
    assert said == ["move notes/default/a: the connection was reset"]
    half = played.only("serve * move notes*").number
    target = "alpha move notes/default/a"
    assert played.offered[half] == []
    assert played.offered[half + 1] == [f"lose_reply {target}"]
    assert played.offered[half - 1] == [f"lose_request {target}", f"server_error {target}"]
    assert world.store.peek("notes/default/b") is not None


def test_a_message_nobody_waits_for_is_not_lost() -> None:
    """There would be nobody to tell, and so it would be silence."""

    async def alpha(client: Client) -> None:
        client.tell(Operation("create", "notes", "n", "default", note()))

    world = world_of(alpha=alpha)
    world.allow(LoseRequest(), LoseReply(), ServerError())
    assert not any(play(world).offered)


@each_row(
    ("code", "kind"),
    [
        (403, Forbidden),
        (409, Conflict),
        (429, TooManyRequests),
        (500, InternalError),
        (503, Unavailable),
    ],
)
def test_server_error_refuses_without_effect(code: int, kind: type[ApiError]) -> None:
    """By the code it was given, which is that of the error."""
    world, busy, listener = stage_of(ServerError("alpha", code=code))
    play(world, "start alpha/*", "fault *")
    said = f"0 {kind.__name__}: create notes/default/a: refused with {code}"
    assert busy.log == [said, "1000 created b"]
    assert listener.log == ["1000 b"]
    assert kind.code == code


def test_only_a_write_can_be_in_conflict() -> None:
    """No API server answers a read with 409; the other codes may befall any request."""
    for code, words in ((409, []), (429, ["server_error beta watch notes"])):
        world, _, _ = stage_of(ServerError("beta", code=code))
        played = play(world, "start beta/*")
        assert played.offered[played.only("start beta/*").number] == words


def test_a_code_no_server_sends_is_refused() -> None:
    """When it is allowed, not when it strikes."""
    with pytest.raises(ValueError, match=r"'code' must be in \(403, 409, 429, 500, 503\)"):
        ServerError(code=418)


# -- break_watch, compact, clock_step -----------------------------------------------------------


def test_break_watch_is_told_and_can_be_resumed() -> None:
    """Each open watch can be broken, and only while it is open; no Change is missed."""
    world, _, listener = stage_of(BreakWatch(times_max=3))
    cues = ("answer beta/*", "fault *", "serve beta/*", "fault *", "answer beta/*", "fault *")
    played = play(world, *cues)
    assert listener.log == [
        "0 WatchBroken",
        "100 WatchBroken",
        "200 WatchBroken",
        "300 a",
        "1000 b",
    ]
    assert played.offered[0] == []
    assert {word for words in played.offered for word in words} == {"break_watch notes to beta"}


def test_compact_forgets_all_but_the_present() -> None:
    """Only if there is something to forget; a watch from before that is Expired."""
    world, _, listener = stage_of(Compact(times_max=2))
    world.limit(delay_max_ms=2_000)
    cues = ("serve * notes/default/a", "fault *", "serve * notes/default/b", "fault *")
    played = play(world, *cues, late=("start beta/*",))
    assert listener.log == ["2000 Expired", "2100 a", "2100 b"]
    assert world.store.compacted == world.store.revision == 3
    first, second = (step.number for step in played.every("fault *"))
    written = played.only("serve * notes/default/b").number
    assert not any(played.offered[first:written])
    assert not any(played.offered[second:])
    assert not any(played.offered[: first - 1])


def test_clock_step_shifts_what_one_clock_says() -> None:
    """As often as it strikes, forward or back; no timer of its moves, no other clock does."""
    world, busy, listener = stage_of(ClockStep("alpha", by_ms=-250, times_max=2))
    played = play(world, "start alpha/*", "fault *", "wake *", "fault *")
    assert busy.log == ["-250 created a", "500 created b"]
    assert listener.log == ["0 a", "1000 b"]
    assert [step.now_ms for step in played.every("wake *")] == [1_000, 2_000]


# -- all of them --------------------------------------------------------------------------------


def stormy() -> tuple[World, Busy, Listener]:
    """Everything may befall everybody, twice."""
    crash = Crash(times_max=2, restart_after_ms=300)
    others = [kind(times_max=2) for kind in KINDS.values() if kind is not Crash]
    return stage_of(crash, *others)


def test_whatever_strikes_both_drivers_play_the_same_run() -> None:
    """Eighty random Runs, byte for byte, on trio and without; all come to their end."""
    for number in range(80):
        digests = []
        for driver in ("direct", "trio"):
            world, _, _ = stormy()
            trace = Trace({}, keep=True)
            verdict = world.run(Uniform(3), driver=driver, trace=trace, number=number)
            assert verdict.outcome in ("held", "violated"), verdict
            digests.append(trace.digest())
        assert digests[0] == digests[1]


def test_whatever_strikes_the_listener_hears_everything_in_the_end() -> None:
    """Nothing is silently dropped: in every one of many Runs each Note that exists was heard of."""
    for number in range(300):
        world, _, listener = stormy()
        verdict = world.run(Uniform(5), driver="direct", number=number)
        assert verdict.is_held, verdict
        notes = [entry.key for entry in world.store.snapshot("notes/")]
        heard = " ".join(listener.log)
        assert all(f" {key.rpartition('/')[2]}" in heard for key in notes), listener.log


def test_whoever_is_sent_to_a_server_that_is_behind_hears_of_what_was() -> None:
    """Beta, who has read all at one server, lists at another one that has read nothing: its watch
    ended, and what it sends from now on goes there, in its next life too."""
    busy, listener = Busy(), Listener()
    world = world_of(alpha=busy, beta=listener)
    world.serve(lambda store: Front(store, "front-1"))
    world.serve(lambda store: Front(store, "front-2"))
    world.allow(Stale("beta"), Crash("beta", restart_after_ms=10))
    played = play(world, "fault * stale front-2 to beta", "fault * crash beta")
    assert played.verdict.outcome != "bug"
    role = world.table.roles["beta"]
    assert (role.home, world.table.roles["alpha"].home) == ("front-2", "")
    assert all(stream.server.name == "front-2" for stream in role.life.streams)  # type: ignore[union-attr]
