"""stale_nomination: the five minutes of the report, its two seconds, and what ends the waiting."""

from __future__ import annotations

from typing import Any

import pytest

from scenarios.nominations.stale_nomination import NODE_GI, SIZES_GI, stale_nomination
from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.world.scenario import find, of
from testbed.world.world import World

RECIPE = find("stale_nomination")
LONG_MS = 1_000_000


def for_minutes(world: World, *, guard: bool = False, gap_ms: int = 0) -> None:
    """The same, until the queue has been flushed."""
    stale_nomination(world, guard=guard, gap_ms=gap_ms)
    world.limit(until_ms=LONG_MS)


def waited_ms(**switches: str) -> int:
    """In the calm Run: from the second creation of p1 until it is bound."""
    world = of(for_minutes, "for_minutes").world(switches)
    world.goes_on = True
    world.run(Calm(), driver="direct")
    p1: Any = world.store.peek("pods/default/p1")
    tried = [r for r in world.table.records if r.facts.get("pod") == p1.key]
    assert p1.value.spec.node_name == "n1"
    bound_ms = next(record.now_ms for record in tried if record.name == "bound")
    return bound_ms - next(record.now_ms for record in tried if record.name == "cycle")


@pytest.mark.spec("SCH-13", "SCH-27")
def test_it_takes_five_minutes_or_no_time_by_when_the_pod_comes() -> None:
    """The numbers of the report: p1 fits beside p3 in both cases, and p2 does not."""
    assert SIZES_GI["p1"] + SIZES_GI["p3"] <= NODE_GI < SIZES_GI["p2"] + SIZES_GI["p3"]
    assert 300_000 <= waited_ms(guard="off", gap_ms="0") <= 330_000
    assert waited_ms(guard="off", gap_ms="2000") == 0


@pytest.mark.spec("SCH-27", "SCH-20")
def test_the_end_of_a_nomination_is_an_event_with_the_switch() -> None:
    """P1 is moved when p2 loses its nomination, and bound when its backoff of a second is over."""
    assert waited_ms(guard="on", gap_ms="0") <= 2_000
    assert waited_ms(guard="on", gap_ms="2000") == 0
    for chooser in map(Uniform, range(5)):
        world = RECIPE.world({"guard": "on"})
        assert world.run(chooser, driver="direct").is_held
        p1: Any = world.store.peek("pods/default/p1")
        assert p1.value.is_bound


def test_the_claim_names_who_waits_and_whom_it_waited_for() -> None:
    """And fires at rest alone."""
    verdict = RECIPE.world({"guard": "off"}).run(Calm(), driver="direct")
    (violation,) = verdict.violations
    assert violation.said == (
        "default-scheduler does not try pods/default/p1 again, which would fit on n1: "
        "pods/default/p2 is not nominated there any more"
    )
    assert RECIPE.world({"guard": "off", "gap_ms": "2000"}).run(Calm(), driver="direct").is_held
