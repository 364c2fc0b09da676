"""lawful_theft: the room goes to a more important pod; only a claim without priorities objects."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import pytest

from actors.scheduler import Scheduler
from actors.scheduler.mutants import StickyNominator
from actors.scheduler.schedule_one import SchedulerParts, SchedulingLoop
from scenarios.nominations import lawful_theft
from testbed import Evidence, World, always
from testbed.choosers.calm import Calm
from testbed.world.scenario import find

RECIPE = find("lawful_theft")


class StickyLoop(SchedulingLoop):
    """It holds a pod nominated that is bound."""

    parts = SchedulerParts(nominator=StickyNominator)


class StickyScheduler(Scheduler):
    """A scheduler that runs so."""

    loop = StickyLoop


def room_goes_to_its_pod(see: Evidence) -> str | None:
    """The rule without priorities: where room was made for a pod, no other pod is bound."""
    made: dict[str, str] = {}
    for record in see.records:
        facts = record.facts
        if record.name == "cycle" and facts.get("nominated"):
            made.setdefault(facts["nominated"], facts["pod"])
        elif record.name == "bound" and made.get(facts["node"], facts["pod"]) != facts["pod"]:
            return f"{facts['pod']} is where room was made for {made[facts['node']]}"
    return None


def broken(world: World) -> list[str]:
    """The claims that the calm Run breaks, each once, in order."""
    world.goes_on = True
    verdict = world.run(Calm(), driver="direct")
    return list(dict.fromkeys(violation.invariant for violation in verdict.violations))


@pytest.mark.spec("SCH-59", "SCH-100", "SCH-102")
def test_the_critical_pod_gets_the_room_and_the_urgent_one_makes_room_elsewhere() -> None:
    """On n2, and it is bound there; the small pod waits for ever, though half of n1 was free."""
    world = RECIPE.world()
    assert world.run(Calm(), driver="direct").is_held
    told = [
        (record.now_ms, record.facts["pod"].rpartition("/")[2], record.facts["nominated"])
        for record in world.table.records
        if record.name == "cycle" and record.facts.get("nominated")
    ]
    assert told == [(1_000, "urgent", "n1"), (10_000, "critical", "n1"), (31_000, "urgent", "n2")]
    changes = world.store.log("pods").changes
    urgent: list[Any] = [each.after for each in changes if each.key == "pods/default/urgent"]
    shown = [pod.status.nominated_node_name for pod in urgent]
    assert [node for node, _ in groupby(shown)] == ["", "n1", "", "n2"]
    pods: list[Any] = [entry.value for entry in world.store.snapshot("pods/")]
    placed = {pod.meta.name: pod.spec.node_name for pod in pods}
    assert placed == {"critical": "n1", "late": "", "urgent": "n2"}


def test_a_claim_that_compares_no_priorities_cries_wolf() -> None:
    """It takes the lawful case for a theft; those of the scenario do not."""
    world = RECIPE.world()
    world.claim(always(room_goes_to_its_pod))
    assert broken(world) == ["room_goes_to_its_pod"]


@pytest.mark.spec("SCH-59", "INV-15")
def test_a_theft_by_the_small_pod_breaks_the_claims() -> None:
    """If the scheduler ignores nominations, the small pod takes the half that was free: that is
    wrong by what the scheduler knew, and in truth."""
    found = broken(RECIPE.world({"scheduler.nominated_accounting": "none"}))
    assert found == ["pods_go_where_they_fit", "room_goes_to_the_more_important"]


@pytest.mark.spec("INV-14")
def test_a_nomination_that_outlives_the_bind_breaks_the_third(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A scheduler that still holds the critical pod nominated when it is bound keeps its room
    twice."""
    monkeypatch.setattr(lawful_theft, "Scheduler", StickyScheduler)
    assert "nominations_are_kept" in broken(RECIPE.world())
