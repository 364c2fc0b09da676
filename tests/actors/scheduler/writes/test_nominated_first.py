"""The switch `nominate`: a nomination that is written before any victim goes."""

from __future__ import annotations

import pytest

from actors.scheduler.decisions.decision import Preemption
from actors.scheduler.reference.cluster import Cluster, Guest
from actors.scheduler.reference.preemption import preempt
from actors.scheduler.switches import switches_of
from testbed.client.client import Client
from testbed.objects import Pod
from tests.each_row import each_row
from tests.shared.deciding import a_node, a_pod, gone, preemption_of
from tests.shared.scheduling import cluster, pending, pod_of, records, there, writes
from tests.shared.stage import play

FIRST = {"nominate": "before_victims"}


@pytest.mark.spec("SCH-117")
@each_row(
    ("nominate", "wrote"),
    [
        ("after_victims", ["patch/status a", "delete a", "patch/status c"]),
        ("before_victims", ["patch/status c", "patch/status a", "delete a", "patch/status c"]),
    ],
)
def test_it_comes_before_the_victim_or_after_it(nominate: str, wrote: list[str]) -> None:
    """With the condition of the pod, which is only written at the end, or by a write of its own."""
    world = cluster(there("a", 8), pending("c", 8, 1000), switches={"nominate": nominate})
    played = play(world)
    assert writes(played.steps) == wrote
    assert pod_of(world, "c").status.nominated_node_name == "n1"


@pytest.mark.spec("SCH-117", "SCH-99", "API-13")
def test_a_pod_that_has_changed_is_not_nominated_and_nobody_goes() -> None:
    """The write names the revision that the scheduler knows. It tries again a second later."""

    async def user(client: Client) -> None:
        await client.patch(Pod("c"), {"metadata": {"labels": {"app": "web"}}})

    world = cluster(there("a", 8), pending("c", 8, 1000), user=user, switches=FIRST)
    patch = "serve user/main patch *"
    decides = "resume alpha/main queue alpha/ready"
    played = play(world, "start user/main", decides, patch, late=(patch,))
    assert [facts["victim"] for facts in records(world, "preemption broken off")] == [
        "pods/default/c"
    ]
    deletes = played.every("serve alpha/main delete *")
    assert [step.now_ms for step in deletes] == [1000]


def chosen(nominate: str, on: str) -> tuple[Preemption, Preemption]:
    """What is decided of a pod that is nominated there, and what the reference says. It would cost
    less on n1."""
    nodes = [a_node("n1"), a_node("n2")]
    pods = [a_pod("a", 10, on="n1", priority=1), a_pod("b", 10, on="n2", priority=2)]
    pod = a_pod("c", 10, priority=9, nominated=on)
    switches = switches_of("k8s-1.26", {"nominate": nominate})
    cluster = Cluster.of(nodes, pods, [(pod, on)], (), {}, 0)
    told = preempt(Guest.of(pod), cluster, {}, switches, lambda _, names: names[0])
    return preemption_of(pod, *nodes, *pods, nominate=nominate), told


@pytest.mark.spec("SCH-117", "INV-12")
@each_row(
    ("nominate", "on", "victim"),
    [
        ("after_victims", "n2", ("n1", ["a"])),
        ("before_victims", "n2", ("n2", ["b"])),
        ("before_victims", "n1", ("n1", ["a"])),
        ("before_victims", "n3", ("n1", ["a"])),
    ],
)
def test_room_is_made_again_where_the_pod_is_nominated(
    nominate: str, on: str, victim: tuple[str, list[str]]
) -> None:
    """Even if another node would cost less; unless no room can be made there."""
    ours, reference = chosen(nominate, on)
    assert gone(ours) == gone(reference) == victim
