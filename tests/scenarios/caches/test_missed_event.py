"""missed_event: a pod is parked beside the room for it for five minutes, or is tried again soon."""

from __future__ import annotations

import pytest

from scenarios.caches.missed_event import three_in_the_way
from testbed.races.playing import play
from testbed.races.racefile import parse
from testbed.world.scenario import find, of
from testbed.world.world import World
from tests.models.worlds.shelved import race_named

RECIPE = find("missed_event")
RACE = race_named("missed_event")
POD = "pods/default/pod"
HOLDS = """
scenario: for_long
holds:
  - hold: default-scheduler bind pods/default/other
    until: ben delete pods/default/old-3
"""


def told(world: World, name: str) -> list[tuple[int, str]]:
    """When each such record of the pod was made, and where it waits or is bound."""
    records = [record for record in world.table.records if record.name == name]
    return [
        (record.now_ms, record.facts.get("where") or record.facts["node"])
        for record in records
        if record.facts["pod"] == POD
    ]


@pytest.mark.spec("SCH-16", "SCH-25")
def test_the_last_event_is_lost_and_the_pod_is_parked_beside_its_room() -> None:
    """It was tried while the room became free, and the bind of the other pod ended in between."""
    world = play(RACE, RECIPE, switches={"guard": "off"}).world
    (violation,) = world.verdict.violations if world.verdict else ()
    assert violation.said == f"default-scheduler: {POD} waits for news, and fits on n1"
    assert told(world, "waits")[-1] == (5_100, "unschedulable")


@pytest.mark.spec("SCH-11", "SCH-16")
def test_guarded_it_gets_the_room_after_its_backoff() -> None:
    """Late by as much, the bind takes nothing along."""
    world = play(RACE, RECIPE, switches={"guard": "on"}).world
    assert told(world, "waits")[-1] == (5_100, "backoff")
    assert told(world, "bound") == [(10_100, "n1")]


@pytest.mark.spec("SCH-13", "SCH-16")
@pytest.mark.parametrize(
    ("in_flight", "where", "bound_ms"),
    [
        ("bug_event_list", "unschedulable", 330_100),
        ("event_list", "backoff", 10_100),
        ("move_cycle", "backoff", 10_100),
    ],
)
def test_it_waits_for_five_minutes_and_else_for_its_backoff(
    in_flight: str, where: str, bound_ms: int
) -> None:
    """Until what has waited for too long is tried anyway; the list as it was mended and the cycle
    number of 1.26 both know that there was an event."""

    def for_long(world: World) -> None:
        three_in_the_way(world, in_flight=in_flight)
        world.limit(until_ms=400_000)

    world = play(parse(HOLDS, "held"), of(for_long, "for_long")).world
    assert told(world, "waits")[-1] == (5_100, where)
    assert told(world, "bound") == [(bound_ms, "n1")]
