"""RunData: small Runs, drawn: what is lost, refused, late, told by lists, and hostile names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from testbed.chooser import Chooser
from testbed.choosers.calm import Calm
from testbed.client.cache import Cache
from testbed.client.client import Client
from testbed.errors import ApiError, Unavailable
from testbed.fault import Fault
from testbed.faults.crash import Crash
from testbed.faults.lose_request import LoseRequest
from testbed.invariant import Evidence, quiescent
from testbed.objects import Map, Note
from testbed.objects.lease import Lease, LeaseSpec
from testbed.objects.meta import Object
from testbed.page.run_data import RunTold
from testbed.page.truth_log import OBJECTS_MAX
from testbed.store.selector import Selector
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict
from testbed.world.scenario import find
from tests.each_row import each_row
from tests.page.told_pages import AddedUp, arrows_of, page_of
from tests.shared.stage import Cued, Doing, note, world_of

N = "notes/default/n"


def told(
    chooser: Chooser, *faults: Fault, objects: tuple[Object, ...] = (), **puppets: Doing
) -> RunTold:
    """The Run of these actors, who share these objects; of none, a note n."""
    world = world_of(**puppets)
    world.add(*(objects or (note(by="first"),)))
    world.allow(*faults)
    trace = Trace({}, keep=True)
    verdict: Verdict = world.run(chooser, driver="direct", trace=trace)
    assert not getattr(chooser, "cues", None)
    return RunTold("it", trace, verdict)


def beliefs_of(run: dict[str, Any], lane: str) -> Iterator[dict[str, int]]:
    """What it believes after each row that has changed it: by key, the revision."""
    there = AddedUp()
    for row in run["moments"]:
        there.add(run, row)
        if any(belief["lane"] == lane for belief in row["beliefs"]):
            yield {key: version["rv"] for key, version in there.beliefs[lane].items()}


async def write(client: Client) -> None:
    """Write, whatever comes of it."""
    try:
        await client.update(note(by=client.name), whatever_it_was=True)
    except Unavailable:
        client.record("gave up")


async def look_twice(client: Client) -> None:
    """Get it, and get it once more."""
    await client.get(Note, "n")
    await client.get(Note, "n")


def test_a_lost_request_never_reaches_the_store() -> None:
    """Its arrow is lost, and it has no answer; what was there stays."""
    run = told(Cued("fault *"), LoseRequest("alpha"), alpha=write).data()
    (request,) = arrows_of(run, kind="request")
    assert request["line"] == "lost"
    assert request["text"] == f"update {N} is lost"
    assert not arrows_of(run, kind="answer")
    assert [row["rv"] for row in run["moments"]] == [2] * len(run["moments"])


def test_a_request_that_is_refused_is_drawn_so() -> None:
    """The answer says why."""

    async def create(client: Client) -> None:
        try:
            await client.create(note())
        except ApiError:
            client.record("it was there")

    run = told(Calm(), alpha=create, beta=look_twice).data()
    (request,) = arrows_of(run, kind="request", line="refused")
    (answer,) = (arrow for arrow in arrows_of(run, kind="answer") if arrow["text"])
    assert request["text"] == f"create {N}"
    assert answer["text"] == "AlreadyExists"


def test_a_request_that_others_overtake_begins_where_it_was_asked() -> None:
    """A mark says that it was asked then; the write of the other stands between."""
    run = told(Cued("start alpha*", "start beta*", "serve beta*"), alpha=write, beta=write).data()
    marks = [mark for row in run["moments"] for mark in row["marks"]]
    asked = [mark["lane"] for mark in marks if mark["sign"] == "asked"]
    assert asked == ["alpha"]
    (slow,) = (a for a in arrows_of(run, kind="request") if a["from"]["lane"] == "alpha")
    (fast,) = (a for a in arrows_of(run, kind="request") if a["from"]["lane"] == "beta")
    assert slow["from"]["step"] < fast["to"]["step"] < slow["to"]["step"]


def test_a_list_tells_what_is_gone_of_what_it_selects() -> None:
    """And nothing of what another list has told of."""

    async def look(client: Client) -> None:
        await client.list(Note, Selector(fields=(("data.by", "a"),)))
        await client.list(Note, Selector(fields=(("data.by", "b"),)))
        await client.delete(await client.get(Note, "n"))
        await client.create(note("o", by="b"))
        await client.list(Note, Selector(fields=(("data.by", "a"),)))

    async def spoil(client: Client) -> None:
        await client.update(note("m", by="c"), whatever_it_was=True)

    objects = (note(by="a"), note("m", by="b"), note("p", by="a"))
    chooser = Cued(
        "start alpha*", *["serve alpha*", "answer alpha*"] * 2, "start beta*", "serve b*"
    )
    run = told(chooser, objects=objects, alpha=look, beta=spoil).data()
    n, m, o, p = (f"notes/default/{name}" for name in "nmop")
    found = [sorted(each) for each in beliefs_of(run, "alpha")]
    assert found == [[n, p], [m, n, p], [m, p], [m, o, p]]


def test_what_leaves_a_selection_is_gone() -> None:
    """A watch of some objects tells of one that is not among them any more; it is there still."""

    async def watch(client: Client) -> None:
        cache = Cache(client, Note, Selector(fields=(("data.by", "first"),)))
        await cache.synced()

    run = told(Calm(), alpha=watch, beta=write).data()
    assert [sorted(each) for each in beliefs_of(run, "alpha")] == [[N], []]
    assert all_added_up(run) == {N: 3}


def test_what_is_to_go_and_stays_is_marked_to_the_end() -> None:
    """As what has a finalizer does that is never taken away."""

    async def remove(client: Client) -> None:
        found = await client.get(Note, "n")
        await client.update(found.with_meta(deleted_ms=0))

    run = told(Calm(), alpha=remove, beta=look_twice).data()
    (span,) = run["terminating"]
    assert span["key"] == N
    assert 0 < span["from"] < span["to"] == run["moments"][-1]["step"]


def test_hostile_names_stay_text() -> None:
    """Names and values that look like markup, like code or like a page are only text."""
    evil = '</script><img src=x onerror="alert(1)">'

    async def spoil(client: Client) -> None:
        client.record("said it", said=evil, refused={evil: evil})
        await client.update(
            Note("n", data=Map({"by": evil, "__proto__": "x", evil: "y"})), whatever_it_was=True
        )

    run = told(Calm(), alpha=spoil, beta=look_twice).data()
    marks = [mark for row in run["moments"] for mark in row["marks"]]
    assert evil in [mark["text"] for mark in marks]
    assert [f"refused {evil}: {evil}"] in [mark["reasons"] for mark in marks]
    fields = {tuple(field) for version in run["versions"] for field in version["fields"]}
    assert {("data.by", evil), ("data.__proto__", "x"), (f"data.{evil}", "y")} <= fields


def test_leases_are_left_out_unless_the_story_names_them() -> None:
    """A heartbeat is no news, unless the claim that broke is about it."""

    async def renew(client: Client) -> None:
        lease = await client.get(Lease, "l")
        await client.update(Lease("l", spec=LeaseSpec("me")).with_meta(uid=lease.meta.uid),
                            whatever_it_was=True)  # fmt: skip

    def it_is_free(see: Evidence) -> str | None:
        return "leases/default/l is held"

    objects = (note(by="first"), Lease("l"))
    keys = [set(all_added_up(told(Calm(), objects=objects, alpha=renew).data()))]
    world = world_of(alpha=renew)
    world.add(*objects)
    world.claim(quiescent(it_is_free))
    trace = Trace({}, keep=True)
    verdict = world.run(Calm(), driver="direct", trace=trace)
    keys.append(set(all_added_up(RunTold("it", trace, verdict).data())))
    assert keys == [{N}, {N, "leases/default/l"}]


def all_added_up(run: dict[str, Any]) -> dict[str, int]:
    """What is there after all rows."""
    there = AddedUp()
    for row in run["moments"]:
        there.add(run, row)
    return there.revisions


@each_row("rows_max", [3, 5, 9])
def test_rows_that_are_left_out_change_the_next_one(rows_max: int) -> None:
    """Few rows are kept, the heaviest; the truth in the end is the same."""

    async def busy(client: Client) -> None:
        for number in range(6):
            await client.update(note(by=f"{client.name}{number}"), whatever_it_was=True)

    it = told(Calm(), alpha=busy, beta=busy)
    run, whole = it.data(rows_max), it.data()
    assert len(run["moments"]) <= rows_max < len(whole["moments"])
    assert all_added_up(run) == all_added_up(whole) == {N: 14}
    for lane in ("alpha", "beta"):
        assert [*beliefs_of(run, lane)][-1] == [*beliefs_of(whole, lane)][-1]


def test_of_very_many_objects_those_of_the_story_are_shown() -> None:
    """And those that were written come before others."""
    objects = tuple(note(f"m{number}", by="x") for number in range(OBJECTS_MAX + 50))
    run = told(Calm(), objects=(*objects, note(by="first")), alpha=write, beta=look_twice).data()
    there = all_added_up(run)
    assert len(there) == OBJECTS_MAX
    assert N in there


def test_the_busiest_actors_get_a_lane() -> None:
    """At most seven, with the Store in their middle; of the others no row says anything."""

    async def twice(client: Client) -> None:
        await write(client)
        await write(client)

    few = {f"a{number}": write for number in range(4)}
    many = {f"b{number}": twice for number in range(6)}
    run = told(Calm(), **few, **many).data()  # type: ignore[arg-type]
    lanes = [lane["name"] for lane in run["lanes"]]
    assert lanes == ["a0", "b0", "b1", "b2", "store", "b3", "b4", "b5"]
    assert {belief["lane"] for row in run["moments"] for belief in row["beliefs"]} == {
        *lanes
    } - {"store"}  # fmt: skip


def test_what_breaks_has_a_row_of_its_own() -> None:
    """Even if nothing else happened in that Step; the claim stands in it."""

    def nobody_signs(see: Evidence) -> str | None:
        (entry,) = see.store.snapshot(N)
        return None if entry.value == first else "it is signed"

    world = world_of(alpha=write)
    world.add(note(by="first"))
    first = world.store.snapshot(N)[0].value
    world.claim(quiescent(nobody_signs))
    trace = Trace({}, keep=True)
    verdict = world.run(Calm(), driver="direct", trace=trace)
    run = RunTold("it", trace, verdict).data()
    last = run["moments"][-1]
    assert last["step"] == verdict.violations[0].step
    assert [m["text"] for m in last["marks"] if m["sign"] == "broke"] == [
        "nobody_signs: it is signed"
    ]


def test_a_create_of_a_former_life_says_when_it_was_asked() -> None:
    """It takes ten seconds, and meanwhile its actor has crashed and begun again."""
    switches = {"create_takes_ms": 10_000, "times": "0900"}
    crash = Crash("cron", restart_after_ms=2000)
    world = find("asked_twice").world(switches, faults=(crash,))
    trace = Trace({}, keep=True)
    verdict = world.run(Cued("*crash*cron*"), driver="direct", trace=trace)
    marks = [
        mark for row in RunTold("it", trace, verdict).data()["moments"] for mark in row["marks"]
    ]
    created = [mark["text"] for mark in marks if mark["text"].startswith("create jobs/")]
    assert [text.partition(" → ")[2] for text in created] == [
        "rv 2 (asked before the crash)",
        "rv 3",
    ]


def test_a_request_in_parts_says_which_steps_they_are() -> None:
    """Each of its marks says it, and a request in one part says nothing."""
    marks = [
        mark
        for row in page_of("two_defaults")["runs"][0]["moments"]
        for mark in row["marks"]
        if mark["text"].startswith("create")
    ]
    assert all(mark["step"] in mark["parts"] for mark in marks)
    assert {len(mark["parts"]) for mark in marks} == {2}
    assert [" (part 2)" in mark["text"] for mark in marks].count(True) == 2
