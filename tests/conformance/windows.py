"""Windows: how close in time two things must be for a race, compared with trials of the real one.

A recording says how often something happened in a number of trials, by the time between two things.
Ours says for each such time whether it happens. If it does, some trial must have shown it; if it
does not, some trial must have shown that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from actors.scheduler import Scheduler
from testbed.races.playing import play
from testbed.races.racefile import parse
from testbed.world.scenario import of
from testbed.world.world import World
from tests.models.observed import attempts_of
from tests.models.timelines import SCHEDULER, Cluster, build, creates

BIND_MS, WATCH_MS = 3, 1
"""How long a bind took that was seen, and how long it took until its watch told of it."""
APART_MS_MAX = 64
SLOT = {
    "nodes": [{"name": "n", "cpu": "1"}],
    "pods": [{"name": "p1", "cpu": "1"}, {"name": "p2", "cpu": "1"}],
}
"""One node with one slot, and two pods that want it."""
AT_ONCE_MS = 900
"""The first instant, and all that comes of it by itself."""


# -- two schedulers, one slot ---------------------------------------------------------------------


def bound(
    race: str,
    apart_ms: int = 0,
    owners: tuple[str, str] = ("s1", "s2"),
    state: Callable[[World], None] = lambda _: None,
) -> list[str]:
    """The pods that are bound to the slot in the end, if they are created this far apart. `state`
    may state latencies."""
    pods = [
        {**pod, "t": number * apart_ms / 1000, "scheduler": owner}
        for number, (pod, owner) in enumerate(zip(SLOT["pods"], owners, strict=True))
    ]
    cluster = Cluster(SLOT["nodes"], deeds=creates(pods), until_ms=AT_ONCE_MS, start_delay_ms=50)

    def one_slot(world: World) -> None:
        build(world, cluster, *map(Scheduler, sorted(set(owners))))
        state(world)

    world = play(parse(f"scenario: windows:one_slot\n{race}", "race"), of(one_slot)).world
    found: list[Any] = [entry.value for entry in world.store.snapshot("pods/")]
    return [pod.meta.name for pod in found if pod.is_bound]


def slow(bind_ms: int, watch_ms: int, *schedulers: str) -> str:
    """The race in which each bind takes this long, and each watch is this late."""
    binds = f'holds:\n  - hold: "* bind pods/*#*"\n    until: {bind_ms}ms\n'
    return binds + late(watch_ms, *schedulers)


def late(watch_ms: int, *schedulers: str) -> str:
    """The part of a race in which these actors see every pod this much later."""
    if not watch_ms:
        return ""
    return "faults:\n" + "".join(
        f"  - lag: pods to {name}\n    by: {watch_ms}ms\n    until: 1h\n" for name in schedulers
    )


def window_ms(bind_ms: int, watch_ms: int) -> int:
    """How far apart two pods must be created for only one to be bound, by bisection."""
    race, low, high = slow(bind_ms, watch_ms, "s1", "s2"), 0, APART_MS_MAX
    assert len(bound(race, low)) == 2
    assert len(bound(race, high)) == 1
    while high - low > 1:
        middle = (low + high) // 2
        if len(bound(race, middle)) == 2:
            low = middle
        else:
            high = middle
    return high


# -- the queue a preemptor enters -----------------------------------------------------------------


def queues(cluster: Cluster, lag_ms: int) -> dict[str, str]:
    """The queue that each pod enters after its first cycle.

    The real one evicts all victims at once, with two requests each. Ours evicts one after another,
    so with two victims only every other request takes a millisecond.
    """
    hold = f'holds:\n  - hold: "{SCHEDULER} delete pods/*#*"\n    until: 1ms\n'

    def at_once(world: World) -> None:
        build(world, cluster, Scheduler(SCHEDULER))
        world.limit(until_ms=cluster.begins_ms + AT_ONCE_MS)

    race = f"scenario: windows:at_once\n{hold}{late(lag_ms, SCHEDULER)}"
    world = play(parse(race, "race"), of(at_once)).world
    return {each.pod: each.then for each in attempts_of(world, SCHEDULER)}
