"""Cause: the sentence that opens a story, held against causes that people wrote down first.

`TRUTHS` was written by hand, from the scenarios and from what each does wrong, before there was any
sentence: who broke it and by what, and which write of another made the belief false, was promised,
was undone, or was left without its other half.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import attrs

from actors.apiserver import ApiServer
from testbed.choosers.calm import Calm
from testbed.choosers.replayed import Replayed
from testbed.client.client import Client
from testbed.errors import Forbidden, Unavailable
from testbed.fault import Fault
from testbed.faults.lose_reply import LoseReply
from testbed.faults.lose_request import LoseRequest
from testbed.invariant import Evidence, always, quiescent
from testbed.objects import Note, Pod, PriorityClass
from testbed.objects.codec import decode, encode
from testbed.races.playing import play
from testbed.races.racefile import parse
from testbed.store.change import Change, Entry
from testbed.store.endpoint import Handler, Operation
from testbed.store.store_endpoint import StoreEndpoint
from testbed.story.candidates import causes_of
from testbed.story.cause import WORDS_MAX, Cause, CauseShape, sentence
from testbed.story.diagram import Row, Rows
from testbed.story.knowledge import Known, Version
from testbed.story.opening import cause_of
from testbed.story.sentences import Sentences
from testbed.story.sightings import LIST, Sighting
from testbed.story.slice import Slice
from testbed.story.wording import known_by
from testbed.testing.seek import seek
from testbed.turns.trace import Trace
from testbed.turns.verdict import Violation
from testbed.world.scenario import find
from tests.each_row import each_row
from tests.models import incidents
from tests.models.incidents import note
from tests.models.truths import Truth, can_be_repeated, cause_in
from tests.shared.binders import Bindery
from tests.shared.stage import Cued, world_of

OLD, UNREAD, HALF = CauseShape.OLD_NEWS, CauseShape.UNREAD, CauseShape.HALF_DONE
HAPPENED, DISAGREE = CauseShape.DID_IT_HAPPEN, CauseShape.DISAGREE
GONE, UNKNOWN = CauseShape.GONE, CauseShape.UNKNOWN
FOUND = Path(__file__).parent / "found"


# Found by `testbed search`, kept as race files in `found/`.
SHIPPED = {
    "crash_and_resync": Truth(
        OLD, "default-scheduler", "delete pods/default/db", "kubelet-n1 delete pods/default/db"
    ),
    "daemonset_preemption": Truth(UNREAD, "default-scheduler", "bind pods/default/late", ""),
    "double_bind": Truth(OLD, "alpha", "bind pods/default/c", "beta bind pods/default/d"),
    "hostile_schedulers": Truth(
        DISAGREE,
        "alpha",
        "delete pods/default/batch-tb96f",
        "batch create pods/default/batch-7xlff",
    ),
    "late_bind": Truth(
        HAPPENED,
        "default-scheduler",
        "bind pods/default/d",
        "default-scheduler bind pods/default/c",
    ),
    "late_bind_2": Truth(
        HAPPENED,
        "default-scheduler",
        "bind pods/default/d",
        "default-scheduler bind pods/default/c",
    ),
    "late_short_write": Truth(OLD, "auditor", "audited", "teller txn notes/default/account-39"),
    "leader_overlap": Truth(OLD, "alpha-1", "bind pods/default/a", "alpha-2 bind pods/default/b"),
    "leader_overlap_2": Truth(OLD, "alpha-1", "bind pods/default/a", "alpha-2 bind pods/default/b"),
    "lost_update": Truth(
        OLD, "beta", "update notes/default/list", "alpha update notes/default/list"
    ),
    "starvation": Truth(UNREAD, "alpha", "bind pods/default/s01", "alpha patch pods/default/p"),
    "phantom_upcoming": Truth(UNKNOWN, "autoscaler", "asks for no node", ""),
    "suppressed_for_ever": Truth(UNKNOWN, "autoscaler", "asks for no node", ""),
    "stolen_slot": Truth(
        UNREAD, "beta", "bind pods/default/late", "alpha patch/status pods/default/urgent"
    ),
    "time_travel": Truth(OLD, "kubelet-n1", "started", "kubelet-n1 delete pods/default/db"),
    "tug_of_war": Truth(
        DISAGREE, "gitops", "update notes/default/web", "autoscaler update notes/default/web"
    ),
    "twice_created": Truth(
        HAPPENED, "web", "create pods/default/web-bkh29", "web create pods/default/web-52c76"
    ),
    "two_defaults": Truth(
        OLD,
        "beta",
        "create priorityclasses/beta-default",
        "alpha create priorityclasses/alpha-default",
    ),
}
# Written for this; each is searched and shrunk here.
WRITTEN = {
    "own_echo": Truth(
        OLD, "web", "create notes/default/worker-2", "web create notes/default/worker-1"
    ),
    "class_gone": Truth(
        OLD, "ann", "create pods/default/job", "cleaner delete priorityclasses/batch"
    ),
    "class_in_use": Truth(
        OLD, "cleaner", "delete priorityclasses/batch", "ann create pods/default/job"
    ),
    "towel": Truth(
        UNREAD, "beta", "update notes/default/seat-1", "alpha create notes/default/towel"
    ),
    "cordoned": Truth(UNREAD, "binder", "bind pods/default/job", "drainer update nodes/n1"),
    "moved": Truth(
        HALF, "mover", "delete notes/default/old-place", "mover delete notes/default/old-place"
    ),
    "torn_transfer": Truth(HALF, "auditor", "audited", "teller update notes/default/savings"),
    "dropped_transfer": Truth(
        HALF, "teller", "update notes/default/savings", "teller update notes/default/savings"
    ),
    "half_deleted": Truth(HALF, "amy", "delete pods/default/job", "amy delete pods/default/job"),
    "paid_twice": Truth(
        HAPPENED,
        "payer",
        "create notes/default/payment-1",
        "payer create notes/default/payment-0",
    ),
    "paid_in_haste": Truth(
        HAPPENED,
        "payer",
        "create notes/default/payment-1",
        "payer create notes/default/payment-0",
    ),
    "said_to_be_paid": Truth(HAPPENED, "payer", "paid", ""),
    "fence": Truth(
        DISAGREE, "greens", "update notes/default/fence", "blues update notes/default/fence"
    ),
    "leaves": Truth(
        DISAGREE, "tree", "create notes/default/leaf", "sweeper delete notes/default/leaf"
    ),
    "leaves_let_go": Truth(
        DISAGREE, "sweeper", "delete notes/default/leaf", "tree create notes/default/leaf"
    ),
    "unbaked": Truth(GONE, "baker", "crash baker", ""),
    "never_baked": Truth(GONE, "baker", "crash baker", ""),
}
TRUTHS = {**SHIPPED, **WRITTEN}


@cache
def finding(name: str) -> tuple[Trace, Violation]:
    """The Run of a Finding, and what it breaks."""
    if name in WRITTEN:
        shrunk = seek(getattr(incidents, name), runs=300).shrunk
        assert shrunk is not None
        return shrunk.played.trace, shrunk.violation
    race = parse((FOUND / f"{name}.txt").read_text(encoding="utf-8"), name)
    played = play(race, find(race.scenario))
    assert all(fate.took_place for fate in played.fates), f"{name}: find it again"
    return played.trace, played.verdict.violations[0]


def cause(name: str) -> Cause:
    """The cause that the story of that Finding opens with."""
    return cause_in(*finding(name))


@each_row("name", TRUTHS)
def test_the_cause_is_the_one_that_people_know(name: str) -> None:
    """Who did what, and since which write of whom it was wrong; and what shape that has."""
    assert Truth.told(cause(name)) == TRUTHS[name], cause(name).text


@each_row("name", TRUTHS)
def test_a_stranger_can_repeat_it(name: str) -> None:
    """Each says in few words who did it, and what the other end is."""
    can_be_repeated(cause(name))


def test_all_six_shapes_are_among_them() -> None:
    """Twenty stories and more, at least two of each shape, at least eight written for this."""
    assert len(TRUTHS) >= 20
    assert len(WRITTEN) >= 8
    shapes = [truth.shape for truth in TRUTHS.values()]
    assert all(shapes.count(shape) >= 2 for shape in CauseShape if shape is not CauseShape.UNKNOWN)


def test_a_sentence_is_shortened_from_its_end() -> None:
    """The last part with another wording first; what has none is cut at forty words."""
    assert sentence("a", ("b c", "b"), ("d", "")) == "a b c d."
    long = "w " * 38
    assert sentence(f"{long}x", ("b c", "b"), ("d", "")) == f"{long}x b."
    assert len(sentence("w " * 90).split()) == WORDS_MAX


@each_row(
    ("revision", "said"),
    [
        (4, "as it listed at rv 4 (step 10)"),
        (2, "as of rv 2, by its list at rv 4 (step 10)"),
    ],
)
def test_what_is_older_than_its_list_has_two_revisions(revision: int, said: str) -> None:
    """The table tells that of the list, and a reader looks it up there."""
    entry = Entry("notes/default/n", note("n"), 1, revision, 1)
    known = Known(entry.key, Sighting(10, 10, LIST, 4), entry)
    change = Change(5, known.key, entry, None, 5)
    assert known_by(known, Version(known.key, 5, 12, "beta", "delete", change)) == said


WHOLE = {
    "double_bind": (
        "alpha bound pods/default/c to n1 (step 22), believing that pods/default/d was on no node, "
        "as it listed at rv 4 (step 5); false since beta bound it to n1 at rv 5 (step 20)."
    ),
    "stolen_slot": (
        "beta bound pods/default/late to n1 (step 150), into the room that alpha had set aside "
        "there for pods/default/urgent at rv 11 (step 100); beta had already seen that, and "
        "ignored it."
    ),
    "daemonset_preemption": (
        "default-scheduler bound pods/default/late to n1 (step 206), into the room that yunikorn "
        "had made there for pods/default/agent-49dvg (step 157); no object says for whom that room "
        "is."
    ),
    "phantom_upcoming": (
        "autoscaler asked for no node for pods/default/large (step 180), and that broke it: a node "
        "of g that fits it seems to be on its way, as g wants 2; g-2 is about to be deleted, and "
        "does not count."
    ),
    "moved": (
        "mover deleted notes/default/old-place at rv 3 (step 2) and crashed (step 3) before it "
        "wrote anything more; its next life wrote nothing."
    ),
    "paid_twice": (
        "payer created notes/default/payment-1 (step 5), not knowing that its create of "
        "notes/default/payment-0 had taken effect at rv 2 (step 2): it got no answer (step 3)."
    ),
    "fence": (
        "blues and greens undo each other's writes of data.colour of notes/default/fence, 5 times: "
        'blues set it "green" → "blue" (step 42), greens set it "blue" → "green" (step 50); each '
        "knew what the other had written."
    ),
}


@each_row("name", WHOLE)
def test_the_whole_sentences(name: str) -> None:
    """One of each shape, to the letter."""
    assert cause(name).text == WHOLE[name]


async def sign(client: Client) -> None:
    """Read, change, and write back if nobody else has written; no error is caught."""
    read = await client.get(Note, "n")
    await client.update(read.saying(by=client.name))


async def trip(client: Client) -> None:
    """Fail by itself."""
    await client.get(Note, "n")
    raise KeyError("by")


def died(*cues: str, fault: Fault | None = None, do: Any = sign) -> str:
    """Why alpha died, in a Run with these cues."""
    world = world_of(alpha=do, beta=sign)
    world.add(note("n", by="nobody"))
    world.allow(*([fault] if fault else []))
    trace = Trace({}, keep=True)
    verdict = world.run(Cued(*cues), driver="direct", trace=trace)
    found = cause_of(Slice(trace, verdict.violations[0]))
    assert found is not None
    return found.text


def test_a_death_is_told_by_the_error_that_was_not_caught() -> None:
    """A conflict by what another had written; a lost reply by what had taken effect; a lost request
    by what it was; an error of the program itself by its place."""
    read, updated = "serve alpha/main get*", "serve alpha/main update*"
    assert died(read, "start beta*", "serve beta*", "serve beta*") == (
        "alpha died of Conflict (step 10): its update of notes/default/n was refused (step 9), for "
        'it believed that its data.by was "nobody"; false since beta updated it at rv 3 (step 6).'
    )
    assert died(updated, "fault*lose_reply*", fault=LoseReply("alpha")) == (
        "alpha died of Unavailable (step 6): its update of notes/default/n got no answer, and had "
        "taken effect at rv 3 (step 4)."
    )
    assert died("fault*lose_request*", fault=LoseRequest("alpha")) == (
        "alpha died of Unavailable (step 3): its get of notes/default/n got no answer (step 2), "
        "and it survives no such error."
    )
    assert died(do=trip).startswith("alpha died of KeyError (step 3) at test_cause.py:")


def test_what_is_not_known_is_said_to_be_not_known() -> None:
    """Nobody is accused of a breach by a single write, made by the only actor there is."""
    world = world_of(alpha=sign)
    world.add(note("n", by="nobody"))

    def breaks(see: Evidence) -> str | None:
        entry = see.store.peek("notes/default/n")
        return "n is signed" if entry is not None and entry.revision > 2 else None

    world.claim(always(breaks))
    trace = Trace({}, keep=True)
    verdict = world.run(Calm(), driver="direct", trace=trace)
    found = cause_of(Slice(trace, verdict.violations[0]))
    assert found is not None
    assert found.shape is CauseShape.UNKNOWN
    assert found.text == (
        "It would hold without this: alpha updated notes/default/n (step 4); no Run that was tried "
        "shows why."
    )
    empty = Slice(trace, Violation("claimed", "nothing of that", 1, 0))
    assert cause_of(Slice(Trace({}), None)) is None
    assert [cause.shape for cause in causes_of(empty)][-1] is CauseShape.UNKNOWN


def test_a_trace_alone_gives_the_cause_of_its_race() -> None:
    """Played again from its choices, without any line of the race."""
    race = parse((FOUND / "double_bind.txt").read_text(encoding="utf-8"), "double_bind")
    trace, _ = finding("double_bind")
    recipe = find(race.scenario)
    again = Trace({}, keep=True)
    choices = tuple(decode(encode(step.line())) for step in trace.steps)
    verdict = recipe.world(race.switches).run(
        Replayed(choices, again=""), driver="direct", trace=again
    )
    found = cause_of(Slice(again, verdict.violations[0]))
    assert found == cause("double_bind")


@each_row("first", ["owner", "colour"])
def test_of_what_was_missed_the_write_counts_that_the_claim_speaks_of(first: str) -> None:
    """Not the first one and not the last one, but that which made the belief false."""

    async def alpha(client: Client) -> None:
        await client.get(Note, "n")
        await client.sleep(1000, "think")
        await client.update(note("m", by="alpha"), whatever_it_was=True)

    def sets(field: str) -> Any:
        async def write(client: Client) -> None:
            await client.sleep(100 if field == first else 200, "wait")
            read = await client.get(Note, "n")
            await client.update(read.saying(**{field: "fay" if field == "owner" else "red"}))

        return write

    world = world_of(alpha=alpha, beta=sets("owner"), gamma=sets("colour"))
    world.add(note("n", owner="nobody", colour="none"), note("m"))
    trace = Trace({}, keep=True)
    world.run(Calm(), driver="direct", trace=trace)
    said = Violation("claimed", "m was written when n was of fay", len(trace.steps), 1000)
    found = cause_of(Slice(trace, said))
    assert found is not None
    assert found.since is not None
    assert (found.actor, found.since.actor) == ("alpha", "beta")
    assert 'believing that data.owner of notes/default/n was "nobody"' in found.text


def test_what_was_there_when_it_was_checked_is_no_old_news() -> None:
    """Only what another wrote between the check of a server and its write."""

    def makes(name: str, *, is_default: bool) -> Any:
        async def make(client: Client) -> None:
            await client.create(PriorityClass(name, value=5, global_default=is_default))

        return make

    world = world_of(
        ann=makes("early", is_default=False),
        alpha=makes("late", is_default=True),
        beta=makes("other", is_default=True),
    )
    world.serve(ApiServer)
    trace = Trace({}, keep=True)
    cues = ("start ann*", "serve ann*", "start alpha*", "serve alpha*", "start beta*")
    chooser = Cued(*cues, *["serve beta*"] * 2)
    world.run(chooser, driver="direct", trace=trace)
    assert not chooser.cues
    said = Violation("claimed", "early, late and other are there", len(trace.steps), 0)
    found = cause_of(Slice(trace, said))
    assert found is not None
    assert found.since is not None
    assert (found.actor, found.since.actor) == ("alpha", "beta")
    assert "on a check that its server had made before" in found.text


def test_who_has_looked_knows_that_it_happened() -> None:
    """A reply was lost, but its caller has seen what it did: it acts for other reasons then."""

    async def alpha(client: Client) -> None:
        with suppress(Unavailable):
            await client.create(note("a"))
        await client.get(Note, "a")
        await client.create(note("b"))

    world = world_of(alpha=alpha)
    world.allow(LoseReply("alpha"))
    trace = Trace({}, keep=True)
    world.run(Cued("serve alpha*create*", "fault*"), driver="direct", trace=trace)
    found = cause_of(Slice(trace, Violation("claimed", "a and b are there", len(trace.steps), 0)))
    assert found is not None
    assert found.shape is CauseShape.UNKNOWN


def test_who_is_merely_behind_has_not_ignored_a_nomination() -> None:
    """It had read the pod before that was nominated: that is old news, and no broken promise."""

    async def beta(client: Client) -> None:
        await client.get(Pod, "p")
        await client.sleep(1000, "think")
        bind = Operation("create", "pods", "q", "default", "n1", subresource="binding")
        await client.ask(bind)

    async def alpha(client: Client) -> None:
        pod = await client.get(Pod, "p")
        status = attrs.evolve(pod.status, nominated_node_name="n1")
        await client.update(attrs.evolve(pod, status=status))

    world = world_of(beta=beta, alpha=alpha)
    world.serve(Bindery)
    world.add(Pod("p"), Pod("q"))
    trace = Trace({}, keep=True)
    world.run(Cued("start beta*", "serve beta*get*"), driver="direct", trace=trace)
    said = Violation("claimed", "q has taken the room of p", len(trace.steps), 1000)
    found = cause_of(Slice(trace, said))
    assert found is not None
    assert found.since is not None
    assert (found.shape, found.since.actor) == (CauseShape.OLD_NEWS, "alpha")
    assert "believing that pods/default/p had no nominated node" in found.text


def test_who_has_its_answer_and_does_no_more_is_not_half_done() -> None:
    """One write, answered before another looks: nothing shows that there was more to come."""

    async def teller(client: Client) -> None:
        await client.get(Note, "giro")
        savings = await client.get(Note, "savings")
        await client.update(savings.saying(money="5"))

    world = world_of(teller=teller, auditor=incidents.audit)
    world.add(note("savings", money="10"), note("giro", money="10"))
    world.claim(always(incidents.the_sum_is_twenty))
    trace = Trace({}, keep=True)
    chooser = Cued("start teller*", "serve*", "serve*", "serve*")
    verdict = world.run(chooser, driver="direct", trace=trace)
    found = cause_of(Slice(trace, verdict.violations[0]))
    assert found is not None
    assert (found.shape, found.did) == (CauseShape.UNKNOWN, "audited")


@each_row("name", ["stolen_slot", "hostile_schedulers", "leader_overlap"])
def test_both_ends_of_a_cause_are_rows(name: str) -> None:
    """However long the Run, and however few rows there is room for."""
    trace, violation = finding(name)
    slice_ = Slice(trace, violation)
    rows = Rows(trace, slice_, Sentences(slice_))
    shown = {row.step for row in rows.shown((4, 4, 4)) if isinstance(row, Row)}
    assert shown.issuperset(cause(name).steps)


class Warden(StoreEndpoint):
    """Refuses to create anything once a Note says that it is closed. Of the others it looks at that
    field alone."""

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        """The same as the Store's own, but for that."""
        if operation.verb == "create":
            self.store.mark(reads=("log:notes.data.closed",))
            notes: list[Any] = [entry.value for entry in self.store.snapshot("notes/")]
            if any("closed" in each.data for each in notes):
                raise Forbidden("it is closed")
        return (yield from super().handle(operation, caller, now_ms))


def test_who_changed_the_field_that_a_refusal_looked_at_is_named() -> None:
    """A log of one field is of the objects of its kind, as that of the kind is."""

    async def two(client: Client) -> None:
        await client.create(note("job-1"))
        with suppress(Forbidden):
            await client.create(note("job-2"))

    async def close(client: Client) -> None:
        shop = await client.get(Note, "shop")
        await client.update(shop.saying(closed="yes"))

    def both(see: Evidence) -> str | None:
        jobs = [entry.key for entry in see.store.snapshot("notes/default/job-")]
        return None if len(jobs) == 2 else f"notes/default/job-2 is not there: {jobs}"

    world = world_of(ann=two, ben=close)
    world.serve(Warden)
    world.add(note("shop"))
    world.claim(quiescent(both))
    trace = Trace({}, keep=True)
    verdict = world.run(Cued(late=("*job-2*",)), driver="direct", trace=trace)
    found = cause_of(Slice(trace, verdict.violations[0]))
    assert found is not None
    assert found.since is not None
    assert (found.shape, found.since.actor) == (CauseShape.HALF_DONE, "ben")
    assert "was refused, Forbidden (step" in found.text
    assert "after ben updated notes/default/shop" in found.text
