"""Slice: what a Violation is about, what that rests on, and who acted on old news."""

from __future__ import annotations

from testbed.chooser import Chooser
from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.client.client import Client
from testbed.fault import Fault
from testbed.faults.crash import Crash
from testbed.objects import Note
from testbed.story.slice import STALE_MAX, Slice
from testbed.turns.option import SERVE
from testbed.turns.trace import Trace
from testbed.turns.verdict import Violation
from testbed.world.scenario import find
from testbed.world.world import World
from tests.shared.binders import two_binders
from tests.shared.stage import Cued, Doing, note, world_of


def slice_of(world: World, chooser: Chooser, *faults: Fault, said: str = "") -> Slice:
    """What matters in this Run: to its own Violation, or to one that says this at its end."""
    trace = Trace({}, keep=True)
    world.allow(*faults)
    verdict = world.run(chooser, driver="direct", trace=trace)
    if said:
        return Slice(trace, Violation("claimed", said, len(trace.steps), world.table.now_ms))
    return Slice(trace, verdict.violations[0] if verdict.violations else None)


def writer(name: str, *, reads: str = "") -> Doing:
    """Writes one note, having read another."""

    async def write(client: Client) -> None:
        if reads:
            await client.get(Note, reads)
        await client.update(note(name, by=client.name), whatever_it_was=True)

    return write


def notes(**puppets: Doing) -> World:
    """A World of three notes, a, b and c."""
    world = world_of(**puppets)
    world.add(*(note(name, by="nobody") for name in "abc"))
    return world


def test_a_violation_is_about_what_it_names() -> None:
    """The last write of each object it names, by key or by name, the last record or else Step of
    each actor, and the Step in which it was found."""
    world = notes(alpha=writer("a"), beta=writer("b"), gamma=writer("c"))
    slice_ = slice_of(world, Calm(), said="notes/default/a is not as b, says gamma/main.")
    assert slice_.named_keys == {"notes/default/a", "notes/default/b"}
    assert slice_.named_actors == {"gamma"}
    writes = {step.option.actor: step.number for step in slice_.steps if step.marks.changes}
    gammas = max(step.number for step in slice_.steps if step.option.actor == "gamma")
    assert slice_.about == {writes["alpha"], writes["beta"], gammas, len(slice_.steps)}


def test_a_violation_that_names_nothing_is_about_all_that_was_written() -> None:
    """Unless the Step in which it was found is a write or a record itself."""
    slice_ = slice_of(notes(alpha=writer("a"), beta=writer("b")), Calm(), said="it is all wrong")
    writes = {step.number for step in slice_.steps if step.marks.changes}
    assert slice_.about == {*writes, len(slice_.steps)}
    late = slice_of(find("late_short_write").world(), Uniform(3), said="405 of 400")
    assert late.about == {len(late.steps)}


def test_a_violation_that_names_nothing_written_is_about_the_kind_it_wrote() -> None:
    """What the other scheduler wrote of that kind is in the slice, though nobody had read it."""
    slice_ = slice_of(find("double_bind").world(), Uniform(1))
    first, second = slice_.knowledge.acts
    assert slice_.named_keys == set()
    assert slice_.about == {first.step, second.step}
    assert not slice_.causality.needed_by([second.step]) & {first.step}
    (stale,) = slice_.stale
    assert (stale.act, stale.missed) == (second, first.versions)


def test_what_a_write_put_where_the_violation_looks_explains_more() -> None:
    """Of two pods bound meanwhile the one on the node it names."""

    async def bind_two(client: Client) -> None:
        for name, to in (("a", "n1"), ("b", "n2")):
            await client.update(note(name, by=to), whatever_it_was=True)

    async def bind_one(client: Client) -> None:
        await client.list(Note)
        await client.update(note("c", by="n1"), whatever_it_was=True)

    cues = ("serve alpha/main list*", "start beta*", *["serve beta*", "answer beta*"] * 2)
    for node, key in (("n1", "notes/default/a"), ("n2", "notes/default/b")):
        world = notes(alpha=bind_one, beta=bind_two)
        slice_ = slice_of(world, Cued(*cues), said=f"node {node} is full")
        assert [stale.known.key for stale in slice_.stale] == [key]


def test_what_nothing_rests_on_is_outside_the_slice() -> None:
    """Whoever wrote something else that nobody concerned has read; and all that came after."""
    world = notes(alpha=writer("a", reads="b"), beta=writer("b"), gamma=writer("c"))
    beta_first = ("start beta*", "serve beta*", "answer beta*", "start gamma*", "serve gamma*")
    slice_ = slice_of(world, Cued(*beta_first), said="a is wrong")
    actors = {slice_.causality.steps[number].option.actor for number in slice_.needed}
    last = slice_.steps[-1].option.actor
    assert actors == {"alpha", "beta", last}
    assert last != "gamma"


def test_a_fault_matters_to_whom_it_struck() -> None:
    """One that struck somebody who took no part does not, nor one after all was over."""
    for target, is_in in (("alpha", True), ("gamma", False)):
        world = notes(alpha=writer("a"), beta=writer("b"), gamma=writer("c"))
        cues = ("start alpha*", "start gamma*", f"fault*crash {target}*")
        slice_ = slice_of(world, Cued(*cues), Crash(target), said="b and a are wrong")
        (strike,) = (step.number for step in slice_.steps if step.kind == "fault")
        assert (strike in slice_.needed) is is_in


def test_a_fault_after_the_violation_does_not_matter() -> None:
    """Also where the Run goes on."""
    world = notes(alpha=writer("a"), beta=writer("b"))
    world.allow(Crash("alpha"))
    trace = Trace({}, keep=True)
    world.run(Cued("serve alpha*", "fault*crash alpha*"), driver="direct", trace=trace)
    write, strike = (
        next(s.number for s in trace.steps if str(s.sentence).startswith(word))
        for word in ("serve alpha", "fault")
    )
    for found, is_in in ((write, False), (strike, True)):
        slice_ = Slice(trace, Violation("claimed", "a is wrong", found, 0))
        assert (strike in slice_.needed) is is_in


def test_an_act_that_nothing_rests_on_explains_nothing() -> None:
    """However stale it was."""
    world = notes(alpha=writer("a"), beta=writer("a", reads="a"), gamma=writer("c", reads="a"))
    read = ("start gamma*", "serve gamma/main get*")
    cues = (*read, "start alpha*", "serve alpha*", "answer alpha*", "answer gamma*", "serve gamma*")
    slice_ = slice_of(world, Cued(*cues), said="a is wrong")
    assert [act.actor for act in slice_.knowledge.acts] == ["alpha", "gamma", "beta"]
    assert slice_.stale == []


def test_shared_is_what_two_actors_touch() -> None:
    """Of what is written in the slice; what one keeps to itself is nobody else's news."""
    world = notes(alpha=writer("a", reads="b"), beta=writer("b", reads="c"), gamma=writer("c"))
    slice_ = slice_of(world, Calm())
    assert slice_.shared == {"notes/default/b", "notes/default/c"}


def test_the_act_that_explains_most_is_told() -> None:
    """Of two stale acts the one that has to do with what the Violation names; at most three."""

    async def twice(client: Client) -> None:
        for name in ("a", "b"):
            await client.get(Note, name)
        for name in ("a", "b"):
            await client.update(note(name, by="alpha"), whatever_it_was=True)

    async def both(client: Client) -> None:
        for name in ("a", "b"):
            await client.update(note(name, by="beta"), whatever_it_was=True)

    writes = ("start beta*", *["serve beta*", "answer beta*"] * 2)
    cues = ("answer alpha*", "answer alpha*", *writes)
    for name in "ab":
        world = notes(alpha=twice, beta=both)
        slice_ = slice_of(world, Cued(*cues), said=f"{name} is wrong")
        assert [stale.known.key for stale in slice_.stale] == [f"notes/default/{name}"]
    held = slice_of(notes(alpha=twice, beta=both), Cued(*cues))
    assert [stale.known.key for stale in held.stale] == ["notes/default/a", "notes/default/b"]
    for seed in range(20):
        lost = slice_of(find("lost_update").world({"writers": 4}), Uniform(seed))
        assert len(lost.stale) <= STALE_MAX


def test_of_two_things_not_known_the_one_that_is_named_explains_more() -> None:
    """And of two acts on the same old news the one the Violation is about."""

    async def act_twice(client: Client) -> None:
        for name in ("a", "b"):
            await client.get(Note, name)
        for by in ("first", "second"):
            await client.update(note("c", by=by), whatever_it_was=True)

    async def write_both(client: Client) -> None:
        for name in ("b", "a"):
            await client.update(note(name, by="beta"), whatever_it_was=True)

    writes = ("start beta*", *["serve beta*", "answer beta*"] * 2)
    cues = ("answer alpha*", "serve alpha/main get*b", *writes)
    slice_ = slice_of(notes(alpha=act_twice, beta=write_both), Cued(*cues), said="a and c")
    (found,) = slice_.stale
    assert found.known.key == "notes/default/a"
    assert found.act == [act for act in slice_.knowledge.acts if act.actor == "alpha"][1]

    async def write_over(client: Client) -> None:
        for name in ("a", "b"):
            await client.get(Note, name)
        await client.update(note("a", by="alpha"), whatever_it_was=True)

    over = slice_of(notes(alpha=write_over, beta=write_both), Cued(*cues), said="a and b")
    assert [stale.known.key for stale in over.stale] == ["notes/default/a"]


def test_who_records_what_it_did_was_stale_when_it_did_it() -> None:
    """The write is told, not the record of it; nor a record of the one who was right."""

    async def book(client: Client) -> None:
        await client.list(Note)
        await client.create(note(f"room-{client.name}"))
        client.record("booked")

    both_list = ("serve alpha/main list*", "start beta*", "serve beta/main list*")
    cues = Cued(*both_list, "answer alpha*", "serve alpha*")
    slice_ = slice_of(notes(alpha=book, beta=book), cues, said="alpha and beta")
    (found,) = slice_.stale
    assert (found.act.actor, found.known.key) == ("beta", "notes/default/room-alpha")
    assert found.act.versions


def test_whose_write_was_lost_is_who_is_named() -> None:
    """Of four that sign, an act that is told has missed the one whose name is gone."""
    lost = 0
    for seed in range(30):
        slice_ = slice_of(find("lost_update").world({"writers": 4}), Uniform(seed))
        if slice_.violation is not None:
            lost += 1
            named = slice_.violation.said.partition(" ")[0]
            missed = {version.actor for stale in slice_.stale for version in stale.missed}
            assert named in missed
    assert lost > 10


def test_whoever_knew_all_there_was_is_said_to_be_right() -> None:
    """The first of two that bind is, the second is not, and a blind writer is neither."""
    for seed in range(20):
        world = World("test")
        two_binders(world)
        slice_ = slice_of(world, Uniform(seed))
        if slice_.violation is not None:
            first, second = slice_.knowledge.acts
            assert slice_.was_right(first.versions[0])
            assert not slice_.was_right(second.versions[0])
    blind = slice_of(notes(alpha=writer("a"), beta=writer("a")), Calm())
    assert not any(blind.was_right(act.versions[0]) for act in blind.knowledge.acts)


def test_a_run_that_held_has_no_slice_but_itself() -> None:
    """Without a Violation everything is of equal interest."""
    slice_ = slice_of(find("lost_update").world(), Calm())
    assert slice_.violation is None
    assert slice_.needed == {step.number for step in slice_.steps}
    assert {s.number for s in slice_.steps if s.kind == SERVE} <= slice_.needed
