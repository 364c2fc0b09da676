"""Whether Runs are called idle or go on to a time, a complete search knows the same classes and
the same ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from testbed import Client, Evidence, World, quiescent
from testbed.choosers.complete import Complete
from testbed.errors import Conflict
from testbed.invariants.lasso.idle import Idle
from testbed.objects import Note
from testbed.world.scenario import Scenario, find, of, play_runs
from tests.shared.stage import Doing, Puppet

UNTIL_MS = 2_900
"""Up to when Runs go on that are not called idle: the last round of each begins before."""
SMALL = (
    *[(name, "off") for name in ("lost_update", "double_bind")],
    *[(name, "on") for name in ("lost_update", "double_bind")],
)
End = tuple[str, tuple[str, ...], tuple[str, ...]]


def writes(what: str, *, whatever_it_was: bool) -> Doing:
    """Reads the note, and adds to what it says."""

    async def run(client: Client) -> None:
        found = await client.get(Note, "n")
        try:
            said = found.saying(a=found.data["a"] + what)
            await client.update(said, whatever_it_was=whatever_it_was)
        except Conflict:
            client.record("refused")

    return run


def polls(every_ms: int) -> Doing:
    """Looks again and again; once the note is too long, it is cut."""

    async def run(client: Client) -> None:
        while True:
            await client.sleep(every_ms, "look")
            found = await client.get(Note, "n")
            if len(found.data["a"]) > 1:
                await client.update(found.saying(a="c"), whatever_it_was=True)

    return run


def something_is_said(see: Evidence) -> str | None:
    """It is never empty in the end."""
    entry: Any = see.store.peek("notes/default/n")
    return None if entry.value.data["a"] else "it says nothing"


def polling(*, careless: bool, polls_ms: int) -> Callable[[World], None]:
    """Two writers, and one that polls."""

    def build(world: World) -> None:
        world.add(Note("n").saying(a=""))
        world.start(Puppet("a", writes("a", whatever_it_was=careless)))
        world.start(Puppet("b", writes("b", whatever_it_was=careless)))
        world.start(Puppet("p", polls(polls_ms)))
        world.claim(quiescent(something_is_said))

    return build


def searched(recipe: Scenario, guard: str = "", *, idle: bool) -> tuple[int, set[End]]:
    """How many classes a complete search sees, and their ends."""
    search, ends = Complete(), set[End]()

    def look(world: World) -> bool:
        verdict = world.verdict
        assert verdict is not None
        broken = tuple(sorted({each.invariant for each in verdict.violations}))
        objects = tuple(f"{e.key} {e.value}" for e in world.store.snapshot("notes/"))
        ends.add((verdict.outcome, broken, objects))
        return True

    switches: dict[str, Any] = {"guard": guard} if guard else {}
    if idle:
        play_runs(recipe, search, look, runs_max=5_000, switches=switches, driver="direct")
    else:
        switches["limit.until_ms"] = UNTIL_MS
        with patch.object(Idle, "is_reached", lambda _: False):
            play_runs(recipe, search, look, runs_max=5_000, switches=switches, driver="direct")
    assert search.is_complete
    return search.classes, ends


def recipes() -> list[tuple[Scenario, str]]:
    """Small scenarios that come along, and Worlds in which one polls."""
    own = [(of(polling(careless=c, polls_ms=1_000)), "") for c in (False, True)]
    return [*[(find(name), guard) for name, guard in SMALL], *own]


def test_a_complete_search_knows_the_same_classes_and_ends() -> None:
    """With two rounds more of who polls, which changes nothing."""
    for recipe, guard in recipes():
        classes, ends = searched(recipe, guard, idle=True)
        assert searched(recipe, guard, idle=False) == (classes, ends), (recipe.name, guard)
        assert classes > 1
