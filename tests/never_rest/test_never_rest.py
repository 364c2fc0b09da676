"""Twelve Worlds in which something polls, ticks, renews or counts for ever: with its guard off the
bug is found by the usual search, and a loop is proved; with its guard on the World is Held."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import pytest

from testbed import Calm, World
from testbed.testing.seek import seek
from testbed.world.scenario import of
from tests.never_rest.children import children
from tests.never_rest.cloud import cloud
from tests.never_rest.descheduler import descheduler
from tests.never_rest.gangs import gangs
from tests.never_rest.heartbeats import heartbeats
from tests.never_rest.lock import lock
from tests.never_rest.nodes import nodes
from tests.never_rest.polling import polling
from tests.never_rest.pressure import pressure
from tests.never_rest.replicas import replicas
from tests.never_rest.rollout import rollout
from tests.never_rest.workers import workers

RUNS_MAX = 400
"""How many Runs the usual search plays."""
RUNS = [40, pytest.param(RUNS_MAX, marks=pytest.mark.long)]


@attrs.frozen
class Row:
    """One World."""

    build: Callable[..., None]
    says: tuple[str, ...]
    """What the claim says of the bug."""
    end: str = "Idle from "
    """How the guarded World ends, in words."""
    is_loop: bool = False
    """Whether the calm run proves that it goes round for ever."""
    is_found_by: int = 60
    """How many Runs it takes, at most, to find the bug."""


UNTIL = "still had timers"
TWELVE = {
    row.build.__name__: row
    for row in (
        Row(heartbeats, ("nodes/n1 was tainted ", " ms after its heartbeat"), UNTIL),
        Row(polling, ("has lost the size that the user has set last",)),
        Row(workers, ("was charged twice",), UNTIL),
        Row(children, ("configmaps/default/web has two children",)),
        Row(
            replicas,
            (
                "for ever, a lap of 4 writes in 30,000 ms",
                "metadata.generation",
                "operator sets deployments/default/web spec.replicas 5 → 3 (set by hpa); "
                "hpa sets deployments/default/web spec.replicas 3 → 5 (set by operator)",
            ),
            is_loop=True,
        ),
        Row(cloud, ("is no claim's machine",)),
        Row(
            gangs,
            (
                "for ever, a lap of 4 writes in 2,000 ms",
                "blue sets notes/default/west data.gang blue → nothing",
                "red sets notes/default/east data.gang red → nothing",
            ),
            "virtual time, 0 faults",
        ),
        Row(
            nodes,
            (
                "for ever, a lap of 3 writes in 40,000 ms",
                "provisioner creates one of nodes; scale-down sets one of nodes spec.taints "
                "nothing → example.com/unneeded-since:PreferNoSchedule; "
                "scale-down deletes one of nodes; and again",
            ),
            UNTIL,
            is_loop=True,
        ),
        Row(
            rollout,
            (
                "for ever, a lap of 2 writes in 30,000 ms",
                "applied-at",
                "pipeline sets deployments/default/web spec.replicas 5 → 3 (set by scaler); "
                "scaler sets deployments/default/web spec.replicas 3 → 5 (set by pipeline)",
            ),
            UNTIL,
            is_loop=True,
        ),
        Row(
            pressure,
            ("for ever, a lap of 12 writes in 10,000 ms", "agent deletes one of pods"),
            is_loop=True,
        ),
        Row(lock, ("notes/default/account says 1 where 2 were added",)),
        Row(
            descheduler,
            ("for ever, a lap of 4 writes in 60,000 ms", "descheduler deletes one of pods"),
            is_loop=True,
        ),
    )
}


@pytest.mark.parametrize("name", TWELVE)
def test_the_bug_is_found(name: str) -> None:
    """By few Runs, and the claim says what is wrong. A loop is proved by the calm run and named."""
    row = TWELVE[name]
    if row.is_loop:
        verdict = of(row.build).world({"guard": "off"}).run(Calm())
        assert verdict.is_violated, verdict
        said = verdict.violations[0].said
    else:
        sought = seek(row.build, switches={"guard": "off"})
        assert sought.shrunk is not None, sought.looked
        assert sought.runs <= row.is_found_by
        said = sought.shrunk.violation.said
    for words in row.says:
        assert words in said


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("name", TWELVE)
def test_the_guarded_world_is_held(name: str, runs: int) -> None:
    """Each Run comes to its end, with the limits that its scenario says, and keeps its claims."""
    row = TWELVE[name]
    sought = seek(row.build, runs=runs, switches={"guard": "on"})
    sought.must_hold()
    assert (sought.runs, sought.undecided) == (runs, ())


def test_a_verdict_says_how_it_ended() -> None:
    """Since when nothing has changed, or up to when it was judged."""
    for row in TWELVE.values():
        verdict = of(row.build).world({"guard": "on"}).run(Calm())
        assert row.end in str(verdict)
        assert (verdict.until_ms is not None) == (row.end == UNTIL)


def test_the_time_up_to_which_a_world_is_judged_is_said_where_it_needs_one() -> None:
    """Four of the twelve read a clock or renew in each round."""
    judged = {name for name, row in TWELVE.items() if limit_of(row) is not None}
    assert judged == {"heartbeats", "workers", "nodes", "rollout"}


def limit_of(row: Row) -> int | None:
    """The time up to which that World is judged."""
    world: World = of(row.build).world()
    return world.budget.until_ms
