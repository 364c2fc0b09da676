"""Sentences: which sentences are told, and what each must say."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from typing import Any

import attrs

from testbed.chooser import Chooser
from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.client.cache import Cache
from testbed.client.client import Client
from testbed.errors import Conflict
from testbed.fault import Fault
from testbed.faults.crash import Crash
from testbed.faults.lag import Lag
from testbed.faults.lose_reply import LoseReply
from testbed.faults.partition import Partition
from testbed.faults.stall import Stall
from testbed.objects import Note, Pod, PodStatus
from testbed.objects.condition import Condition
from testbed.races.pattern import Pattern
from testbed.races.race import Hold, Race
from testbed.races.race_chooser import Raced
from testbed.store.change import Change, Entry
from testbed.store.footprint import Marks
from testbed.story.diagram import Rows, diagram
from testbed.story.knowledge import Version, changed_nothing
from testbed.story.lateness import Beat, Weight
from testbed.story.sentences import HELD_MAX, SENTENCES_MAX, WHYS_MAX, Sentences
from testbed.story.slice import Slice
from testbed.story.wording import changed, did
from testbed.turns.option import SERVE, Option
from testbed.turns.trace import Step, Trace
from testbed.turns.verdict import Violation
from testbed.world.scenario import find
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.binders import two_binders
from tests.shared.stage import Cued, note, world_of
from tests.shared.tug import tug_of_war


def played(
    world: World, chooser: Chooser, *faults: Fault, said: str = ""
) -> tuple[Trace, Violation | None]:
    """The Run, and its own Violation or one that says this at its end."""
    trace = Trace({}, keep=True)
    world.allow(*faults)
    verdict = world.run(chooser, driver="direct", trace=trace)
    if said:
        return trace, Violation("claimed", said, len(trace.steps), world.table.now_ms)
    return trace, verdict.violations[0] if verdict.violations else None


def tale_of(world: World, chooser: Chooser, *faults: Fault, said: str = "") -> list[str]:
    """The sentences told of this Run."""
    return Sentences(Slice(*played(world, chooser, *faults, said=said))).sentences


def binders() -> World:
    """Two schedulers, one room."""
    world = World("test")
    two_binders(world)
    return world


def test_a_double_bind_is_five_sentences() -> None:
    """What was known, what changed it, why that was not heard, what was done, what broke."""
    assert tale_of(binders(), Uniform(1)) == [
        "beta knew pods/default/web at rv 3, by a list of pods (step 7): spec.node_name was empty.",
        'alpha bound pods/default/web at rv 5 (step 26): spec.node_name empty → "n1"; '
        "what it knew was up to date.",
        "beta decided (step 28) before its watch of pods told it of rv 5 (step 29).",
        "By what it still knew of pods/default/web (rv 3), beta bound pods/default/api at rv 6 "
        '(step 30): spec.node_name empty → "n1".',
        "So no_node_holds_two is broken: node n1 has room for one pod and holds api and web "
        "(step 30).",
    ]


def test_what_was_on_its_way_was_decided_before() -> None:
    """No watch could have told of it in time."""
    said = tale_of(binders(), Uniform(2))
    assert "alpha had decided before that (step 23), and its bind was on its way." in said


async def remember(client: Client) -> None:
    """Keep a Cache, look once, act much later."""
    cache = Cache(client, Note)
    await cache.synced()
    await client.sleep(10)
    cache.get("n")
    await client.sleep(5)
    await client.update(note("m", by="alpha"), whatever_it_was=True)
    await client.sleep(10_000)


async def write_at_five(client: Client) -> None:
    """Write when the other one has listed, and before it looks."""
    await client.sleep(5)
    await client.update(note(by="beta"), whatever_it_was=True)


def two_notes(**puppets: Callable[..., object]) -> World:
    """A World of the notes n and m."""
    world = world_of(**puppets)  # type: ignore[arg-type]
    world.add(note(by="nobody"), note("m", by="nobody"))
    return world


def test_how_late_a_watch_was_is_told_in_milliseconds() -> None:
    """The fault that made it so, and when it told at last."""
    world = two_notes(alpha=remember, beta=write_at_five)
    lag = Lag("alpha", by_ms=700, for_ms=1000)
    cues = ("serve alpha/cache-notes watch*", "answer alpha/cache-notes*", "fault*lag*")
    said = "\n".join(tale_of(world, Cued(*cues), lag, said="m is wrong"))
    assert "alpha's watch of notes began to lag (step " in said
    assert "alpha decided (step " in said
    assert ", 705 ms: 700 ms late)." in said


def test_news_that_was_held_back_is_told_so() -> None:
    """A Hold of it, from which Step on; one of other news, or of somebody else's, is not meant."""
    world = two_notes(alpha=remember, beta=write_at_five)
    lag = Lag("alpha", by_ms=700, for_ms=1000)
    cues = ("serve alpha/cache-notes watch*", "answer alpha/cache-notes*", "fault*lag*")
    trace, violation = played(world, Cued(*cues), lag, said="m is wrong")
    write = next(s.number for s in trace.steps if s.marks.changes and s.option.actor == "beta")

    def told(number: int, actor: str, key: str) -> str:
        option = Option("hold", f"{actor}/watch-notes", lambda: None, actor=actor)
        option.about(key=key, label="deliver")
        kept = Trace({}, keep=True)
        kept.items = list(trace.items)
        kept.items.append(Step(number, option, 0, 1, Marks()))
        return "\n".join(Sentences(Slice(kept, violation)).sentences)

    after, before = len(trace.steps) + 1, -write
    assert f"held back since step {after}, told it" in told(after, "alpha", "notes/default/n")
    assert "held back" not in told(after, "alpha", "notes/default/m")
    assert "held back" not in told(after, "beta", "notes/default/n")
    assert "held back" not in told(before, "alpha", "notes/default/n")


def test_a_request_that_was_held_back_is_told_with_its_end() -> None:
    """What of whom, from which Step on, and in which it came to be; or that it never did."""
    trace, violation = played(find("lost_update").world(), Uniform(1))
    for number, until in ((5, " until step 9."), (10, ".")):
        option = Option("hold", "alpha/main", lambda: None, actor="alpha")
        option.about("update", "notes/default/list", label="serve")
        kept = Trace({}, keep=True)
        kept.items = [*trace.items, Step(number, option, 0, 1, Marks())]
        kept.items.sort(key=lambda item: item.number if isinstance(item, Step) else 0)
        said = Sentences(Slice(kept, violation)).sentences
        assert f"alpha's update of notes/default/list was held back (step {number}){until}" in said


def test_one_write_known_by_half_is_told_so() -> None:
    """Of two objects written at once the one was read before, the other after."""
    last_gap = (*["answer auditor/main get*"] * 38, "serve auditor/main get*-39", "start teller*")
    cues = Cued(*last_gap, "serve teller/main txn*")
    said = "\n".join(tale_of(find("late_short_write").world(), cues))
    assert "still knew rv 40 of notes/default/account-39 when it recorded audited total=405" in said
    assert "; notes/default/account-40 it knew at rv 42, after that same write." in said


def test_what_was_known_wholly_as_it_was_is_not_torn() -> None:
    """Both read before, or both after: there is no half."""
    last = ("answer auditor/main get*",) * 39
    cues = Cued(*last, "serve auditor/main get*-40", "start teller*", "serve teller/main txn*")
    said = "\n".join(
        tale_of(find("late_short_write").world(), cues, said="account-39 and account-40")
    )
    assert "when it recorded audited total=400" in said
    assert "same write" not in said


def test_a_lost_reply_to_a_read_hides_no_write() -> None:
    """What its caller had written before, it was told."""

    async def write_and_read(client: Client) -> None:
        await client.update(note(by="alpha"), whatever_it_was=True)
        await client.get(Note, "n")

    world = world_of(alpha=write_and_read)
    world.add(note(by="nobody"))
    said = tale_of(world, Cued("serve alpha/main get*", "fault*lose*"), LoseReply("alpha"))
    assert "The reply to alpha's get of notes/default/n was lost (step 5)." in said


async def write_in_time(client: Client, times: list[int], words: list[str]) -> None:
    """Write so often, each time another word."""
    for at, word in zip(times, words, strict=True):
        await client.sleep(at - client.now())
        await client.update(note(by=word), whatever_it_was=True)


def test_only_two_are_at_war() -> None:
    """Three that write in turn are no tug of war; two that write what was never there pull, and
    not back."""
    times = {"alpha": [1, 4, 7], "beta": [2, 5, 8], "gamma": [3, 6, 9]}
    three = {
        name: partial(write_in_time, times=at, words=["x", "y", "z"]) for name, at in times.items()
    }
    assert "in turn" not in "\n".join(tale_of(two_notes(**three), Calm(), said="n is wrong"))
    words = {"alpha": list("ace"), "beta": list("bdf")}
    two = {name: partial(write_in_time, times=times[name], words=words[name]) for name in words}
    said = tale_of(two_notes(**two), Calm(), said="n is wrong")[0]
    assert said.startswith("alpha and beta wrote notes/default/n in turn, 6 times")
    assert said.endswith('data.by "e" → "f".')


def test_a_lost_reply_is_told_with_what_it_hid() -> None:
    """That what was asked had taken effect, and at which revision."""

    async def sign(client: Client) -> None:
        read = await client.get(Note, "n")
        await client.update(read.saying(by="alpha"))

    def tale(cue: str) -> list[str]:
        world = world_of(alpha=sign)
        world.add(note(by="nobody"))
        return tale_of(world, Cued(cue, "fault*lose*"), LoseReply("alpha"))

    assert (
        "The reply to alpha's update of notes/default/n was lost; it had taken effect, at rv 3 "
        "(step 5)." in tale("serve alpha/main update*")
    )
    assert "The reply to alpha's get of notes/default/n was lost (step 3)." in tale("serve*get*")


def test_a_tug_of_war_is_one_sentence() -> None:
    """Who wrote in turn, how often, what from and what to; and what broke."""
    world = World("test")
    tug_of_war(world)
    assert tale_of(world, Calm()) == [
        "left and right wrote notes/default/rope in turn, 8 times, from rv 3 (step 8) to rv 10 "
        '(step 54): data.at "left" → "right", and back.',
        "So the_rope_rests is broken: the rope was moved 8 times (step 57).",
    ]


@each_row("seed", range(12))
def test_no_tale_is_long_and_what_broke_comes_last(seed: int) -> None:
    """Eight sentences, and two of what actors record; each of one line, with a Step of the Run."""
    world = find("tests.shared.lots:drawing_lots").world({"times": 6, "faults": 4})
    trace, violation = played(world, Uniform(seed))
    tale = Sentences(Slice(trace, violation))
    most = HELD_MAX if violation is None else SENTENCES_MAX
    assert len(tale.sentences) <= most + WHYS_MAX
    assert all("step" in said and "\n" not in said for said in tale.sentences)
    assert tale.spoken_of <= {step.number for step in trace.steps}
    if violation is not None:
        assert tale.sentences[-1].startswith("So red_is_drawn_once is broken: ")
        assert [beat.step for beat in tale.beats[:-1]] == sorted(b.step for b in tale.beats[:-1])


def test_our_own_words_are_not_told() -> None:
    """A reader of stories need not know what an Option, a turn or a footprint is."""
    for seed in range(20):
        for make in (binders, partial(find("lost_update").world, {"writers": 3})):
            told = " ".join(tale_of(make(), Uniform(seed))).lower()
            ours = ("option", "footprint", "turn", "seat", "serve", "endpoint", "effect")
            assert not [word for word in ours if f" {word}" in told]


LASTING = {
    "a partition": (
        (Partition("alpha", for_ms=50),),
        "alpha was cut off from the network (step 4) until step 10, 50 ms.",
        "  10      50  ⚡ can be reached again              │",
    ),
    "a stall": (
        (Stall("alpha", by_ms=50),),
        "alpha stalled (step 4) until step 11, 50 ms.",
        "  11      50  ⚡ goes on                           │",
    ),
    "a stall that a crash has ended": (
        (Stall("alpha", by_ms=50), Crash("alpha", restart_after_ms=100)),
        "alpha stalled (step 4).",
        "   5          ⚡ alpha crashed                     │",
    ),
}


@each_row(("faults", "said", "drawn"), LASTING.values(), ids=LASTING.keys())
def test_the_end_of_a_fault_that_lasts_is_told(
    faults: tuple[Fault, ...], said: str, drawn: str
) -> None:
    """With the first Step after it, in words and in the diagram; not of who had crashed by then."""
    cues = ("serve alpha/main get*", "answer*", *(f"fault*{fault.word}*" for fault in faults))
    world = find("lost_update").world()
    told = played(world, Cued(*cues), *faults, said="alpha is claimed to be slow")
    assert said in Sentences(Slice(*told)).sentences
    rows = Rows(told[0], Slice(*told), Sentences(Slice(*told)))
    lines = diagram(rows).splitlines()
    assert drawn in lines
    assert sum("can be reached" in line or "goes on" in line for line in lines) == (
        len(faults) == 1
    )


def making(waits: bool) -> Callable[[Client], Coroutine[Any, Any, None]]:
    """Makes a note wherever it sees none, twice; or waits between for what its Cache is told."""

    async def make(client: Client) -> None:
        notes = Cache(client, Note)
        await notes.synced()
        for name in ("a", "b"):
            if not notes.all() or waits:
                await client.create(note(name))
            if waits:
                await client.sleep(10)

    return make


def test_an_actor_that_had_not_seen_its_own_write_is_told() -> None:
    """It had been answered, and looked into a Cache that did not show it yet. The opening tells
    that, so the sentences below do not."""
    said = "notes a and b are one too many"
    world = world_of(alpha=making(waits=False))
    tale = Sentences(Slice(*played(world, Calm(), said=said)))
    assert tale.cause is not None
    assert "not knowing of notes/default/a, which it had itself created at rv 2" in tale.cause.text
    assert tale.sentences == [
        "alpha created notes/default/a at rv 2 (step 8).",
        "alpha created notes/default/b at rv 3 (step 10).",
        f"So claimed is broken: {said} (step 13).",
    ]


def test_an_own_write_that_the_cause_is_not_is_told_once() -> None:
    """Of all acts without it the last; what the Cache did not show then, it never had."""

    async def make(client: Client) -> None:
        notes = Cache(client, Note)
        await notes.synced()
        for name in ("a", "b", "c"):
            if not notes.all():
                await client.create(note(name))

    said = "notes a, b and c are too many"
    told = tale_of(world_of(alpha=make), Calm(), said=said)
    own = [text for text in told if "its own" in text]
    assert own == [
        "alpha decided (step 11) before its watch of notes showed it its own create of "
        "notes/default/a at rv 2."
    ]


def test_an_actor_that_has_seen_its_own_write_is_not_accused() -> None:
    """Its Cache had been told before it looked there, or is not told of such a change at all."""
    told = tale_of(world_of(alpha=making(waits=True)), Calm(), said="notes a and b are too many")
    assert [said for said in told if "its own" in said] == []

    async def sign(client: Client) -> None:
        notes = Cache(client, Note, reads=("data.x",))
        await notes.synced()
        (found,) = notes.all()
        await client.update(found.saying(by="alpha"))
        if notes.all():
            await client.create(note("b"))

    world = world_of(alpha=sign)
    world.add(note("a", by=""))
    told = tale_of(world, Calm(), said="notes a and b are too many")
    assert "alpha created notes/default/b" in " ".join(told)
    assert [said for said in told if "its own" in said] == []


async def buy(client: Client) -> None:
    """Take the last one, whoever was faster."""
    seen = await client.get(Note, "n")
    await client.update(seen.saying(left="0"), whatever_it_was=True)
    client.record("bought")


def test_a_write_that_changed_nothing_is_told_so() -> None:
    """Both write the same over one another: the second leaves no revision, and is no secret."""
    world = world_of(alpha=buy, beta=buy)
    world.add(note(left="1"))
    held = Hold(Pattern(SERVE, "alpha", "update", "notes/default/n"))
    trace, violation = played(world, Raced(Race("test", holds=(held,))), said="it was bought twice")
    matter = Slice(trace, violation)
    tale = Sentences(matter)
    idle = [said for said in tale.sentences if "nothing changed" in said]
    (act,) = [step for step in trace.steps if changed_nothing(step)]
    assert idle == [
        f"alpha updated notes/default/n to what it was already (step {act.number}): nothing "
        "changed, so it stayed at rv 3."
    ]
    drawn = diagram(Rows(trace, matter, tale))
    assert drawn.count("update notes/default/n → rv 3\n") == 1
    assert drawn.count("update notes/default/n → rv 3, changed nothing\n") == 1


def moves(*, waits: str = "", why: str = "") -> Callable[[Client], Coroutine[Any, Any, None]]:
    """An actor that says twice of a note that it waits for it, and of none why it writes it."""

    async def move(client: Client) -> None:
        for _ in range(2):
            client.record("waits", note="notes/default/n", said=waits)
            await client.sleep(1000, "wait")
        client.record("looks", note="notes/default/n")
        because = client.record("chooses", said=why, of=["a", "b"])
        await client.create(note("n"), because=because)

    return move


def test_an_actor_says_itself_why_it_did_what_broke_a_claim() -> None:
    """By the record that the write names; and, of what the claim names, by the last that speaks of
    it. What it only records beside that, or says of nothing that matters, is no
    sentence."""
    assert tale_of(world_of(alpha=moves(why="chose n: it is near")), Calm(), said="n is there") == [
        "alpha chose n: it is near (step 3, 2,000 ms).",
        "alpha created notes/default/n at rv 2 (step 4, 2,000 ms).",
        "So claimed is broken: n is there (step 5, 2,000 ms).",
    ]
    assert tale_of(world_of(alpha=moves(waits="waited for n")), Calm(), said="n is there") == [
        "alpha waited for n (step 2, 1,000 ms).",
        "alpha created notes/default/n at rv 2 (step 4, 2,000 ms).",
        "So claimed is broken: n is there (step 5, 2,000 ms).",
    ]


def test_of_what_a_claim_names_each_thing_that_was_said_is_told_once() -> None:
    """A scheduler that made room first, and found no node ever after: both, each where it was last
    so; and what is said twice of different steps is one sentence."""

    async def move(client: Client) -> None:
        for said in ("made room for it", "found none: 1", "found none: 2", "found none: 2"):
            client.record("cycle", said=said, note="notes/default/n")
            await client.sleep(1000, "wait")
        await client.create(note("n"))

    assert tale_of(world_of(alpha=move), Calm(), said="n is there") == [
        "alpha made room for it (step 1).",
        "alpha found none: 2 (step 4, 3,000 ms).",
        "alpha created notes/default/n at rv 2 (step 6, 4,000 ms).",
        "So claimed is broken: n is there (step 7, 4,000 ms).",
    ]


def test_why_an_actor_did_it_is_told_beside_eight_other_sentences() -> None:
    """The last two; who knew what when does not say why it was decided so."""
    whys = {f"chose-{n}": Beat(n, f"alpha chose {n}.", Weight.SAYS, key=f"{n}") for n in range(4)}
    others = [Beat(9, f"alpha was stale {n}.", Weight.ACTED, key=f"{n}") for n in range(9)]

    class Whole(Sentences):
        def _stale(self) -> Iterator[Beat]:
            yield from others

        def _whys(self, beats: list[Beat]) -> Iterator[Beat]:
            yield from whys.values()

    said = Whole(Slice(*played(world_of(), Calm(), said="n is there"))).sentences
    assert len(said) == SENTENCES_MAX + WHYS_MAX
    assert said[:2] == ["alpha chose 2.", "alpha chose 3."]


def test_a_fault_goes_before_what_was_known() -> None:
    """Without it nobody would have been stale."""
    fault = Beat(1, "alpha was cut off.", Weight.STRUCK)

    class Whole(Sentences):
        def _stale(self) -> Iterator[Beat]:
            yield from (Beat(9, f"alpha knew {n}.", Weight.KNEW, key=f"{n}") for n in range(9))

        def _faults(self) -> Iterator[Beat]:
            yield fault

    said = Whole(Slice(*played(world_of(), Calm(), said="n is there"))).sentences
    assert said[0] == fault.text
    assert len(said) == SENTENCES_MAX


def test_of_conditions_those_that_changed_are_told() -> None:
    """Not the ones beside them; and that one says the same of other grounds."""
    ready, waits = Condition("Ready", "True"), Condition("PodScheduled", "False", "A")
    pods = [
        Pod("p", status=PodStatus(conditions=conditions))
        for conditions in ((ready,), (ready, waits), (ready, attrs.evolve(waits, reason="B")))
    ]

    async def move(client: Client) -> None:
        for pod in pods:
            await client.sleep(1000, "wait")
            if pod is pods[0]:
                await client.create(pod)
            else:
                await client.update(pod, whatever_it_was=True)

    trace, _ = played(world_of(alpha=move), Calm())
    said = [changed(change) for step in trace.steps for change in step.marks.changes if change.old]
    assert said == [
        ": status.conditions empty → PodScheduled=False",
        ": status.conditions PodScheduled=False, in other words",
    ]


def test_where_nothing_broke_all_that_actors_say_is_told() -> None:
    """Each thing once, where it was said last; in the diagram, too, in place of the facts."""
    trace, _ = played(world_of(alpha=moves(waits="waited for n", why="chose n")), Calm())
    matter = Slice(trace)
    tale = Sentences(matter)
    assert tale.sentences == [
        "alpha waited for n (step 2, 1,000 ms).",
        "alpha chose n (step 3, 2,000 ms).",
        "alpha created notes/default/n at rv 2 (step 4, 2,000 ms).",
    ]
    drawn = diagram(Rows(trace, matter, tale))
    assert "· chose n\n" in drawn
    assert "· waited for n\n" in drawn


async def put_back(client: Client) -> None:
    """Read a note, and much later put it as it was: taken away, then made again."""
    old = await client.get(Note, "n")
    await client.sleep(1000, "think")
    await client.delete(old, whatever_it_was=True)
    await client.sleep(1000, "wait")
    await client.create(note("n", **old.data))


async def change_it(client: Client) -> None:
    """Change what is there."""
    await client.sleep(500, "wait")
    await client.update(note(by="beta"), whatever_it_was=True)


def test_what_is_created_anew_is_not_told_as_written_over() -> None:
    """What it had itself deleted it creates again: there is nothing that it would overwrite."""
    world = world_of(alpha=put_back, beta=change_it)
    world.add(note(by="nobody"))
    said = "\n".join(tale_of(world, Calm(), said="n is by nobody"))
    assert "alpha still knew rv 2 and deleted it at rv 4, over rv 3" in said
    assert "and created it" not in said
    known = Knower(said="n is by nobody")
    assert known.created == (
        "alpha still knew rv 2 of notes/default/n and created it again at rv 4 (step 9, 1,000 ms), "
        "after beta had deleted it at rv 3."
    )


class Knower:
    """A Run in which alpha creates what it last saw, and what another has removed since."""

    def __init__(self, *, said: str) -> None:
        async def create(client: Client) -> None:
            old = await client.get(Note, "n")
            await client.sleep(1000, "think")
            await client.create(note("n", **old.data))

        async def remove(client: Client) -> None:
            await client.sleep(500, "wait")
            await client.delete(note("n"), whatever_it_was=True)

        world = world_of(alpha=create, beta=remove)
        world.add(note(by="nobody"))
        self.said = tale_of(world, Calm(), said=said)
        (self.created,) = [each for each in self.said if "still knew" in each]


def test_an_own_record_and_a_refusal_stand_in_the_prose() -> None:
    """An actor that says no more than the name of a record is told in that; what was refused of
    the object that the claim names is told with the reason."""

    async def try_it(client: Client) -> None:
        read = await client.get(Note, "n")
        await client.sleep(1000, "think")
        try:
            await client.update(read.saying(by="alpha"))
        except Conflict as error:
            client.record("gave up", reason=error.reason)

    world = world_of(alpha=try_it, beta=change_it)
    world.add(note(by="nobody"))
    said = tale_of(world, Calm(), said="alpha gave up on n")
    assert "alpha's update of notes/default/n was refused: Conflict (step 9, 1,000 ms)." in said
    assert any("recorded gave up reason=Conflict (step 10, 1,000 ms)" in each for each in said)


def test_a_commit_that_removes_is_told_as_that() -> None:
    """Whatever its verb: a patch that takes the last finalizer away; and a delete that only marks
    is told as no more than that."""
    old = Entry("pods/default/p", Pod("p"), 1, 2, 1)
    marked = attrs.evolve(Pod("p"), meta=attrs.evolve(Pod("p").meta, deleted_ms=5))
    new = Entry("pods/default/p", marked, 1, 3, 2)
    gone = Change(3, old.key, old, None, 1)
    assert did(Version(old.key, 3, 1, "a", "patch", gone)) == (
        "removed pods/default/p by its patch of it"
    )
    assert did(Version(old.key, 3, 1, "a", "delete", gone)) == "deleted pods/default/p"
    assert did(Version(old.key, 3, 1, "a", "delete", Change(3, old.key, old, new, 1))) == (
        "marked pods/default/p for deletion"
    )
    assert did(Version(old.key, 3, 1, "a", "update", Change(3, old.key, old, new, 1)), "it") == (
        "updated it"
    )


def test_a_condition_without_a_status_says_so() -> None:
    """A patch that was made for another pod leaves one."""
    before, after = Pod("p"), Pod("p", status=PodStatus(conditions=(Condition("Disrupted"),)))
    change = Change(2, "pods/default/p", Entry("", before, 1, 1, 1), Entry("", after, 1, 2, 2), 1)
    assert changed(change) == ": status.conditions empty → Disrupted without status"
