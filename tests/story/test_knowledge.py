"""Knowledge: what each actor took for true when it acted, and what it had missed."""

from __future__ import annotations

from typing import Any

import attrs

from testbed.chooser import Chooser
from testbed.choosers.calm import Calm
from testbed.client.cache import Cache
from testbed.client.client import Client
from testbed.errors import ApiError, NotFound, Unavailable
from testbed.fault import Fault
from testbed.faults.crash import Crash
from testbed.faults.lose_reply import LoseReply
from testbed.objects import Map, Note
from testbed.store.endpoint import BETWEEN, Handler, Operation
from testbed.store.selector import Selector
from testbed.store.store_endpoint import StoreEndpoint
from testbed.story.knowledge import Act, Knowledge, StaleAct
from testbed.story.sightings import GET, LIST, WATCH, WROTE
from testbed.turns.trace import Trace
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.binders import two_binders
from tests.shared.stage import Cued, Doing, note, world_of

N, M = "notes/default/n", "notes/default/m"


def known_after(chooser: Chooser, *faults: Fault, **puppets: Doing) -> Knowledge:
    """What was known in the Run of these actors, who share two notes."""
    world = world_of(**puppets)
    world.add(note(by="nobody"), note("m", by="nobody"))
    world.allow(*faults)
    trace = Trace({}, keep=True)
    world.run(chooser, driver="direct", trace=trace)
    assert not getattr(chooser, "cues", None)
    return Knowledge(trace)


def stale(knowledge: Knowledge, actor: str, *keys: str) -> list[StaleAct]:
    """What the last act of that actor had missed."""
    return list(knowledge.stale(last_act(knowledge, actor), keys or (N, M)))


def last_act(knowledge: Knowledge, actor: str) -> Act:
    """What it did last."""
    return [act for act in knowledge.acts if act.actor == actor][-1]


async def get_and_write(client: Client) -> None:
    """Get, then write blindly over it."""
    read = await client.get(Note, "n")
    await client.update(read.saying(by=client.name), whatever_it_was=True)


async def write(client: Client) -> None:
    """Write blindly."""
    await client.update(note(by=client.name), whatever_it_was=True)


WRITES_BETWEEN = ("serve alpha/main get*", "start beta*", "serve beta*", "answer beta*")


def test_what_was_read_before_another_wrote_is_stale() -> None:
    """By a get: at which revision, in which Step it was read, and who wrote it since."""
    (found,) = stale(known_after(Cued(*WRITES_BETWEEN), alpha=get_and_write, beta=write), "alpha")
    assert (found.known.key, found.known.sighting.how) == (N, GET)
    assert found.known.entry is not None
    assert found.known.entry.revision == 2
    (missed,) = found.missed
    assert (missed.actor, missed.revision, missed.word) == ("beta", 4, "update")
    assert found.known.sighting.read < missed.step < found.act.step


def test_what_was_read_after_another_wrote_is_not() -> None:
    """The calm run: one after the other."""
    knowledge = known_after(Calm(), alpha=get_and_write, beta=get_and_write)
    assert stale(knowledge, "alpha") == []
    assert stale(knowledge, "beta") == []
    known = knowledge.known("beta/main", N, last_act(knowledge, "beta").decided)
    assert known is not None
    assert known.sighting.revision == 4


def test_ones_own_write_is_known() -> None:
    """It is no news to its writer; and what another wrote after it is."""

    async def write_twice(client: Client) -> None:
        await write(client)
        await write(client)

    assert stale(known_after(Calm(), alpha=write_twice), "alpha") == []
    cues = ("answer alpha*", "start beta*", "serve beta*")
    (found,) = stale(known_after(Cued(*cues), alpha=write_twice, beta=write), "alpha")
    assert found.known.sighting.how == WROTE


def test_what_another_task_of_the_same_actor_wrote_is_its_own() -> None:
    """An actor is not told of itself what it has missed."""

    async def two_tasks(client: Client) -> None:
        await client.get(Note, "n")
        client.spawn("other", write, client)
        await client.sleep(10)
        await client.update(note("m", by="alpha"), whatever_it_was=True)

    assert stale(known_after(Calm(), alpha=two_tasks), "alpha") == []


def test_an_endpoint_that_crashes_answers_nobody() -> None:
    """What it had read for somebody is not known to him."""

    async def get_once(client: Client) -> None:
        try:
            await client.get(Note, "n")
        except Unavailable:
            client.record("nothing")

    cues = ("serve alpha/main get*", "fault*crash store*")
    knowledge = known_after(Cued(*cues), Crash("store", restart_after_ms=10), alpha=get_once)
    assert knowledge.known("alpha/main", N, last_act(knowledge, "alpha").decided) is None


def test_nobody_is_blamed_for_what_it_never_looked_at() -> None:
    """A blind write is no act on old news."""
    cues = ("start alpha*", "start beta*", "serve beta*")
    knowledge = known_after(Cued(*cues), alpha=write, beta=write)
    assert stale(knowledge, "alpha") == []
    assert knowledge.known("alpha/main", N, last_act(knowledge, "alpha").decided) is None


def test_a_list_is_of_all_it_selects() -> None:
    """Of each object that was there, at the revision of the list; not of what its selector does
    not select, before or after."""

    def lister(selector: Selector) -> Doing:
        async def list_and_write(client: Client) -> None:
            await client.list(Note, selector)
            await client.update(note("m", by="alpha"), whatever_it_was=True)

        return list_and_write

    cues = ("serve alpha/main list*", "start beta*", "serve beta*")
    for name, keys in (("n", [N]), ("m", []), (None, [N])):
        doing = lister(Selector(name=name))
        found = stale(known_after(Cued(*cues), alpha=doing, beta=write), "alpha")
        assert [s.known.key for s in found] == keys
        assert all(s.known.sighting.how == LIST for s in found)


def test_what_is_selected_no_longer_was_seen_to_go() -> None:
    """A deletion, and a change by which an object leaves the selection, are news of it."""

    async def list_and_record(client: Client) -> None:
        await client.list(Note, Selector(fields=(("data.by", "nobody"),)))
        await client.sleep(5)
        client.record("seen")

    async def remove(client: Client) -> None:
        await client.delete(note(), whatever_it_was=True)

    for doing in (write, remove):
        cues = ("serve alpha/main list*", "start beta*", "serve beta*")
        (found,) = stale(known_after(Cued(*cues), alpha=list_and_record, beta=doing), "alpha")
        assert found.known.entry is not None


def test_what_was_absent_may_be_there_since() -> None:
    """A get that found nothing knows that; a creation after it was missed."""

    async def look_and_record(client: Client) -> None:
        try:
            await client.get(Note, "new")
        except NotFound:
            await client.sleep(0)
            client.record("it is not there")

    async def make(client: Client) -> None:
        await client.create(note("new"))

    cues = ("serve alpha/main get*", "start beta*", "serve beta*")
    knowledge = known_after(Cued(*cues), alpha=look_and_record, beta=make)
    (found,) = stale(knowledge, "alpha", "notes/default/new")
    assert found.known.entry is None
    assert found.act.record is not None


def test_what_was_gone_before_it_was_looked_for_is_not_missed() -> None:
    """It is absent as of the Store's revision then, not for ever."""

    async def make_and_delete(client: Client) -> None:
        made = await client.create(note("new"))
        await client.delete(made)

    async def look_and_record(client: Client) -> None:
        await client.sleep(5)
        try:
            await client.get(Note, "new")
        except NotFound:
            client.record("it is not there")

    knowledge = known_after(Calm(), alpha=look_and_record, beta=make_and_delete)
    assert stale(knowledge, "alpha", "notes/default/new") == []
    assert knowledge.known("alpha/main", "notes/default/new", 99) is not None


def test_what_a_selector_left_out_was_not_known() -> None:
    """A list of some objects tells of no other; one that has come to be among them was missed."""

    async def list_and_record(client: Client) -> None:
        await client.list(Note, Selector(fields=(("data.by", "beta"),)))
        await client.sleep(5)
        client.record("nothing is beta's")

    cues = ("serve alpha/main list*", "start beta*", "serve beta*")
    (found,) = stale(known_after(Cued(*cues), alpha=list_and_record, beta=write), "alpha")
    assert (found.known.key, found.known.entry) == (N, None)


class Slow(StoreEndpoint):
    """Lets something come between before it writes."""

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        if operation.verb == "update":
            yield BETWEEN
        answer = yield from super().handle(operation, caller, now_ms)
        return answer


def test_a_write_in_two_parts_was_decided_before_the_first() -> None:
    """Not when its first part was served: by then its caller could only wait."""
    world = world_of(alpha=get_and_write)
    world.serve(Slow)
    world.add(note(by="nobody"))
    trace = Trace({}, keep=True)
    world.run(Calm(), driver="direct", trace=trace)
    (act,) = Knowledge(trace).acts
    served = [s.number for s in trace.steps if str(s.sentence).startswith("serve alpha/main upd")]
    assert len(served) == 2
    assert act.step == served[1]
    assert act.decided < served[0]


def watcher(reads: tuple[str, ...] | None = None) -> Doing:
    """Keeps a Cache, looks there when it is woken, and records what it saw."""

    async def watch(client: Client) -> None:
        cache = Cache(client, Note, reads=reads)
        await cache.synced()
        await client.sleep(10)
        seen = cache.get("n")
        await client.sleep(10)
        client.record("saw", by="" if seen is None else seen.data["by"])

    return watch


def test_a_cache_knows_what_its_watch_has_told() -> None:
    """A task takes over what it holds when it looks there: what is told after that is missed, and
    what was told before is not."""

    async def write_at(client: Client, *times: int) -> None:
        for at in times:
            await client.sleep(at - client.now())
            await client.update(note(by=f"beta at {at}"), whatever_it_was=True)

    early = known_after(Calm(), alpha=watcher(), beta=lambda client: write_at(client, 5))
    assert stale(early, "alpha") == []
    known = early.known("alpha/main", N, last_act(early, "alpha").decided)
    assert known is not None
    assert (known.sighting.how, known.sighting.by_cache) == (WATCH, True)
    late = known_after(Calm(), alpha=watcher(), beta=lambda client: write_at(client, 5, 15))
    (found,) = stale(late, "alpha")
    assert (found.known.sighting.revision, [v.revision for v in found.missed]) == (4, [5])
    told = late.first_told(found.act, found.missed[0])
    assert told is not None
    assert told.step < found.act.step


def test_a_watch_of_ones_own_tells_who_reads_it() -> None:
    """Without a Cache: what was delivered to the task since it read is no news to it."""

    async def read_and_watch(client: Client) -> None:
        await client.get(Note, "n")
        listed = await client.list(Note, Selector(name="m"))
        stream = await client.watch(Note, listed.revision)
        await stream.next()
        client.record("told")

    async def write_later(client: Client) -> None:
        await client.sleep(5)
        await write(client)

    knowledge = known_after(Calm(), alpha=read_and_watch, beta=write_later)
    assert stale(knowledge, "alpha") == []
    known = knowledge.known("alpha/main", N, last_act(knowledge, "alpha").decided)
    assert known is not None
    assert known.sighting.how == WATCH


def test_a_field_nobody_declared_is_nothing_to_miss() -> None:
    """A Cache that reads one field misses a change of that one alone."""

    async def write_later(client: Client) -> None:
        await client.sleep(15)
        await client.update(note(by="beta"), whatever_it_was=True)

    for reads, missed in ((("data.by",), 1), (("data",), 1), (("data.other",), 0), (None, 1)):
        knowledge = known_after(Calm(), alpha=watcher(reads), beta=write_later)
        assert len(stale(knowledge, "alpha", N)) == missed


def test_a_new_life_knows_nothing() -> None:
    """What was read before a crash is not what the next life acts on."""

    async def get_once(client: Client) -> None:
        if client.now() == 0:
            await client.get(Note, "n")
            await client.sleep(1000)
        await client.update(note("m", by="alpha"), whatever_it_was=True)

    cues = ("answer alpha/main get*", "fault*crash*", "start beta*", "serve beta*")
    crash = Crash("alpha", restart_after_ms=50)
    knowledge = known_after(Cued(*cues), crash, alpha=get_once, beta=write)
    assert stale(knowledge, "alpha") == []
    assert stale(known_after(Cued(cues[0], *cues[2:]), alpha=get_once, beta=write), "alpha") != []


def test_a_reply_that_is_lost_tells_nothing() -> None:
    """What a get would have said, and what a write has done, is not known to its caller."""

    async def get_twice(client: Client) -> None:
        try:
            await client.get(Note, "n")
        except Unavailable:
            client.record("nothing")

    cues = ("serve alpha/main get*", "fault*lose_reply*", "start beta*", "serve beta*")
    knowledge = known_after(Cued(*cues), LoseReply("alpha"), alpha=get_twice, beta=write)
    assert knowledge.known("alpha/main", N, last_act(knowledge, "alpha").decided) is None


def test_an_act_is_decided_in_the_turn_that_asks() -> None:
    """A write that is on its way while another one lands was decided before it."""
    cues = ("answer alpha/main get*", "start beta*", "serve beta*", "answer beta*")
    knowledge = known_after(Cued(*cues), alpha=get_and_write, beta=write)
    (found,) = stale(knowledge, "alpha")
    assert found.act.decided < found.missed[0].step < found.act.step
    assert knowledge.known("alpha/main", N, 1) is None


def test_what_was_refused_is_no_act() -> None:
    """A Conflict changes nothing."""

    async def careful(client: Client) -> None:
        read = await client.get(Note, "n")
        try:
            await client.update(read.saying(by=client.name))
        except ApiError:
            return

    knowledge = known_after(Cued(*WRITES_BETWEEN), alpha=careful, beta=write)
    assert [act.actor for act in knowledge.acts] == ["beta"]


@each_row("at", [1, 2, 3, 4, 5])
def test_an_object_is_as_it_was_at_a_revision(at: int) -> None:
    """Before its first write it is what that write has replaced."""

    async def write_both(client: Client) -> None:
        await client.update(note("m", by="x"), whatever_it_was=True)
        await client.update(note(by="y"), whatever_it_was=True)

    knowledge = known_after(Calm(), alpha=write_both)
    entry = knowledge.entry(N, at)
    assert entry is not None
    value: Any = entry.value
    assert value.data == Map(by="y" if at >= 5 else "nobody")
    assert knowledge.entry("notes/default/none", at) is None
    assert (knowledge.version(N, at) is not None) is (at == 5)


def test_to_bind_is_what_a_scheduler_did() -> None:
    """The word of a write is what people say."""
    world = World("test")
    two_binders(world)
    trace = Trace({}, keep=True)
    world.run(Calm(), trace=trace)
    (act,) = Knowledge(trace).acts
    assert (act.word, act.keys) == ("bind", ["pods/default/web"])
    assert attrs.evolve(act, versions=()).keys == []
