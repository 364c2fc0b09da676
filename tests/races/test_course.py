"""Course: two Runs take the same one if all that was done in them is the same, and only then."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from testbed import ApiError, Client, Evidence, NotFound, World, always
from testbed.objects import Event, Meta, Note, Reference
from testbed.races.course import Course, content_of, course_of
from testbed.races.playing import play
from testbed.races.race import Race
from testbed.world.scenario import of
from tests.each_row import each_row
from tests.shared.stage import Puppet, note


def course(*before: str, said: str = "there is one", **puppets: Callable[[Client], Any]) -> Course:
    """That of the calm run of these actors, with these notes there before; they breach a claim
    when there is a note `end`."""

    def is_there(see: Evidence) -> str | None:
        entry: Any = see.store.peek("notes/default/end")
        return None if entry is None else said.format(uid=entry.value.meta.uid)

    def build(world: World) -> None:
        world.add(*map(note, before))
        for name, do in puppets.items():
            world.start(Puppet(name, do))
        world.claim(always(is_there))

    played = play(Race("r"), of(build))
    (violation,) = played.verdict.violations
    return course_of(played.world, violation)


async def ends(client: Client) -> None:
    """Create the note that breaches the claim."""
    await client.create(note("end", by="zoe"))


def doing(*steps: Callable[[Client], Any]) -> Callable[[Client], Any]:
    """Do one after the other."""

    async def run(client: Client) -> None:
        for step in steps:
            await step(client)

    return run


async def gets(client: Client) -> None:
    """Get a note that may not be there."""
    with suppress(NotFound):
        await client.get(Note, "x")


async def makes(client: Client) -> None:
    """Create a note."""
    await client.create(note("made"))


async def writes(client: Client, **data: str) -> None:
    """Write on a note, if it is there."""
    with suppress(ApiError):
        await client.update(note("x").saying(**data), whatever_it_was=True)


async def records(client: Client) -> None:
    """Record how many notes there are."""
    client.record("counted", count=len((await client.list(Note)).items))


async def sleeps(client: Client) -> None:
    """Let a second pass."""
    await client.sleep(1000, "rest")


async def draws(client: Client) -> None:
    """Pick one of the notes, and do nothing with it."""
    there = [item.meta.name for item in (await client.list(Note)).items]
    client.pick("note", [*there, "none"])


def test_a_course_does_not_count_what_was_there_before() -> None:
    """Revisions and uids differ by that; the claim's sentence may name a uid, too."""
    with_one = course("x", zoe=ends, said="its uid is {uid}")
    assert with_one == course(zoe=ends, said="its uid is {uid}")
    assert with_one.said == "its uid is uid 1 of notes/default/end"
    assert with_one != course(zoe=ends, said="its uid is not {uid}")


@each_row("step", [gets, writes, records, draws], ids=lambda step: str(step.__name__))
def test_whatever_comes_out_otherwise_is_another_course(step: Callable[[Client], Any]) -> None:
    """An answer that is a refusal, a record, a pick."""
    with_one, without = course("x", zoe=doing(step, ends)), course(zoe=doing(step, ends))
    assert with_one.aside((), ()) != without.aside((), ())
    assert without.aside((), ()) == course(zoe=doing(step, ends)).aside((), ())


def test_when_it_was_done_and_what_was_written_counts() -> None:
    """And in which order one actor did it, but not that of two actors."""

    async def other(client: Client) -> None:
        await client.create(note("end", by="yan"))

    plain = course(zoe=ends).aside((), ())
    assert plain != course(zoe=doing(sleeps, ends)).aside((), ())
    assert plain != course(zoe=other).aside((), ())
    late = doing(sleeps, sleeps, ends)
    soon, later = course(amy=gets, zoe=late), course(amy=doing(sleeps, gets), zoe=late)
    assert soon.aside((), ()) != later.aside((), ())
    one, two = course(zoe=doing(gets, makes, ends)), course(zoe=doing(makes, gets, ends))
    assert one.aside((), ()) != two.aside((), ())


def test_what_was_left_out_is_aside() -> None:
    """All that an actor did; and what was done to an object, or recorded of it."""

    async def speaks(client: Client) -> None:
        await writes(client, by="zoe")
        client.record("wrote", key="notes/default/x")

    both = course("x", amy=makes, zoe=doing(speaks, ends))
    assert set(both.aside((), ())) == {"amy", "zoe"}
    assert both.aside(("amy",), ()) == course("x", zoe=doing(speaks, ends)).aside((), ())
    assert both.aside(("amy",), ("notes/default/x",)) == course(zoe=ends).aside((), ())
    assert both.made_by(["amy"]) == {"notes/default/made"}
    assert both.made_by(["zoe"]) == {"notes/default/end"}


def test_an_event_is_about_what_it_regards() -> None:
    """It goes with that object, whatever its own name is."""

    async def notes(client: Client) -> None:
        regards = Reference(kind="Note", namespace="default", name="x")
        await client.create(Event(Meta("some.1"), involved=regards, reason="Seen"))

    both = course("x", zoe=doing(notes, ends))
    assert both.aside((), ("notes/default/x",)) == course(zoe=ends).aside((), ())
    assert both.aside((), ("notes/default/y",)) == both.aside((), ())


def test_a_get_is_a_look_and_a_write_of_the_same_is_none() -> None:
    """Nor is a list. What an actor that is out has looked at does not count."""
    key = "notes/default/x"
    looked = course("x", amy=gets, zoe=ends)
    assert looked.is_looked_at([key], [])
    assert not looked.is_looked_at([key], ["amy"])
    assert not looked.is_looked_at(["notes/default/y"], [])
    for step in (writes, records):
        assert not course("x", amy=step, zoe=ends).is_looked_at([key], [])


def test_the_content_of_an_object_has_no_stamps() -> None:
    """Neither its uid nor its revision, nor the hash in the name of an Event."""
    assert content_of({"uid": "a-1", "revision": "7"}) == '{"revision":"","uid":""}'
    assert content_of({"name": "c.0123456789abcdef"}) == '{"name":"c"}'
    assert content_of({"name": "c.0123"}) == '{"name":"c.0123"}'
    assert content_of(object) == repr(object)


def test_what_an_event_is_about_has_the_plural_of_its_kind() -> None:
    """`priorityclasses`, which no rule of spelling gives."""

    async def tells(client: Client) -> None:
        about = Reference(kind="PriorityClass", name="high")
        await client.create(Event(Meta("told", "default"), involved=about))

    (done, *_) = [each for each in course(amy=doing(tells, ends)).done if "told" in each.text]
    assert "priorityclasses/high" in done.about
