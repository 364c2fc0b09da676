"""head_of_line: important pods are tried in turn, and a small one is not; it is with a backoff."""

from __future__ import annotations

import pytest

from testbed.choosers.calm import Calm
from testbed.races.playing import play
from testbed.world.scenario import find
from testbed.world.world import World
from tests.models.worlds.shelved import race_named

RECIPE = find("head_of_line")
RACE = race_named("head_of_line")
SMALL = "pods/default/small"


def ran(**switches: str) -> World:
    """The calm Run, to its end."""
    world = RECIPE.world(switches)
    world.goes_on = True
    world.run(Calm(), driver="direct")
    return world


def cycles(world: World) -> list[tuple[int, str]]:
    """When each scheduling cycle began, and for which pod."""
    records = [record for record in world.table.records if record.name == "cycle"]
    return [(record.now_ms, record.facts["pod"].rpartition("/")[2]) for record in records]


def placed_ms(world: World) -> list[int]:
    """When the small pod was bound."""
    records = [record for record in world.table.records if record.name == "bound"]
    return [record.now_ms for record in records if record.facts["pod"] == SMALL]


@pytest.mark.spec("SCH-8")
def test_the_important_pods_take_turns_and_the_small_one_has_none() -> None:
    """Eleven rounds from when it came; each important pod is active again before the last of them
    has been tried."""
    world = play(RACE, RECIPE, switches={"guard": "off"}).world
    (violation,) = world.verdict.violations if world.verdict else ()
    assert violation.said == (
        f"pods/default/important-3 was tried 11 times since {SMALL} came, which never was"
    )
    since = [name for at_ms, name in cycles(world) if at_ms >= 2_000]
    assert sorted(set(since)) == ["important-1", "important-2", "important-3"]
    assert since[:3] * (len(since) // 3) == since[: len(since) // 3 * 3]


def test_it_is_tried_when_the_heartbeats_are_over() -> None:
    """It fits at once: for eighteen seconds nothing but the others kept it from its place."""
    assert placed_ms(ran(guard="off")) == [21_600]


@pytest.mark.spec("SCH-11", "SCH-12", "SCH-20")
def test_with_a_backoff_it_is_tried_at_once() -> None:
    """The important pods pause 1, 2, 4 and 8 seconds, though each heartbeat still moves them."""
    world = ran(guard="on")
    assert placed_ms(world) == [2_400]
    first = [at_ms for at_ms, name in cycles(world) if name == "important-1"]
    assert first == [0, 2_400, 5_000, 10_000, 19_000, 30_000]


@pytest.mark.spec("SCH-21")
@pytest.mark.parametrize("switch", ["node_events=improved", "cycle_ms=0", "backs_off=on"])
def test_it_takes_all_three(switch: str) -> None:
    """Every heartbeat an event, cycles that take longer than it is to the next one, no backoff."""
    name, _, word = switch.partition("=")
    world = ran(guard="off", **{f"scheduler.{name}": word})
    assert world.verdict is not None
    assert world.verdict.is_held, str(world.verdict)
    assert placed_ms(world)[0] < 3_000
