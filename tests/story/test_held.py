"""Held: the story of a Run that broke nothing leaves out nothing that matters."""

from __future__ import annotations

from contextlib import suppress

from testbed.client.client import Client
from testbed.errors import ApiError
from testbed.faults.lose_reply import LoseReply
from testbed.objects import Note
from testbed.races.playing import play
from testbed.races.racefile import parse
from testbed.story.explain import explained, story
from testbed.world.scenario import of
from testbed.world.world import World
from tests.shared.stage import Puppet, note


async def ann(client: Client) -> None:
    """Deletes one note, and writes another by what she has read, three times."""
    await client.delete(Note("old"), whatever_it_was=True)
    found = await client.get(Note, "page")
    for _ in range(3):
        with suppress(ApiError):
            await client.update(found.saying(by="ann"))


async def ben(client: Client) -> None:
    """Writes on the page, and makes seven notes."""
    found = await client.get(Note, "page")
    await client.update(found.saying(by="ben"))
    for number in range(7):
        with suppress(ApiError):
            await client.create(note(f"leaf-{number}"))


def desk(world: World) -> None:
    """Nothing is claimed of it."""
    world.add(note("old"), note("page", by="nobody"))
    world.start(Puppet("ann", ann), Puppet("ben", ben))
    world.allow(LoseReply("ben"))


RACE = """
holds:
  - hold: ann update notes/default/page
    until: ben update notes/default/page
faults:
  - lose_reply: ben create notes/default/leaf-0
"""


def test_it_tells_what_was_deleted_refused_struck_and_held_and_who_wrote_last() -> None:
    """What is not told one by one is counted, and each of it has a row."""
    played = play(parse(f"scenario: desk\n{RACE}", "desk"), of(desk))
    assert played.verdict.violations == ()
    data = explained(played.trace, played.verdict)
    said = " ".join(sentence["said"] for sentence in data["sentences"])
    assert "ann deleted notes/default/old at rv" in said
    assert "ann's update of notes/default/page was refused: Conflict, 3 times, last" in said
    assert "The reply to ben's create of notes/default/leaf-0 was lost" in said
    assert "ann's update of notes/default/page was held back" in said
    assert "ben updated notes/default/page at rv" in said or "more objects were written" in said
    assert "3 more objects were written, last notes/default/leaf-" in said
    told = story(played.trace, played.verdict)
    assert "notes/default/old" in told.partition("\n\n")[0], "the deletion has its row"
