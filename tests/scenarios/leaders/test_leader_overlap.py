"""leader_overlap: a deposed scheduler still binds what it had decided; fenced, it cannot."""

from __future__ import annotations

import pytest

from testbed.turns.trace import Trace
from testbed.world.scenario import find
from testbed.world.world import World
from tests.shared.scheduling import pod_of
from tests.shared.stage import Cued, Played, play

RECIPE = find("leader_overlap")
SENT, DECIDED = "start alpha-1/bind-a", "resume alpha-1/main queue alpha-1/ready"
WAYS = pytest.mark.parametrize(
    "cues",
    [(DECIDED, "fault * stall alpha-1"), (SENT, "fault * partition alpha-1")],
    ids=["stalled before it sends", "cut off when it has sent"],
)


def played(guard: str, cues: tuple[str, ...]) -> tuple[World, Played]:
    """The calm Run, but that alpha-1 is away from just then."""
    world = RECIPE.world({"guard": guard})
    trace = Trace({}, keep=True)
    chooser = Cued(*cues)
    verdict = world.run(chooser, driver="direct", trace=trace)
    assert not chooser.cues
    return world, Played(verdict, trace.steps, chooser.offered)


@pytest.mark.spec("SCH-6")
@WAYS
def test_both_ways_of_being_late_are_a_race_without_fencing(cues: tuple[str, ...]) -> None:
    """That it ends itself when it knows does not help: it does not know yet, or has sent it."""
    world, run = played("off", cues)
    assert [v.invariant for v in run.verdict.violations] == ["no_two_are_together"]
    assert [pod_of(world, name).spec.node_name for name in "ab"] == ["n1", "n1"]


@pytest.mark.spec("SCH-6")
@WAYS
def test_neither_is_one_with_it(cues: tuple[str, ...]) -> None:
    """Who is not sure to lead sends nothing, and what was sent before is refused by its revision;
    the pod that was bound is that which the later leader has chosen."""
    world, run = played("on", cues)
    assert run.verdict.is_held
    assert [pod_of(world, name).spec.node_name for name in "ab"] == ["", "n1"]
    late = run.every("serve alpha-1/bind-a create/binding pods/default/a")
    assert len(late) == (1 if SENT in cues else 0)
    for step in late:
        assert step.now_ms > run.only("serve alpha-2/bind-b create/binding pods/default/b").now_ms
        assert "Conflict" in str(step.outcome)


@pytest.mark.spec("SCH-6")
def test_a_deposed_replica_ends_itself_and_waits_in_its_next_life() -> None:
    """Ten seconds after it could not renew its lease; ten more, and its next life asks for it."""
    world = RECIPE.world()
    world.goes_on = True
    run = play(world, SENT, "fault * partition alpha-1", is_held=False)
    records = [record for record in world.table.records if record.name.startswith("leads")]
    assert [record.said for record in records] == [
        "leads alpha in term 0",
        "could not renew its lease, and ends itself: it led alpha in term 0",
        "leads alpha in term 1",
    ]
    told = [(record.path, record.name, record.now_ms) for record in records]
    assert told == [
        ("alpha-1/main", "leads", 0), ("alpha-1/lease", "leads no more", 12_000),
        ("alpha-2/main", "leads", 16_000),
    ]  # fmt: skip
    assert [step.now_ms for step in run.every("start alpha-1/main*")] == [0, 22_000]
    assert 22_000 in [step.now_ms for step in run.every("answer alpha-1/main get leases*")]
