"""Explain: the stories that Runs are told as, and what each must not leave out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from golden import Stories
from stage import Cued, note, world_of

from testbed.chooser import Chooser
from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.client import Client
from testbed.explain import COLUMN_MAX, ROWS_MAX, story
from testbed.faults.compact import Compact
from testbed.faults.crash import Crash
from testbed.faults.lose_reply import LoseReply
from testbed.objects import Note
from testbed.scenario import find
from testbed.trace import Trace
from testbed.world import World


def told(world: World, chooser: Chooser) -> str:
    """Play it, and tell it; below, how it ended."""
    trace = Trace({}, keep=True)
    verdict = world.run(chooser, trace=trace)
    return f"{story(trace)}\n\n{verdict}"


def known_world(name: str, **switches: str) -> World:
    """A World of one of the scenarios."""
    return find(name).world(switches)


def a_crash_after_a_write() -> World:
    """Alpha's write is done, and it dies before it hears of it."""
    world = known_world("lost_update")
    world.allow(Crash("alpha", restart_after_ms=100))
    return world


def a_reply_that_is_lost() -> World:
    """The list is written, and its writer is told that nobody knows."""
    world = known_world("lost_update")
    world.allow(LoseReply("alpha"))
    return world


async def forget(client: Client) -> None:
    """Read and write again, while all history is forgotten."""
    read = await client.get(Note, "n")
    await client.update(read.saying(by=client.name))


async def write_twice(client: Client) -> None:
    """Write blindly over what oneself has written."""
    mine = await client.update(note(by="alpha"), whatever_it_was=True)
    await client.update(mine.saying(by="alpha again"), whatever_it_was=True)


async def write_once(client: Client) -> None:
    """Write blindly."""
    await client.update(note(by="beta"), whatever_it_was=True)


def a_compaction() -> World:
    """A fault that strikes no actor."""
    world = world_of(alpha=forget)
    world.add(note(by="nobody"))
    world.allow(Compact())
    return world


def blind_writers() -> World:
    """Nobody reads; what alpha knows is what it wrote itself."""
    world = world_of(alpha=write_twice, beta=write_once)
    world.add(note(by="nobody"))
    return world


def lost_update_guarded() -> World:
    """The careful variant."""
    return known_world("lost_update", guard="on")


LAST_GAP = (
    *["answer auditor/main get*"] * 38,
    "serve auditor/main get*-39",
    "start teller/main",
    "serve teller/main txn*",
)
AFTER_ALPHAS_WRITE = "serve alpha/main update*"
BETWEEN_ALPHAS_WRITES = ("answer alpha/main update*", "start beta*", "serve beta*", "serve alpha*")

Played = tuple[World, Chooser]
TOLD: dict[str, Callable[[], Played]] = {
    "lost_update": lambda: (known_world("lost_update"), Uniform(1)),
    "lost_update_calm": lambda: (known_world("lost_update"), Calm()),
    "lost_update_guarded": lambda: (lost_update_guarded(), Uniform(1)),
    "late_short_write": lambda: (known_world("late_short_write"), Cued(*LAST_GAP)),
    "drawing_lots": lambda: (known_world("lots:drawing_lots", faults="2"), Uniform(1)),
    "a_crash_after_a_write": lambda: (
        a_crash_after_a_write(),
        Cued(AFTER_ALPHAS_WRITE, "fault*crash*", "start beta*"),
    ),
    "a_reply_that_is_lost": lambda: (
        a_reply_that_is_lost(),
        Cued(AFTER_ALPHAS_WRITE, "fault*lose_reply*"),
    ),
    "a_compaction": lambda: (a_compaction(), Cued("serve alpha/main get*", "fault*compact*")),
    "blind_writers": lambda: (blind_writers(), Cued(*BETWEEN_ALPHAS_WRITES)),
}


@pytest.mark.parametrize("name", TOLD)
def test_a_story_is_told_as_before(name: str, stories: Stories) -> None:
    """To the letter: reads and writes in the column of who made them, with revisions and refusals,
    picks, records and faults; then who wrote over what it did not know."""
    world, chooser = TOLD[name]()
    stories.check(name, told(world, chooser))
    assert not getattr(chooser, "cues", None), "a cue was never given"


def test_every_golden_story_is_told() -> None:
    """No text is left behind by a test that is gone; `testbed demo` tells one more."""
    files = Path(__file__).parent.joinpath("stories").glob("*")
    assert sorted(file.stem for file in files) == sorted([*TOLD, "demo"])


def test_what_went_stale_is_one_sentence() -> None:
    """Who read what and when, who changed it since, and who wrote over it all the same."""
    assert (
        "alpha read notes/default/list at rv 2 (step 3); beta wrote it at rv 3 (step 6); alpha "
        "still knew rv 2 and wrote rv 4 over it (step 9)." in told(*TOLD["lost_update"]())
    )


@pytest.mark.parametrize("guard", ["off", "on"])
def test_a_careful_writer_is_never_said_to_be_stale(guard: str) -> None:
    """In all Runs: guarded no such sentence; unguarded one in each Run that is violated."""
    for seed in range(40):
        trace = Trace({}, keep=True)
        world = known_world("lost_update", guard=guard)
        verdict = world.run(Uniform(seed), driver="direct", trace=trace)
        assert ("still knew" in story(trace)) is verdict.is_violated


def test_a_long_story_is_folded_and_stays_narrow() -> None:
    """A long stretch of one actor shows its ends, a long story its end, and no column is wide."""
    for seed in range(5):
        trace = Trace({}, keep=True)
        world = find("lots:drawing_lots").world({"times": 40})
        world.goes_on = True
        world.run(Uniform(seed), trace=trace)
        table = story(trace).partition("\n\n")[0].splitlines()
        assert len(table) <= ROWS_MAX + 3
        assert "earlier lines" in table[2]
        assert len(table[1]) <= 3 * (COLUMN_MAX + 2)
    late = told(*TOLD["late_short_write"]()).splitlines()
    assert sum("more …" in line for line in late) == 1


def test_nothing_to_tell_is_an_empty_story() -> None:
    """A World without actors, and a trace that was not kept."""
    trace = Trace({}, keep=True)
    World().run(Calm(), trace=trace)
    assert story(trace) == ""
    assert story(Trace({})) == ""
