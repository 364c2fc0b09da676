"""one_scheduler: a place is given away when it is free; other parts give it away too early."""

from __future__ import annotations

import pytest

from actors.scheduler import Scheduler
from actors.scheduler.mutants import DropsTerminating
from actors.scheduler.schedule_one import SchedulerParts, SchedulingLoop
from scenarios.slots import one_scheduler
from testbed import World
from testbed.choosers.calm import Calm
from testbed.world.scenario import find

RECIPE = find("one_scheduler")


class HastyLoop(SchedulingLoop):
    """It counts no pod that terminates."""

    parts = SchedulerParts(cache=DropsTerminating)


class HastyScheduler(Scheduler):
    """A scheduler that runs so."""

    loop = HastyLoop


def said(world: World) -> list[str]:
    """What the calm Run breaks."""
    verdict = world.run(Calm(), driver="direct")
    return [f"{each.invariant}: {each.said}, {each.now_ms} ms" for each in verdict.violations]


@pytest.mark.spec("KUB-18")
def test_each_pod_comes_when_nothing_is_left_of_the_one_before() -> None:
    """The task when the four seconds of the first are over; the third when the task has run for
    two seconds and is torn down."""
    world = RECIPE.world()
    assert said(world) == []
    records = [each for each in world.table.records if each.name in ("bound", "rejected")]
    told = [(each.now_ms, each.name, each.facts["pod"]) for each in records]
    assert told == [
        (0, "bound", "pods/default/first"), (6_000, "bound", "pods/default/task"),
        (8_500, "bound", "pods/default/third"),
    ]  # fmt: skip


@pytest.mark.spec("INV-7")
def test_a_scheduler_that_counts_no_terminating_pod_overcommits_the_node(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The third pod is bound when it comes, while the first terminates."""
    monkeypatch.setattr(one_scheduler, "Scheduler", HastyScheduler)
    assert said(RECIPE.world()) == [
        "bound_pods_fit: n1 has 1000m cpu, and pods/default/first and pods/default/third ask for "
        "1200m, 3000 ms"
    ]


@pytest.mark.spec("KUB-8", "KUB-18")
def test_a_kubelet_that_calls_a_pod_over_too_early_rejects_the_next() -> None:
    """As until 1.23: the task is over, and half a second of it is left. The pods that are not over
    fit the node all the same."""
    (broken,) = said(RECIPE.world({"kubelet.publish_terminal": "at_exit"}))
    assert broken.startswith("no_pod_is_rejected: n1 rejects pods/default/third: ")
    assert broken.endswith(", 8000 ms")
