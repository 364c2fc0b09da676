"""Homework: a courier takes homework to school within ten seconds, unless it is late."""

from __future__ import annotations

from testbed import Actor, Cache, Client, Evidence, World, eventually
from testbed.objects import ConfigMap, Note
from tests.told.frame import Told


class Pupil(Actor):
    """Writes its homework."""

    async def run(self, client: Client) -> None:
        """In two seconds."""
        await client.sleep(2_000, "write")
        await client.create(Note("essay"))


class Courier(Actor):
    """Takes what is written to school."""

    async def run(self, client: Client) -> None:
        """As it comes."""
        written, news = Cache(client, Note), client.queue("news", idle=True)
        written.on(add=news.put)
        while True:
            essay = await news.get()
            await client.create(ConfigMap(essay.meta.name))


class Teacher(Actor):
    """Marks what has come."""

    async def run(self, client: Client) -> None:
        """As it comes."""
        came, news = Cache(client, ConfigMap), client.queue("news", idle=True)
        came.on(add=news.put)
        while True:
            essay = await news.get()
            client.record("marked", essay=essay.meta.name)


def the_essay_is_marked(see: Evidence) -> str | None:
    """The teacher has marked it."""
    return None if any(each.name == "marked" for each in see.records) else "no mark yet"


def homework(world: World) -> None:
    """From the pupil to the teacher."""
    world.start(Pupil("paul"), Courier("rita"), Teacher("sam"))
    world.claim(eventually(the_essay_is_marked, within_ms=10_000))


TRUE = Told(
    homework,
    race="""
holds:
  - hold: delivery of notes/default/essay to rita
    until: 15s
""",
    actor="rita",
    about=("notes/default/essay", "configmaps/default/essay"),
    words=("late", "until 15", "only", "held", "did not hear", "was told", "believing"),
    never=("^paul", "^sam", "recorded"),
    said=(
        "rita created configmaps/default/essay only at 15 s: the news of notes/default/essay, "
        "which paul had created at 2 s, was late."
    ),
)
