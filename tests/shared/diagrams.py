"""Runs to draw as lifelines."""

from __future__ import annotations

from testbed.chooser import Chooser
from testbed.client.client import Client
from testbed.objects import Note
from testbed.story.diagram import Rows
from testbed.story.sentences import Sentences
from testbed.story.slice import Slice
from testbed.turns.trace import Trace
from testbed.turns.verdict import Violation
from testbed.world.world import World
from tests.shared.binders import two_binders


def rows_of(world: World, chooser: Chooser, said: str = "") -> Rows:
    """What there is to show of this Run."""
    trace = Trace({}, keep=True)
    verdict = world.run(chooser, driver="direct", trace=trace)
    violation = verdict.violations[0] if verdict.violations else None
    if said:
        violation = Violation("claimed", said, len(trace.steps), world.table.now_ms)
    slice_ = Slice(trace, violation)
    return Rows(trace, slice_, Sentences(slice_))


def binders() -> World:
    """Two schedulers, one room."""
    world = World("test")
    two_binders(world)
    return world


async def busy(client: Client) -> None:
    """Read and write again and again."""
    for turn in range(30):
        read = await client.get(Note, f"n{turn % 3}")
        await client.update(read.saying(by=client.name), whatever_it_was=True)
