"""GT-E3, event by event: two schedulers, one kubelet, and a controller that creates again."""

from __future__ import annotations

from typing import Any

import pytest

from actors.controllers.replicaset import ReplicaSetController
from actors.kubelet.invariants import kubelet_claims
from actors.scheduler import Scheduler
from actors.shared.user import User
from testbed.objects import (
    LabelSelector,
    Map,
    Meta,
    PodTemplate,
    PriorityClass,
    ReplicaSet,
    ReplicaSetSpec,
)
from testbed.races.playing import Played, play
from testbed.races.racefile import parse
from testbed.world.scenario import of
from testbed.world.world import World
from tests.models.timelines import Cluster, build, creates, pod_of
from tests.models.visible import visible

RACE = """
scenario: test_admission_race:admission_race
holds:
  - hold: delivery of pods/default/v#3 to s1
    until: s2 bind pods/default/q
  - hold: delivery of pods/default/q#3 to s1
    until: 1s
"""


def owned() -> ReplicaSet:
    """The owner of P: one pod of priority 100 that asks for six of ten cores."""
    labels = Map(app="p")
    spec = pod_of({"name": "p", "cpu": 6, "priority": 100, "scheduler": "s1"}).spec
    template = PodTemplate(Meta(labels=labels), spec)
    return ReplicaSet("p", spec=ReplicaSetSpec(1, 0, LabelSelector(labels), template))


def admission_race(world: World) -> None:
    """V runs; P of s1 preempts it; Q of s2 waits for room, too."""
    cluster = Cluster(
        nodes=[{"name": "n", "cpu": 10}],
        pods=[{"name": "v", "cpu": 10, "grace": 10, "node": "n", "scheduler": "s1"}],
        deeds=creates([{"t": 5, "name": "q", "cpu": 6, "grace": 10, "scheduler": "s2"}]),
    )
    world.add(PriorityClass("priority-100", value=100))
    build(world, cluster, Scheduler("s1"), Scheduler("s2"))
    world.start(ReplicaSetController("rs", switches={"events": "off"}))
    world.start(User("ann", ((0, owned()),)))
    world.claim(*kubelet_claims())


P, AGAIN = "p-dds4z", "p-4jqhn"
"""The pods of that owner, as the server names them."""


def played() -> Played:
    """The race, as it is told."""
    return play(parse(RACE, "GT-E3"), of(admission_race))


@pytest.mark.spec("KUB-3", "KUB-7", "KUB-8", "SCH-109", "INV-7")
def test_the_admission_race_is_as_it_is_written() -> None:
    """GT-E3: every event in its second and its order, and none beside them. One pod is rejected,
    and the node is overbooked only from its binding to its rejection."""
    found = played()
    assert found.verdict.is_held, str(found.verdict)
    assert [str(fate.deviation) for fate in found.fates if not fate.took_place] == []
    assert visible(found.world) == [
        f"0 create {P}", "0 delete v until 10", f"0 nominate {P} n", "5 create q", "10 remove v",
        "10 bind q n", f"10 bind {P} n", f"10 phase {P} Failed OutOfcpu", f"10 create {AGAIN}",
        "10 phase q Running", "11 delete q until 21", f"11 nominate {AGAIN} n", "21 remove q",
        f"21 bind {AGAIN} n", f"21 phase {AGAIN} Running",
    ]  # fmt: skip
    race = f"scheduler_race: n has cpu 10000, and runs {P}, q, which ask for 12000"
    assert found.verdict.note == race


@pytest.mark.spec("KUB-8")
def test_the_rejected_pod_says_what_it_lacked() -> None:
    """What it asked for, what was taken, and what there is."""
    pod: Any = played().world.store.peek(f"pods/default/{P}")
    assert pod.value.status.message == (
        "Pod was rejected: Node didn't have enough resource: cpu, requested: 6000, used: 6000, "
        "capacity: 10000"
    )
