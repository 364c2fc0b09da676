"""Whatever an actor, an Endpoint or a claim can see leaves a mark: no World is said to hold that
some Run breaches."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from actors.apiserver.server import ApiServer
from testbed import Evidence, Operation, World, always, quiescent
from testbed.choosers.complete import Complete
from testbed.choosers.uniform import Uniform
from testbed.client.cache import Cache
from testbed.client.client import Client
from testbed.errors import ApiError, Conflict, Expired, ScenarioError
from testbed.faults.crash import Crash
from testbed.faults.server_error import ServerError
from testbed.invariant import SERVED, Invariant
from testbed.objects import Map, Note, Pod
from testbed.objects.meta import Revision
from testbed.store.endpoint import Handler
from testbed.store.footprint import NOTHING, Footprint
from testbed.store.store import Store
from testbed.store.store_endpoint import StoreEndpoint
from testbed.turns.trace import Step
from tests.each_row import each_row
from tests.models.looking import (
    RUNS,
    RUNS_LONG,
    RUNS_MAX,
    Build,
    commits,
    ends_of,
    is_seen,
    of_actors,
    says,
)
from tests.shared.stage import Apart, Doing, Puppet, note

# -- numbers that all commits have counted ---------------------------------------------------------


async def two_lists(client: Client) -> None:
    """Ask whether two lists are of one revision."""
    one = await client.list(Note)
    says(client, odd=one.revision != (await client.list(Note)).revision)


async def two_listings(client: Client) -> None:
    """Compare two whole answers."""
    says(client, odd=await client.list(Note) != await client.list(Note))


async def a_set_of_lists(client: Client) -> None:
    """Ask by hash."""
    one = (await client.list(Note)).revision
    says(client, odd=(await client.list(Note)).revision not in {one})


async def a_list_and_an_object(client: Client) -> None:
    """Ask whether a list is of the revision of an object."""
    mine = await client.create(note("mine"))
    says(client, odd=(await client.list(Note)).revision != mine.meta.revision)


async def the_text(client: Client) -> None:
    """Read the text of a list's revision."""
    says(client, odd=str((await client.list(Note)).revision) == "3")


async def the_text_of_an_object(client: Client) -> None:
    """Show a whole object."""
    says(client, odd=repr(await client.create(note("mine"))).count("rv 4"))


async def a_revision_of_its_own(client: Client) -> None:
    """Compare with a revision that nobody has told."""
    says(client, odd=(await client.create(note("mine"))).meta.revision == Revision("4"))


async def facts_of_a_record(client: Client) -> None:
    """Write an Operation as a line."""
    mine = await client.create(note("mine"))
    client.record("seen", of=mine)
    says(client, odd='"4"' in Operation("update", body=mine).line())


async def a_conflict(client: Client) -> None:
    """Read the text of a Conflict."""
    old = await client.get(Note, "n")
    await client.update(old.saying(a="1"))
    try:
        await client.update(old.saying(a="2"))
    except Conflict as error:
        says(client, odd="4" in str(error))


async def an_error(client: Client) -> None:
    """Show an error with numbers in it."""
    try:
        await client.list(Note, at=Revision("9"))
    except ApiError as error:
        says(client, odd="at 3" in repr(error))


async def a_delivery(client: Client) -> None:
    """Look at the Change of a delivery."""
    stream = await client.watch(Note, (await client.list(Note)).revision)
    await client.create(note("mine"))
    delivery = await stream.next()
    assert delivery.change is not None
    says(client, odd=delivery.change.revision == 4)
    stream.close()


async def a_record(client: Client) -> None:
    """Look at what stands for a Record."""
    says(client, odd="2" in str(client.record("first")))


async def a_pickle(client: Client) -> None:
    """Turn a list's revision into bytes."""
    says(client, odd=b"3" in pickle.dumps((await client.list(Note)).revision))


LOOKS = {
    f.__name__: f
    for f in (
        two_lists, two_listings, a_set_of_lists, a_list_and_an_object, the_text, a_conflict,
        the_text_of_an_object, a_revision_of_its_own, facts_of_a_record, an_error, a_delivery,
        a_pickle,
    )
}  # fmt: skip
LENGTHS = pytest.mark.parametrize("runs", [RUNS, pytest.param(RUNS_LONG, marks=pytest.mark.long)])


@LENGTHS
@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_a_look_at_what_all_commits_have_counted_is_marked(look: Doing, runs: int) -> None:
    """By text, equality or hash; of a list, an object, an error or a delivery."""
    seen = is_seen(of_actors(a=look, b=commits, c=commits), runs)
    assert seen == ({()} if look is a_conflict else {(), ("nobody_says_odd",)})


def test_who_does_not_look_pays_nothing() -> None:
    """To hand a revision back is no look, nor is to ask whether an object has changed."""

    async def reads(client: Client) -> None:
        one = await client.get(Note, "n")
        listing = await client.list(Note)
        assert listing.revision
        stream = await client.watch(Note, listing.revision)
        says(client, odd=one != await client.get(Note, "n"))
        stream.close()

    complete = Complete()
    seen = ends_of(of_actors(a=reads, b=commits, c=commits), complete, RUNS_MAX)
    assert (complete.classes, complete.runs, seen) == (1, 1, {()})


def test_a_record_says_nothing_of_those_of_others() -> None:
    """What `client.record` returns is the same in every order."""
    assert is_seen(of_actors(a=a_record, b=a_record, c=a_record)) == {()}


def test_the_token_of_a_page_is_marked() -> None:
    """It holds the revision of the first page."""

    async def pages(client: Client) -> None:
        await client.create(note("m"))
        page = await client.list(Note, options=Map({"limit": 1}))
        rest = await client.list(Note, options=Map({"limit": 1, "continue": page.more}))
        assert len(rest.items) == 1
        says(client, odd=look(page.more))

    def build(world: World) -> None:
        world.serve(ApiServer)
        of_actors(a=pages, b=commits)(world)

    tokens: set[str] = set()

    def collect(more: object) -> bool:
        tokens.add(str(more))
        return False

    look: Callable[[object], bool] = collect
    ends_of(build, Uniform(0), 20)
    assert len(tokens) == 2

    def is_the_first(more: object) -> bool:
        return str(more) == min(tokens)

    look = is_the_first
    assert is_seen(build) == {(), ("nobody_says_odd",)}


# -- what the tasks of one actor share -------------------------------------------------------------

# The end of a task is marked. So no task ends here when it has looked: each goes on for a while.


async def lingers(client: Client) -> None:
    """Go on, so that a task does not end in this turn."""
    await client.sleep(9)


async def looks_into_a_cache(client: Client, see: Callable[[Cache[Note]], object]) -> None:
    """Look into a Cache when it may have heard of what was created, or not."""
    cache = Cache(client, Note)
    await cache.synced()
    await client.create(note("other"))
    says(client, odd=see(cache))
    await lingers(client)


SEEN: dict[str, Callable[[Cache[Note]], object]] = {
    "known": lambda cache: "notes/default/other" in cache.known,
    "items": lambda cache: "notes/default/other" in cache.items,
    "all": lambda cache: len(cache.all()) > 1,
    "get": lambda cache: cache.get("other"),
    "revision": lambda cache: str(cache.revision) == "3",
    "upto": lambda cache: str(cache.upto) == "3",
}


@each_row("see", SEEN.values(), ids=SEEN)
def test_a_look_into_a_cache_is_marked(see: Callable[[Cache[Note]], object]) -> None:
    """Also of an actor that shares no memory, whose turns commute if nothing else is marked."""
    found = is_seen(of_actors(apart=partial(looks_into_a_cache, see=see)))
    assert found == {(), ("nobody_says_odd",)}


async def what_a_cache_knew(client: Client) -> None:
    """Keep what a Cache shows, and look into it in a later turn."""
    cache = Cache(client, Note)
    await cache.synced()
    known = cache.known
    await client.create(note("other"))
    says(client, odd="notes/default/other" in known)
    await lingers(client)


async def beside(client: Client, do: Callable[[], object], see: Callable[[], object]) -> None:
    """Do something in one task, and look at it in another."""

    async def does() -> None:
        do()
        await lingers(client)

    client.spawn("does", does)
    await client.get(Note, "n")
    says(client, odd=see())
    await lingers(client)


async def an_alarm_that_is_set_twice(client: Client) -> None:
    """In one order the first of the two changes nothing."""
    alarm = client.alarm("alarm")

    async def sets(ms: int | None) -> None:
        alarm.set(ms)
        await lingers(client)

    for ms in (None, 5):
        client.spawn("sets", sets, ms)
    await client.sleep(1)
    says(client, odd=alarm.due_ms)
    await lingers(client)


async def an_alarm(client: Client) -> None:
    """When it goes off."""
    alarm = client.alarm("alarm")
    await beside(client, lambda: alarm.set(5), lambda: alarm.due_ms)


async def a_task(client: Client) -> None:
    """Whether it has ended."""

    async def nothing() -> None:
        return

    task = client.spawn("nothing", nothing)
    await client.get(Note, "n")
    says(client, odd=task.has_ended)
    await lingers(client)


async def a_stream(client: Client) -> None:
    """Why it has ended."""
    stream = await client.watch(Note, (await client.list(Note)).revision)
    await beside(client, stream.close, lambda: stream.error)


async def a_queue(client: Client) -> None:
    """How much it holds."""
    queue = client.queue("queue")
    await beside(client, lambda: queue.put(1), lambda: len(queue))


async def a_signal(client: Client) -> None:
    """Whether it is set."""
    signal = client.signal("signal")
    await beside(client, signal.set, lambda: signal.is_set)


SHARED = {
    f.__name__: f
    for f in (
        an_alarm_that_is_set_twice,
        an_alarm,
        a_task,
        a_stream,
        a_queue,
        a_signal,
        what_a_cache_knew,
    )
}


@each_row("look", SHARED.values(), ids=SHARED)
def test_a_look_at_what_tasks_share_is_marked(look: Doing) -> None:
    """Of an actor that has declared that its tasks share nothing else."""
    assert is_seen(of_actors(apart=look)) == {(), ("nobody_says_odd",)}


# -- Endpoints -------------------------------------------------------------------------------------


class Diary(StoreEndpoint):
    """Answers with how many have asked before, and marks nothing."""

    def __init__(self, store: Store, name: str = "diary") -> None:
        super().__init__(store, name)
        self.pages: list[str] = []

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        """Note who asks."""
        self.pages.append(caller)
        return tuple(self.pages)
        yield

    def may(self, operation: Operation, caller: str = "") -> Footprint:
        """Nothing that it knows of."""
        return NOTHING


class NearDiary(Diary):
    """One that answers within the turn of who asks."""

    near = True


@each_row("kind", [Diary, NearDiary])
def test_an_endpoint_that_does_not_say_what_it_remembers_keeps_its_order(kind: type[Diary]) -> None:
    """It inherits from one that says so, which is no word about what it adds."""

    async def asks(client: Client) -> None:
        pages = await client.ask(Operation("write", endpoint="diary"))
        says(client, odd=client.name == "a" and pages == ("b", "a"))

    def build(world: World) -> None:
        world.serve(kind)
        of_actors(a=asks, b=asks)(world)

    assert is_seen(build) == {(), ("nobody_says_odd",)}


class Peeking(StoreEndpoint):
    """Answers with what it sees in the Store without a mark of its own."""

    see: Callable[[Store], object]

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        """Look, and say."""
        return type(self).see(self.store)
        yield

    def may(self, operation: Operation, caller: str = "") -> Footprint:
        """Nothing that it knows of."""
        return NOTHING


PEEKS: dict[str, Callable[[Store], object]] = {
    "peek": lambda store: store.peek("pods/default/of-b") is None,
    "snapshot": lambda store: not store.snapshot("pods/"),
    "log": lambda store: not store.log("pods").changes,
    "changes": lambda store: not store.changes("pods"),
    "revision": lambda store: store.revision == 2,
    "len": lambda store: len(store) == 1,
}


@each_row("see", PEEKS.values(), ids=PEEKS)
@each_row("is_near", [False, True])
def test_an_endpoint_that_does_not_say_that_it_marks_is_seen_to_peek(
    see: Callable[[Store], object], *, is_near: bool
) -> None:
    """All that is for the testbed alone, and leaves no mark there."""
    kind = type("Peeking", (Peeking,), {"see": staticmethod(see), "near": is_near})

    async def asks(client: Client) -> None:
        says(client, odd=await client.ask(Operation("see", endpoint="peeks")))
        await lingers(client)

    def build(world: World) -> None:
        world.serve(lambda store: kind(store, "peeks"))
        of_actors(a=asks, b=commits)(world)

    assert is_seen(build) == {(), ("nobody_says_odd",)}


def test_two_faults_of_one_word_are_two() -> None:
    """They strike in one sentence, and the actor is told something else."""

    async def updates(client: Client) -> None:
        try:
            await client.update(note("n", a="1"))
        except ApiError as error:
            says(client, odd=error.code == 403)

    def build(world: World) -> None:
        world.allow(ServerError("*", code=409), ServerError("a", code=403))
        of_actors(a=updates)(world)

    complete = Complete()
    assert ends_of(build, complete, RUNS_MAX) == {(), ("nobody_says_odd",)}
    assert (complete.outcomes, complete.repeated) == ({"held": 2, "violated": 1}, 0)


def test_a_read_that_is_refused_for_its_revision_is_marked() -> None:
    """Whether there is such a revision yet depends on the commits of all."""

    async def lists(client: Client) -> None:
        try:
            await client.list(Note, at=Revision("3"), options=Map({"match": "Exact"}))
        except ApiError:
            says(client, odd=True)

    def build(world: World) -> None:
        world.serve(ApiServer)
        of_actors(a=lists, b=commits)(world)

    assert is_seen(build) == {(), ("nobody_says_odd",)}


def test_a_restarted_server_knows_no_older_revision() -> None:
    """Whether a list was before its start depends on the commits of all kinds."""

    async def watches(client: Client) -> None:
        try:
            listing = await client.list(Note)
            await client.sleep(5)
            stream = await client.watch(Note, listing.revision)
            await stream.next()
        except Expired:
            says(client, odd=True)
        except ApiError:
            says(client, odd=False)

    async def commits_or_not(client: Client) -> None:
        with suppress(ApiError):
            await commits(client)

    def build(world: World) -> None:
        world.serve(ApiServer)
        world.allow(Crash("api", restart_after_ms=1))
        of_actors(a=watches, b=commits_or_not)(world)

    assert is_seen(build, 500) == {(), ("nobody_says_odd",)}


def test_who_compacts_first_is_marked_though_the_other_is_refused() -> None:
    """A compaction that is refused has looked at how far history goes."""

    async def compacts(client: Client) -> None:
        revision = (await client.list(Note)).revision
        try:
            await client.ask(Operation("compact", revision=revision))
        except ApiError:
            says(client, odd=client.name == "a")

    assert is_seen(of_actors(a=compacts, b=compacts)) == {(), ("nobody_says_odd",)}


# -- claims ----------------------------------------------------------------------------------------


def claiming(*claims: Invariant, **puppets: Doing) -> Build:
    """A World with these claims and actors."""

    def build(world: World) -> None:
        world.add(note("n"))
        for name, do in puppets.items():
            world.start(Apart(name, do))
        world.claim(*claims)

    return build


async def creates_one(client: Client) -> None:
    """Create a Note of its own name."""
    await client.create(note(f"of-{client.name}"))


def of_b_before_a(evidence: Evidence) -> str | None:
    """Says which of two objects is older."""
    a, b = (evidence.store.peek(f"notes/default/of-{name}") for name in "ab")
    return "b was first" if a and b and b.revision < a.revision else None


def of_text(evidence: Evidence) -> str | None:
    """Says what revision an object has."""
    a = evidence.store.peek("notes/default/of-a")
    return None if a is None or str(a.value.meta.revision) == "3" else "a is late"  # type: ignore[attr-defined]


def of_caches(evidence: Evidence) -> str | None:
    """Says how far a Cache has come."""
    caches = [cache for role in evidence.actors if role.life for cache in role.life.caches]
    return "it has come far" if any(str(cache.upto) == "3" for cache in caches) else None


def of_deaths(evidence: Evidence) -> str | None:
    """Says who died first."""
    return "b died first" if [death.actor for death in evidence.deaths][:1] == ["b"] else None


@each_row("claim", [of_b_before_a, of_text])
def test_a_claim_about_the_end_may_compare_revisions(claim: Any) -> None:
    """Unless it says what it reads, it may tell the order of all commits."""
    build = claiming(quiescent(claim), a=creates_one, b=creates_one)
    assert is_seen(build) == {(), (claim.__name__,)}


def test_a_claim_about_the_end_may_tell_how_far_a_cache_has_come() -> None:
    """Which depends on the commits of all kinds."""

    async def caches(client: Client) -> None:
        await Cache(client, Note).synced()

    assert is_seen(claiming(quiescent(of_caches), a=caches, b=commits)) == {(), ("of_caches",)}


async def dies(client: Client) -> None:
    """Die of an exception."""
    await client.get(Note, "n")
    raise RuntimeError("meant")


@each_row("when", [quiescent, always])
def test_a_claim_may_tell_who_died_first(when: Any) -> None:
    """Without saying what it reads."""
    seen = is_seen(claiming(when(of_deaths), a=dies, b=dies))
    assert seen == {("no_actor_dies",), ("no_actor_dies", "of_deaths")}


class OfTheServed(Invariant):
    """Looks when something was served, and sees who had started."""

    name = "of_the_served"
    looks_at = frozenset({SERVED})

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        served = evidence.served
        up = [role.name for role in evidence.actors if role.is_up]
        return "b was not up" if served and served.role.name == "a" and "b" not in up else None


def test_a_claim_that_looks_at_what_is_served_sees_who_is_up() -> None:
    """A start leaves no mark but that of its actor."""

    async def gets(client: Client) -> None:
        await client.get(Note, "n")

    assert is_seen(claiming(OfTheServed(), a=gets, b=gets)) == {(), ("of_the_served",)}


# -- an audit of what claims declare ---------------------------------------------------------------


def audited(claim: Invariant) -> World:
    """A World in which somebody creates a Note and records that, with an audit."""

    async def creates(client: Client) -> None:
        made = await client.create(note("of-a"))
        client.record("made", key=made.key)

    world = World("audited", audit=True)
    world.add(Pod.of("p"))
    world.start(Puppet("a", creates))
    world.claim(claim)
    return world


def the_pods(evidence: Evidence) -> str | None:
    """Look at pods."""
    return "none" if not evidence.store.snapshot("pods/") else None


def the_pod(evidence: Evidence) -> str | None:
    """Look at one pod."""
    return "there" if evidence.store.peek("pods/default/none") else None


def the_log_of_pods(evidence: Evidence) -> str | None:
    """Look at how many Changes of pods there were."""
    return "many" if len(evidence.store.log("pods").changes) > 99 else None


def how_many(evidence: Evidence) -> str | None:
    """Look at how many objects there are."""
    return "many" if len(evidence.store) > 99 else None


def the_records(evidence: Evidence) -> str | None:
    """Look at records."""
    return "two" if len(evidence.records) == 2 else None


def the_lives(evidence: Evidence) -> str | None:
    """Look at actors."""
    return "nobody" if not evidence.actors else None


def the_number(evidence: Evidence) -> str | None:
    """Look at how far the Store is."""
    return "far" if evidence.store.revision > 9 else None


def a_number(evidence: Evidence) -> str | None:
    """Look at the revision of an Entry."""
    entries = evidence.store.snapshot("notes/")
    return "far" if any(entry.revision > 9 for entry in entries) else None


def a_text(evidence: Evidence) -> str | None:
    """Look at the text of a revision."""
    entries: list[Any] = evidence.store.snapshot("notes/")
    return "far" if any(str(entry.value.meta.revision) == "9" for entry in entries) else None


def the_deaths(evidence: Evidence) -> str | None:
    """Look at deaths."""
    return "one died" if evidence.deaths else None


def the_last_of_the_log(evidence: Evidence) -> str | None:
    """Look at the revision of a Change in a log."""
    changes = evidence.store.log("notes").changes
    return "far" if changes and changes[-1].revision > 9 else None


def the_end_of_the_log(evidence: Evidence) -> str | None:
    """Look at what is newer than a number."""
    return "far" if [*evidence.store.log("notes").after(9)] else None


def the_number_of_a_change(evidence: Evidence) -> str | None:
    """Look at the number of what this turn has written."""
    return "far" if any(change.serial > 9 for change in evidence.changes) else None


def an_entry_of_a_change(evidence: Evidence) -> str | None:
    """Look at the revision of an Entry of what this turn has written."""
    entries = [change.new for change in evidence.changes]
    return "far" if any(entry and entry.revision > 9 for entry in entries) else None


def a_change_of_another_kind(evidence: Evidence) -> str | None:
    """Look at what this turn has written, of any kind."""
    return "odd" if any(change.key.endswith("odd") for change in evidence.changes) else None


def an_object_of_a_change(evidence: Evidence) -> str | None:
    """Look at what was there before this turn, and at what is there now."""
    return "odd" if any(change.before == change.after for change in evidence.changes) else None


def the_choices(evidence: Evidence) -> str | None:
    """Look at how much was chosen."""
    return "long" if len(evidence.choices) > 99 else None


@each_row(
    ("claim", "declared", "what"),
    [
        (the_pods, "log:notes", "pods/ in the Store"),
        (the_pod, "log:notes", "pods/default/none in the Store"),
        (the_log_of_pods, "log:notes", "pods/ in the Store"),
        (how_many, "log:notes", "all keys in the Store"),
        (the_records, "log:notes", "evidence.records"),
        (the_lives, "log:notes", "evidence.actors"),
        (the_number, "log:notes", "evidence.store.revision"),
        (a_number, "log:notes", "the revision of notes/default/of-a"),
        (a_text, "log:notes", "a number that counts all commits"),
        (the_deaths, "log:notes", "evidence.deaths"),
        (the_last_of_the_log, "log:notes", "the revision of a Change of notes/default/of-a"),
        (the_end_of_the_log, "log:notes", "the after of a log"),
        (the_number_of_a_change, "log:notes", "the serial of a Change of notes/default/of-a"),
        (an_entry_of_a_change, "log:notes", "the revision of notes/default/of-a"),
        (a_change_of_another_kind, "log:pods", "notes/default/of-a in the Store"),
        (an_object_of_a_change, "log:pods", "notes/default/of-a in the Store"),
        (the_choices, "log:notes", "evidence.choices"),
    ],
)
def test_an_audit_refuses_what_a_claim_has_not_declared(
    claim: Any, declared: str, what: str
) -> None:
    """Each with its name; without `reads=`, and without an audit, it is shown all."""
    with pytest.raises(ScenarioError, match=rf"^the claim {claim.__name__} reads {what}, and decl"):
        audited(always(claim, reads=(declared,))).run(Uniform(0))
    assert audited(always(claim)).run(Uniform(0)).is_held


def test_an_audit_shows_what_a_claim_has_declared() -> None:
    """A kind, records and lives, by their keys."""
    for claim, key in (
        (the_pods, "log:pods.spec"),
        (the_pod, "log:pods"),
        (the_log_of_pods, "log:pods"),
        (the_records, "records"),
        (the_lives, "life:a"),
        (the_deaths, "deaths"),
        (a_change_of_another_kind, "log:notes"),
        (an_object_of_a_change, "log:notes"),
    ):
        assert audited(always(claim, reads=(key,))).run(Uniform(0)).is_held
    for claim in (the_pods, the_records, the_lives):
        assert audited(quiescent(claim, reads=())).run(Uniform(0)).is_held
