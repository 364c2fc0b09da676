"""Drawn Worlds: the map of each has the ends that the complete search sees, and no others."""

from __future__ import annotations

import sys

import pytest

from testbed import Evidence, World, quiescent
from testbed.choosers.complete import Complete
from testbed.maps.mapping import NoMap, try_to_map
from testbed.world.scenario import Scenario, of, play_runs
from tests.maps.walked_maps import ends_of
from tests.models.worlds import drawing
from tests.models.worlds.doing import said_by

WORLDS, WORLDS_LONG = 12, 500
BATCH = 25
RUNS_MAX, STATES_MAX = 40, 1_000
RUNS_MAX_LONG, STATES_MAX_LONG = 400, 2_000


def all_of_it(see: Evidence) -> str | None:
    """What is stored and what each task has recorded, so that every end that is another one is."""
    found: dict[str, list[str]] = {}
    for record in see.records:
        found.setdefault(record.path, []).append(f"{record.name} {record.facts}")
    stored = [said_by(entry.value) for entry in see.store.snapshot("")]
    return f"{stored} {sorted(found.items())}"


def world(number: int) -> Scenario:
    """Drawn World number N, which also tells its end."""
    drawn = drawing.world(number)

    def build(world: World) -> None:
        drawn.build(world)
        world.claim(quiescent(all_of_it, reads=()))

    return of(build, f"drawn {number}")


def compared(number: int, runs_max: int, states_max: int) -> bool:
    """Whether it is small enough to be compared; its ends must be the same. A Run that reaches a
    number of turns is no end of a map: states are the same whenever they are reached."""
    recipe, search = world(number), Complete()
    play_runs(recipe, search, lambda _: True, runs_max=runs_max, driver="direct")
    if not search.is_complete or any("turns_max" in limit for limit in search.limits):
        return False
    found = try_to_map(recipe, goes_on=True, states_max=states_max)
    if isinstance(found, NoMap):
        return False
    assert set(found.ends) == ends_of(search), f"World {number}"
    return True


def test_drawn_worlds_have_the_ends_that_the_complete_search_sees() -> None:
    """Caches, queues, timers, faults, claims of every kind, servers that lag: whatever a World may
    have is in some of them."""
    done = [compared(number, RUNS_MAX, STATES_MAX) for number in range(WORLDS)]
    assert sum(done) >= WORLDS // 2


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, WORLDS_LONG, BATCH))
def test_many_drawn_worlds_have_the_same_ends(first: int) -> None:
    """Five hundred of them, also larger ones."""
    numbers = range(first, first + BATCH)
    done = [compared(number, RUNS_MAX_LONG, STATES_MAX_LONG) for number in numbers]
    sys.stdout.write(f"{sum(done)} of {len(done)} compared\n")
    assert sum(done) >= BATCH // 2
