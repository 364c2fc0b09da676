"""The invariants: when they look, what they find, and each of the built-in ones seen to fire."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import attrs
import pytest

from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.client.cache import Cache
from testbed.client.client import Client
from testbed.faults.compact import Compact
from testbed.faults.crash import Crash
from testbed.faults.lag import Lag
from testbed.faults.partition import Partition
from testbed.faults.stall import Stall
from testbed.invariant import (
    COMMIT,
    DEATH,
    DELIVERY,
    RECORD,
    TURN,
    Evidence,
    Invariant,
    always,
    eventually,
    quiescent,
)
from testbed.objects import Map, Note, Object, Revision
from testbed.store.change import Change
from testbed.store.delivery import DELETED, Delivery
from testbed.store.endpoint import Operation
from testbed.store.selector import Selector
from testbed.store.store import Store
from testbed.store.store_endpoint import StoreEndpoint
from testbed.store.watch import Watch
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Step, Trace
from testbed.turns.verdict import Verdict, Violation
from testbed.world.scenario import find
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.endpoints import Runtime
from tests.shared.stage import Puppet, note, play, world_of

# -- when they look -----------------------------------------------------------------------------


class Looks(Invariant):
    """Writes down when it looks, and at what; finds something if it is told to."""

    def __init__(self, *occasions: str, finds: str = "", at_end: str = "") -> None:
        self.name = f"looks_at_{'_'.join(occasions)}"
        self.looks_at = frozenset(occasions)  # type: ignore[misc]
        self.finds = finds
        self.at_end = at_end
        self.steps: list[Step | None] = []
        self.ends = 0

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        self.steps.append(step)
        return self.finds or None

    def end(self, evidence: Evidence) -> str | None:
        self.ends += 1
        assert all(role.is_up for role in evidence.actors if role.name == "reader")
        return self.at_end or None


async def writer(client: Client) -> None:
    """Records, writes twice and dies of it."""
    client.record("began")
    await client.create(note("a"))
    await client.create(note("b"))
    raise KeyError("b")


async def reader(client: Client) -> None:
    """Reads all there is, for ever."""
    stream = await client.watch(Note, Revision(1))
    while True:
        await stream.next()


@each_row(
    ("occasion", "at"),
    [
        (COMMIT, ["serve writer/main create notes/default/a", "serve writer/main create *b"]),
        (RECORD, ["start writer/main"]),
        (DELIVERY, ["deliver reader/watch-notes *a ADDED", "deliver reader/watch-notes *b ADDED"]),
        (DEATH, ["answer writer/main create notes/default/b"]),
    ],
)
def test_an_invariant_looks_when_it_has_an_occasion(occasion: str, at: list[str]) -> None:
    """After each turn with one, and no other; once at the end, before anything is torn down."""
    looks = Looks(occasion)
    world = world_of(reader=reader, writer=writer)
    world.claim(looks)
    world.goes_on = True
    played = play(world, is_held=False)
    steps = [step.number for step in looks.steps if step is not None]
    assert steps == [played.only(pattern).number for pattern in at]
    assert looks.ends == 1


def test_an_invariant_of_every_turn_looks_after_every_turn() -> None:
    """The Step is there if anybody keeps it, and is over; else there is none to show."""
    for keep in (True, False):
        looks = Looks(TURN)
        world = world_of(reader=reader)
        world.claim(looks)
        if keep:
            assert looks.steps == play(world).steps
        else:
            turns = world.run(Calm(), driver="direct").turns
            assert looks.steps == [None] * turns


def test_an_invariant_sees_what_the_turn_has_done() -> None:
    """Its commits, the deaths so far, the records, the actors by name, and the time."""
    seen: list[object] = []

    class Sees(Invariant):
        """Writes down all there is to see."""

        name = "sees"
        looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT, DEATH})

        def look(self, step: Step | None, evidence: Evidence) -> str | None:
            seen.append([change.key for change in evidence.changes])
            seen.append([death.error for death in evidence.deaths])
            seen.append([record.name for record in evidence.records])
            seen.append([role.name for role in evidence.actors])
            return None

    world = world_of(z=reader, writer=writer)
    world.claim(Sees())
    play(world, is_held=False)
    assert seen[:4] == [["notes/default/a"], [], ["began"], ["writer", "z"]]
    assert seen[9:11] == [["KeyError: 'b'"], ["began"]]


# -- what they find -----------------------------------------------------------------------------


def broken(verdict: Verdict) -> str:
    """The one thing that was found."""
    (violation,) = verdict.violations
    return f"{violation.invariant}: {violation.said}"


def test_a_violation_is_a_value_that_ends_the_run() -> None:
    """Nothing is raised; it says which claim, what was found, after which turn, and when."""
    looks = Looks(RECORD, finds="it began")
    world = world_of(writer=writer)
    world.claim(looks)
    verdict = play(world, is_held=False).verdict
    assert verdict.violations == (Violation("looks_at_record", "it began", 1, 0),)
    assert str(verdict.violations[0]) == "looks_at_record: it began (step 1, 0 ms)"
    assert (verdict.end, verdict.turns, looks.ends) == ("violated", 1, 0)
    assert not len(world.store)


def test_a_run_may_go_on_and_each_claim_is_breached_once() -> None:
    """All that is breached is told, in the order in which it was found; at the end as well."""
    world = world_of(reader=reader, writer=writer)
    world.claim(Looks(COMMIT, finds="a write", at_end="again"), Looks(TURN, at_end="the end"))
    world.goes_on = True
    verdict = play(world, is_held=False).verdict
    assert [violation.invariant for violation in verdict.violations] == [
        "looks_at_commit",
        "no_actor_dies",
        "looks_at_turn",
    ]
    assert verdict.end == "quiet"
    assert verdict.is_violated


def test_a_run_that_reaches_no_end_lets_nobody_have_a_last_word() -> None:
    """What is claimed of rest cannot be said of a Run that was stopped: it is undecided."""
    looks = Looks(TURN, at_end="never said")
    world = world_of(reader=reader)
    world.claim(looks)
    world.limit(turns_max=2)
    verdict = world.run(Calm(), driver="direct")
    assert (verdict.outcome, looks.ends) == ("undecided", 0)


def claimed(see: Evidence) -> str | None:
    """No Note is called b."""
    return "there is a b" if see.store.peek("notes/default/b") else None


def test_always_is_judged_after_every_commit_and_record() -> None:
    """And at the end. Its name is that of the function."""
    looked: list[int] = []

    def counts(see: Evidence) -> str | None:
        looked.append(see.store.revision)
        return claimed(see)

    world = world_of(reader=reader, writer=writer)
    world.claim(always(counts))
    verdict = play(world, is_held=False).verdict
    assert [str(v) for v in verdict.violations] == ["counts: there is a b (step 7, 0 ms)"]
    assert looked == [1, 2, 3]
    looked.clear()
    world = world_of(reader=reader)
    world.claim(always(counts))
    assert not play(world).verdict.violations
    assert looked == [1]


def test_quiescent_is_judged_at_rest_alone() -> None:
    """It may be broken on the way."""

    async def mends(client: Client) -> None:
        await client.create(note("b"))
        await client.sleep(5)
        await client.delete(note("b"), whatever_it_was=True)

    world = world_of(alpha=mends)
    world.claim(quiescent(claimed))
    assert play(world).verdict.is_held
    world = world_of(writer=writer)
    world.claim(quiescent(claimed))
    world.goes_on = True
    assert "claimed: there is a b" in str(play(world, is_held=False).verdict)


def ticking(*at_ms: int) -> Callable[[Client], Any]:
    """Creates the Note `at-<ms>` at each of these times."""

    async def run(client: Client) -> None:
        for time_ms in at_ms:
            await client.sleep(time_ms - client.now())
            await client.create(note(f"at-{time_ms}"))

    return run


def there_is(name: str) -> Callable[[Evidence], str | None]:
    """A claim that a Note of that name exists."""

    def exists(see: Evidence) -> str | None:
        return None if see.store.peek(f"notes/default/{name}") else f"there is no {name}"

    return exists


@each_row(
    ("name", "within_ms", "said"),
    [
        ("at-100", None, ""),
        ("at-100", 100, ""),
        ("at-100", 99, "exists: there is no at-100, 99 ms after the last fault (step 2, 100 ms)"),
        ("at-300", 150, "exists: there is no at-300, 150 ms after the last fault (step 5, 200 ms)"),
        ("at-900", 5_000, "exists: there is no at-900 (step 10, 300 ms)"),
        ("at-900", None, "exists: there is no at-900 (step 10, 300 ms)"),
    ],
)
def test_eventually_has_to_come_true_in_time(name: str, within_ms: int | None, said: str) -> None:
    """Within so much virtual time if that was said, else before the Run comes to rest; once is
    enough."""
    world = world_of(alpha=ticking(100, 200, 300))
    world.claim(eventually(there_is(name), within_ms=within_ms))
    verdict = play(world, is_held=not said).verdict
    assert [str(violation) for violation in verdict.violations] == ([said] if said else [])


def test_what_comes_true_in_the_first_turn_after_its_time_is_too_late() -> None:
    """The turn that lets the time pass may be the one that makes it true."""

    async def alpha(client: Client) -> None:
        await client.sleep(100)
        client.record("done")

    def done(see: Evidence) -> str | None:
        return None if see.records else "it is not done"

    for within_ms, held in ((100, True), (99, False)):
        world = world_of(alpha=alpha)
        world.claim(eventually(done, within_ms=within_ms))
        verdict = play(world, is_held=held).verdict
        assert held or broken(verdict) == "done: it came true too late, 99 ms after the last fault"


@each_row(
    ("fault", "within_ms", "held"),
    [
        (Stall("z", by_ms=250), 50, True),
        (Stall("z", by_ms=250), 49, False),
        (Partition("z", for_ms=290), 10, True),
        (Crash("z", restart_after_ms=200), 100, True),
        (Crash("z", restart_after_ms=200), 99, False),
        (Crash("z"), 299, False),
        (Crash("z"), 300, True),
    ],
)
def test_the_time_of_eventually_counts_from_when_the_last_fault_is_over(
    fault: Any, within_ms: int, held: bool
) -> None:
    """While an actor is stalled, cut off or not yet restarted, nothing can be asked of it."""

    async def z(client: Client) -> None:
        await client.sleep(10_000)

    world = world_of(alpha=ticking(300), z=z)
    world.allow(fault)
    world.claim(eventually(there_is("at-300"), within_ms=within_ms))
    play(world, "start z/*", "fault *", is_held=held)


def test_what_came_true_before_a_fault_has_to_come_true_again() -> None:
    """What is claimed to happen after the last fault is not satisfied by the time before it."""

    async def alpha(client: Client) -> None:
        await client.create(note("b"))
        await client.sleep(10)
        await client.delete(note("b"), whatever_it_was=True)
        await client.sleep(10)

    def exists(see: Evidence) -> str | None:
        return None if claimed(see) else "there is no b"

    for cues, held in (((), True), (("serve alpha/main delete *", "fault *"), False)):
        world = world_of(alpha=alpha)
        world.allow(Stall("alpha", by_ms=1))
        world.claim(eventually(exists))
        play(world, *cues, is_held=held)

    async def twice(client: Client) -> None:
        await alpha(client)
        await client.create(note("b"))

    for within_ms, held in ((20, True), (8, False)):
        world = world_of(alpha=twice)
        world.allow(Stall("alpha", by_ms=1))
        world.claim(eventually(exists, within_ms=within_ms))
        play(world, "serve alpha/main delete *", "fault *", is_held=held)


def test_a_verdict_says_how_far_it_looked() -> None:
    """Held, Violated or Undecided: one Run, its turns, its time, its faults; never a proof."""

    def verdict(outcome: str, *violations: Violation, faults: int = 0, note: str = "") -> str:
        return str(Verdict(outcome, "quiet", violations, 7, 80, faults, "calm", note))

    looked = "Looked at: 1 run (calm), 7 turns, 80 ms virtual time"
    assert verdict("held") == f"Held. {looked}, 0 faults."
    assert verdict("undecided", faults=1) == f"Undecided: quiet. {looked}, 1 fault."
    breach = Violation("claim", "it is so", 3, 40)
    said = verdict("violated", breach, breach, note="And so on.")
    breaches = "; ".join(["claim: it is so (step 3, 40 ms)"] * 2)
    assert said == f"Violated: {breaches}. {looked}, 0 faults. And so on."


# -- revisions_increase -------------------------------------------------------------------------


async def two_writes(client: Client) -> None:
    """Creates a Note and updates it."""
    made = await client.create(note(x="1"))
    await client.update(made.saying(x="2"), whatever_it_was=True)


@pytest.mark.spec("INV-1")
def test_a_revision_that_repeats_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Store forgets to move its clock."""
    commit = Store._commit

    def stands_still(self: Store, changes: Sequence[Change]) -> None:
        commit(self, changes)
        self._revision = 1

    monkeypatch.setattr(Store, "_commit", stands_still)
    verdict = play(world_of(alpha=two_writes), is_held=False).verdict
    said = "revisions_increase: rv 2 of notes/default/n was committed after rv 2"
    assert broken(verdict) == said


@pytest.mark.spec("INV-1")
def test_an_object_that_bears_another_revision_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Endpoint leaves the one it had read."""

    def unstamped(self: StoreEndpoint, item: Object, old: Object) -> Object:
        return item.with_meta(revision=old.meta.revision, uid=old.meta.uid)

    monkeypatch.setattr(StoreEndpoint, "_revised", unstamped)
    verdict = play(world_of(alpha=two_writes), is_held=False).verdict
    assert broken(verdict) == "revisions_increase: notes/default/n says rv 2 at rv 3"


@pytest.mark.spec("INV-1", "API-5")
def test_a_commit_that_changes_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Endpoint writes though nothing is new but the revision."""

    def always_new(self: StoreEndpoint, item: Object, old: Object) -> Object:
        return old.with_meta(revision=Revision(self.store.revision + 1))

    monkeypatch.setattr(StoreEndpoint, "_revised", always_new)
    verdict = play(world_of(alpha=two_writes), is_held=False).verdict
    assert broken(verdict) == "revisions_increase: rv 3 changes nothing of notes/default/n"


@pytest.mark.spec("INV-1")
def test_a_change_out_of_its_place_in_history_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Store files a Change where one stands already."""
    record = Store._record

    def misfiled(self: Store, *args: Any) -> Change:
        return attrs.evolve(record(self, *args), serial=1)

    monkeypatch.setattr(Store, "_record", misfiled)
    verdict = play(world_of(alpha=two_writes), is_held=False).verdict
    assert broken(verdict) == "revisions_increase: change 1 of notes/default/n came after 1"


def test_several_commits_of_one_turn_and_several_objects_of_one_commit_are_well() -> None:
    """A near Endpoint may commit twice in a turn; a transaction has one revision for all."""

    async def alpha(client: Client) -> None:
        for name in ("a", "b"):
            await client.ask(
                Operation("create", "notes", name, "default", note(name), endpoint="near")
            )
        await client.ask(Operation("txn", "notes", "x", "default", (note("x"), note("y"))))
        await client.delete(note("x"), whatever_it_was=True)

    world = world_of(alpha=alpha)
    world.serve(lambda store: Runtime(store, "near"))
    assert play(world).verdict.is_held


# -- watches_are_gap_free -----------------------------------------------------------------------


def watched(*, busy: bool = False, selector: Selector | None = None, lags: bool = False) -> World:
    """Alpha watches Notes, with bookmarks; beta writes a, b and c."""

    async def alpha(client: Client) -> None:
        options = Map(bookmarks=True)
        stream = await client.watch(Note, Revision(1), selector or Selector(), options=options)
        await client.sleep(1_000 if busy else 0)
        while True:
            await stream.next()

    async def beta(client: Client) -> None:
        for name in ("a", "b", "c"):
            await client.sleep(10)
            await client.create(note(name, x=name))

    world = World()
    if lags:
        world.serve(lambda store: StoreEndpoint(store, lags=("notes",)))
    world.start(Puppet("alpha", alpha), Puppet("beta", beta))
    return world


def test_a_watch_as_it_is_is_gap_free() -> None:
    """Nothing is found of one that is kept waiting, selects, lags, or survives a compaction."""
    for world in (watched(), watched(busy=True), watched(lags=True)):
        assert len(play(world).every("deliver *ADDED")) == 3
    selector = Selector(fields=(("data.x", "b"),))
    assert len(play(watched(selector=selector)).every("deliver *ADDED")) == 1


@pytest.mark.spec("INV-6")
def test_a_change_that_is_skipped_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Watch overlooks one; the next delivery shows it."""
    push = Watch._push

    def overlooks(self: Watch, change: Change) -> None:
        if change.key != "notes/default/b":
            push(self, change)

    monkeypatch.setattr(Watch, "_push", overlooks)
    said = "alpha/watch-notes was told of notes/default/c at rv 4, and notes/default/b at rv 3 was"
    verdict = play(watched(), is_held=False).verdict
    assert broken(verdict) == f"watches_are_gap_free: {said} next"


@pytest.mark.spec("INV-6")
def test_a_change_that_is_told_twice_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Watch forgets that it has delivered it."""
    take = Watch.take

    def repeats(self: Watch) -> Delivery:
        change = self.queue[0]
        delivery = take(self)
        if change.key == "notes/default/b":
            self.queue.appendleft(change)
        return delivery

    monkeypatch.setattr(Watch, "take", repeats)
    said = "alpha/watch-notes was told of notes/default/b at rv 3, and"
    for busy, following in ((False, "nothing"), (True, "notes/default/c at rv 4")):
        verdict = play(watched(busy=busy), is_held=False).verdict
        assert broken(verdict) == f"watches_are_gap_free: {said} {following} was next"


@pytest.mark.spec("INV-6")
def test_changes_out_of_order_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Watch delivers the newest first."""
    push = Watch._push

    def newest_first(self: Watch, change: Change) -> None:
        push(self, change)
        self.queue.rotate(1)

    monkeypatch.setattr(Watch, "_push", newest_first)
    said = "alpha/watch-notes was told of notes/default/c at rv 4, and notes/default/a at rv 2 was"
    verdict = play(watched(busy=True), is_held=False).verdict
    assert broken(verdict) == f"watches_are_gap_free: {said} next"


@pytest.mark.spec("INV-6")
def test_a_change_that_does_not_match_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Watch takes for selected whatever its first field selects."""

    def takes_all(self: Watch, change: Change) -> None:
        self.queue.append(change)
        assert self.on_ready is not None
        self.on_ready(self)

    monkeypatch.setattr(Watch, "_push", takes_all)
    monkeypatch.setattr(Watch, "_delivery", lambda _, change: added(change))
    selector = Selector(fields=(("data.x", "b"), ("data.y", "1")))
    said = "alpha/watch-notes was told of notes/default/b at rv 3, and nothing was next"
    verdict = play(watched(selector=selector), is_held=False).verdict
    assert broken(verdict) == f"watches_are_gap_free: {said}"


def added(change: Change) -> Delivery:
    """Tell of a Change as if it were a creation."""
    assert change.new is not None
    return Delivery("ADDED", change.new.value, Revision(change.revision), change)


@pytest.mark.spec("INV-6", "API-44")
def test_a_bookmark_that_comes_too_early_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lagging server promises all the Store holds, instead of all it has read."""

    def promises(self: Watch) -> Delivery:
        self.revision = self.cursor.store.revision
        return Delivery("BOOKMARK", revision=Revision(self.revision))

    monkeypatch.setattr(Watch, "take_bookmark", promises)
    world = watched(selector=Selector(fields=(("data.x", "c"),)), lags=True)
    world.limit(delay_max_ms=100_000)
    cues = ("serve beta/main create notes/default/c", "feed *", "deliver *BOOKMARK")
    verdict = play(world, *cues, late=("feed *",), is_held=False).verdict
    said = "alpha/watch-notes got a bookmark at rv 4, before notes/default/c at rv 4"
    assert broken(verdict) == f"watches_are_gap_free: {said}"


def test_a_watch_that_goes_back_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bookmark from before what was delivered already."""

    def goes_back(self: Watch) -> Delivery:
        self.revision = self.cursor.revision
        return Delivery("BOOKMARK", revision=Revision(2))

    monkeypatch.setattr(Watch, "take_bookmark", goes_back)
    verdict = play(watched(selector=Selector(fields=(("data.x", "b"),))), is_held=False).verdict
    assert broken(verdict) == (
        "watches_are_gap_free: alpha/watch-notes was told of rv 2 after rv 3"
    )


def test_a_watch_is_still_judged_after_a_compaction(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is forgotten cannot be compared; what came after it is, as before."""
    push = Watch._push

    def overlooks(self: Watch, change: Change) -> None:
        if change.key != "notes/default/b":
            push(self, change)

    async def gamma(client: Client) -> None:
        for _ in range(5):
            await client.sleep(1)
            await client.create(note("team/x", n=str(client.now())), timeout_ms=1_000)
            await client.delete(note("team/x"), whatever_it_was=True)

    selector = Selector(namespace="default")
    for is_broken in (False, True):
        if is_broken:
            monkeypatch.setattr(Watch, "_push", overlooks)
        world = watched(selector=selector)
        world.start(Puppet("gamma", gamma))
        world.allow(Compact())
        cues = ("wake gamma/*",) * 5 + ("answer gamma/main delete *#5", "fault *")
        verdict = play(world, *cues, is_held=not is_broken).verdict
        assert ("notes/default/b at rv" in str(verdict)) is is_broken


# -- caches_equal_the_store ---------------------------------------------------------------------


async def knows(client: Client) -> None:
    """Knows all Notes, and those that say b."""
    Cache(client, Note)
    Cache(client, Note, Selector(fields=(("data.x", "b"),)))


async def changing(client: Client) -> None:
    """Creates, updates and deletes."""
    await client.sleep(10)
    made = await client.create(note("a", x="a"))
    await client.update(made.saying(x="b"))
    await client.create(note("z", x="z"))
    await client.delete(note("z"), whatever_it_was=True)


@pytest.mark.spec("INV-40")
@pytest.mark.parametrize(
    ("forgotten", "said"),
    [
        ("ADDED", "lacks notes/default/a"),
        ("MODIFIED", "holds notes/default/a as it was, not as it is"),
        (DELETED, "still holds notes/default/z, which is gone"),
    ],
)
def test_a_cache_that_forgets_is_found(
    forgotten: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It overlooks a creation, an update or a delete; at rest it differs from the Store."""
    apply = Cache._apply

    def overlooks(self: Cache[Any], delivery: Delivery) -> None:
        keys = ("notes/default/a", "notes/default/z") if forgotten == DELETED else (delivery.key,)
        if delivery.type != forgotten or delivery.key not in keys:
            apply(self, delivery)

    assert play(world_of(alpha=knows, beta=changing)).verdict.is_held
    monkeypatch.setattr(Cache, "_apply", overlooks)
    verdict = play(world_of(alpha=knows, beta=changing), is_held=False).verdict
    assert broken(verdict) == f"caches_equal_the_store: the cache of notes in alpha {said}"
    assert verdict.end == "quiet"


def test_a_world_that_still_has_to_deliver_is_not_at_rest() -> None:
    """Only timers and bookmarks are given up after that time, never what a fault holds back."""

    async def clock(client: Client) -> None:
        await client.sleep(100_000)

    world = world_of(alpha=knows, beta=changing, clock=clock)
    world.allow(Lag("alpha", by_ms=60_000))
    world.limit(until_ms=5_000)
    played = play(world, "answer alpha/* watch notes", "fault *")
    assert played.verdict.virtual_ms == 60_010
    assert len(played.every("deliver *")) > 2


def test_a_cache_that_died_with_its_actor_is_not_judged() -> None:
    """What it held when its life ended may be as old as that."""
    world = world_of(alpha=knows, beta=changing)
    world.allow(Crash("alpha"))
    play(world, "wake beta/*", "fault *")


# -- no_actor_dies, nobody_is_stuck -------------------------------------------------------------


def test_an_actor_that_dies_is_found() -> None:
    """Of which error, in which task, and at which place of its own code; a crash is no death."""
    verdict = play(world_of(alpha=writer), is_held=False).verdict
    assert broken(verdict).startswith("no_actor_dies: alpha/main died of KeyError: 'b' at test_inv")
    assert verdict.end == "violated"
    world = world_of(alpha=reader)
    world.allow(Crash("alpha"))
    assert play(world, "start *", "fault *").verdict.is_held


def test_two_tasks_that_wait_for_each_other_are_found() -> None:
    """Nothing can move: who waits for what is told, whoever is not to blame included."""

    async def alpha(client: Client) -> None:
        ping, pong = client.queue("ping"), client.queue("pong")

        async def other() -> None:
            await ping.get()
            pong.put(1)

        client.spawn("other", other)
        await pong.get()
        ping.put(1)

    verdict = play(world_of(alpha=alpha, reader=reader), is_held=False).verdict
    assert broken(verdict) == (
        "nobody_is_stuck: nothing can move, and alpha/main waits for queue alpha/pong; alpha/other "
        "waits for queue alpha/ping; reader/main waits for watch notes"
    )
    assert verdict.end == "stuck"


def test_who_waits_for_a_watch_or_an_idle_inbox_is_not_stuck() -> None:
    """That is how most Runs come to rest."""

    async def alpha(client: Client) -> None:
        await client.queue("inbox", idle=True).get()

    verdict = play(world_of(alpha=alpha, reader=reader)).verdict
    assert verdict.end == "quiet"


@each_row("keep", [True, False])
def test_a_commit_is_seen_once_whether_the_trace_is_kept_or_not(keep: bool) -> None:
    """What a claim that looks at every turn is shown does not depend on who reads the trace."""
    seen: list[int] = []

    class Counts(Invariant):
        name = "counts"
        looks_at = frozenset({TURN})

        def look(self, step: Step | None, evidence: Evidence) -> str | None:
            seen.append(len(evidence.changes))
            return None

    world = find("lost_update").world()
    world.claim(Counts())
    world.run(Calm(), driver="direct", trace=Trace({}, keep=keep))
    assert sum(seen) == 2


def test_what_held_all_along_has_come_true_in_time() -> None:
    """`eventually` within a time after a stall, of what was never otherwise, holds; though nobody
    looks until long after."""

    async def sleeps(client: Client) -> None:
        await client.sleep(10)
        await client.sleep(3_600_000)

    class StallsFirst(Calm):
        is_due = True

        def choose(self, options: Options | Alternatives) -> int:
            if self.is_due and options.ready and options[0].kind == "wake":
                self.is_due = False
                return options.ready
            return 0

    world = World()
    world.start(Puppet("alpha", sleeps))
    world.allow(Stall("alpha", by_ms=1_000))
    world.claim(eventually(lambda see: None, within_ms=500))
    verdict = world.run(StallsFirst(), driver="direct")
    assert verdict.is_held, verdict
    assert verdict.faults == 1


# -- what a search that leaves out orders is told ------------------------------------------------


class Minds(Uniform):
    """Says that it leaves out orders."""

    minds_order = True


@each_row(
    ("reads", "minds", "clash"),
    [
        (None, True, True),
        (("notes/default/a", "notes/default/b"), True, True),
        (("log:notes",), True, True),
        (("notes/default/a",), True, False),
        ((), True, False),
        (None, False, False),
    ],
)
def test_what_a_claim_reads_keeps_its_order(
    reads: tuple[str, ...] | None, *, minds: bool, clash: bool
) -> None:
    """Two commits to two keys commute; a claim over both, looked at between them, can tell their
    order. One that does not say what it reads may read anything."""

    async def writes(client: Client) -> None:
        await client.update(note(client.name, x="1"))

    world = World("test")
    world.add(note("a"), note("b"))
    world.start(Puppet("a", writes), Puppet("b", writes))
    world.claim(always(lambda _: None, reads=reads))
    trace = Trace({}, keep=True)
    world.run(Minds() if minds else Uniform(), driver="direct", trace=trace)
    one, other = (step for step in trace.steps if step.kind == "serve")
    assert one.did.clashes(other.did) is clash
