"""Fail: where a pod is requeued that was not scheduled, and what its status and Event say."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from actors.scheduler import Scheduler
from actors.scheduler.decisions.decision import Decision
from actors.scheduler.queue.queued import QueuedPod
from actors.scheduler.schedule_one import SchedulingLoop
from testbed.client.client import Client
from testbed.faults.lose_request import LoseRequest
from testbed.faults.server_error import ServerError
from testbed.objects import Condition, Node, Pod, PodStatus
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.scheduling import (
    attempts,
    books,
    cluster,
    delete,
    events,
    later,
    pending,
    pod_of,
    records,
    there,
    with_kubelets,
)
from tests.shared.stage import play

FULL = "0/1 nodes are available: 1 Insufficient cpu."
ALONE = (
    f"{FULL} preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.."
)


LATER = later(pending("c", 10, 1000), 1000)
FIRST = ("serve alpha/main patch/status *a", "deliver alpha/watch-pods *a MODIFIED*")
"""The first event of a victim comes before the preemptor waits again."""


def waits(world: World) -> list[str]:
    """When each pod was requeued, and where."""
    return [
        f"{record.now_ms} {record.facts['pod'].rpartition('/')[2]} {record.facts['where']}"
        for record in world.table.records
        if record.name == "waits"
    ]


@pytest.mark.spec("SCH-16", "SCH-18", "SCH-12")
def test_what_happens_during_a_cycle_sends_its_pod_to_be_tried_again() -> None:
    """The first event of a victim comes before the preemptor is requeued: so it backs off for a
    second instead of being unschedulable, is tried once more too early, and is bound when all
    victims have ended."""
    world = with_kubelets(cluster(there("a", 9, grace_s=10), user=LATER), "n1")
    play(world, *FIRST)
    assert waits(world)[:2] == ["1000 c backoff", "2000 c unschedulable"]
    assert [each.split()[:2] for each in attempts(world)] == [
        ["1000", "c#1"], ["2000", "c#2"], ["11000", "c#3"],
    ]  # fmt: skip


@pytest.mark.spec("SCH-67")
def test_a_pod_that_is_gone_is_not_tried_again() -> None:
    """Its informer no longer has it by the end of the cycle."""

    async def user(client: Client) -> None:
        await delete(client, "c")

    world = cluster(there("a", 5), pending("c", 10, 1000), user=user)
    play(
        world, "start user/main", "resume alpha/main queue alpha/ready",
        "serve user/main delete *c", "serve user/main delete.2 *c",
        "deliver alpha/watch-pods *c MODIFIED", "deliver alpha/watch-pods *c DELETED",
        late=("serve user/main *",),
    )  # fmt: skip
    assert waits(world) == ["0 c nowhere"]
    assert not books(world).beliefs.nominator.nominated
    assert not any(books(world).beliefs.queue.places.values())


@pytest.mark.spec("SCH-67", "SCH-64")
def test_the_status_says_the_difference_to_the_pod_that_was_tried() -> None:
    """At first the whole condition, then only its new message, then nothing at all."""

    async def user(client: Client) -> None:
        for label in ("x", "y"):
            await client.sleep(10_000)
            await client.patch(Pod("c"), {"metadata": {"labels": {"news": label}}})

    first = attrs.evolve(
        pending("c", 20), status=PodStatus(conditions=(Condition("Other", "True"),))
    )
    world = cluster(there("a", 5), first, user=user)
    played = play(world)
    bodies: list[Any] = [
        step.operation.body for step in played.every("serve alpha/* patch/status *")
        if step.operation
    ]  # fmt: skip
    (body,) = bodies
    assert body["status"]["$setElementOrder/conditions"] == (
        {"type": "Other"}, {"type": "PodScheduled"},
    )  # fmt: skip
    (said,) = body["status"]["conditions"]
    assert (said["status"], said["reason"], said["message"]) == ("False", "Unschedulable", ALONE)
    assert len(attempts(world)) == 3


@pytest.mark.spec("SCH-67")
def test_a_new_message_is_all_that_is_patched_of_a_condition() -> None:
    """Applied to a pod that was bound meanwhile, such a patch mixes the two states."""
    world = with_kubelets(cluster(there("a", 9, grace_s=10), user=LATER), "n1")
    played = play(world, *FIRST)
    last: Any = played.every("serve alpha/* patch/status *c*")[-1].operation
    waiting = "preemption: not eligible due to a terminating pod on the nominated node.."
    assert last.body["status"] == {
        "$setElementOrder/conditions": ({"type": "PodScheduled"},),
        "conditions": ({"type": "PodScheduled", "message": f"{FULL} {waiting}"},),
    }


@pytest.mark.spec("SCH-67")
def test_people_are_told_before_the_status_is_patched() -> None:
    """The Event is sent first. If the pod has changed, a new Event is made; an unchanged status is
    not patched again."""

    async def user(client: Client) -> None:
        await client.sleep(10_000)
        await client.patch(Pod("c"), {"metadata": {"labels": {"some": "news"}}})

    world = cluster(there("a", 5), pending("c", 20), user=user)
    played = play(world)
    wrote = [f"{step.option.verb} {step.option.key.split('/')[0]}" for step in played.steps
             if step.kind == "serve" and step.option.path == "alpha/main"]  # fmt: skip
    assert wrote == ["create events", "patch/status pods", "create events"]
    assert events(world) == [f"c FailedScheduling: {ALONE}"] * 2


@pytest.mark.spec("SCH-69")
@each_row("code", [500, 503])
def test_a_status_is_patched_again_if_the_server_was_at_a_loss(code: int) -> None:
    """Four times in all, 10, 50 and 250 ms later; no other pod is tried meanwhile."""
    world = cluster(there("a", 5), pending("c", 20), pending("d", 1))
    world.allow(ServerError("alpha", code=code, times_max=3))
    played = play(world, *["fault * server_error *patch/status*"] * 3)
    patches = played.every("serve alpha/main patch/status *c*")
    assert [step.now_ms for step in patches] == [310]
    assert attempts(world)[-1] == "310 d#1 n1"


@pytest.mark.spec("SCH-69", "SCH-48", "SCH-112")
@each_row(("fault", "times"), [(ServerError(code=500, times_max=4), 4), (LoseRequest(), 1)])
def test_a_nomination_whose_patch_is_lost_is_kept_in_memory(fault: Any, times: int) -> None:
    """Other pods leave room for it. But the pod itself, tried again, reads no nomination and
    preempts once more."""

    async def user(client: Client) -> None:
        await client.sleep(5000)
        await client.create(pending("d", 1))
        await client.patch(Pod("c"), {"metadata": {"labels": {"some": "news"}}})

    world = cluster(there("a", 9), pending("c", 10, 1000), user=user)
    world.allow(fault)
    played = play(world, *[f"fault * {fault.word} *patch/status pods/default/c*"] * times)
    assert len(records(world, "status not patched")) == 1
    assert pod_of(world, "c").status.nominated_node_name == "n1"
    deletes = played.every("serve alpha/main delete *a*")
    assert [step.now_ms for step in deletes] == [0, 5000]
    assert not pod_of(world, "d").is_bound


@pytest.mark.spec("SCH-52")
def test_without_nodes_a_pod_waits_for_one() -> None:
    """Its status says so, its nomination is cleared, and it is tried when there is a node."""

    async def user(client: Client) -> None:
        await client.sleep(5000)
        await client.create(Node.of("n1", cpu_m=1000))

    nominated = attrs.evolve(pending("c"), status=PodStatus(nominated_node_name="n1"))
    world = cluster(nominated, nodes=0, user=user)
    played = play(world)
    assert attempts(world) == ["0 c#1 no nodes available to schedule pods", "5000 c#2 n1"]
    body: Any = played.every("serve alpha/* patch/status *")[0].operation
    assert body.body["status"]["nominatedNodeName"] is None
    assert body.body["status"]["conditions"][0]["reason"] == "Unschedulable"


@pytest.mark.spec("SCH-51")
def test_a_pod_that_is_to_go_is_not_tried() -> None:
    """An Event says so, and it is not requeued."""
    going = pending("c").with_meta(deleted_ms=5000, grace_s=30, finalizers=("keep/it",))
    world = cluster(going)
    play(world)
    assert attempts(world) == []
    assert events(world) == ["c FailedScheduling: skip schedule deleting pod: default/c"]
    assert not any(books(world).beliefs.queue.places.values())


@pytest.mark.spec("SCH-51")
def test_what_is_assumed_is_not_tried_again() -> None:
    """In the real scheduler a pod can change between its decision and its being assumed: it is
    queued again, and is assumed by the time it is popped."""

    class Hears(SchedulingLoop):
        def decide(self, pod: Pod) -> Decision:
            decision = super().decide(pod)
            self.books.beliefs.queue.update(pod, pod, self.client.elapsed())
            self.books.queue_changed()
            return decision

    class Real(Scheduler):
        loop = Hears

    world = cluster()
    world.add(pending("c", scheduler_name="real"))
    world.start(Real("real"))
    play(world, late=("* real/bind-c *",))
    assert attempts(world) == ["0 c#1 n1"]
    assert not any("FailedScheduling" in each for each in events(world))
    assert books(world, "real").beliefs.queue.cycle == 2


@pytest.mark.spec("SCH-26")
def test_a_pod_that_changes_while_its_bind_is_on_its_way_does_not_wait() -> None:
    """It is assumed, so its update is for the cache alone."""

    async def user(client: Client) -> None:
        await client.patch(Pod("c"), {"metadata": {"labels": {"a": "b"}}})

    world = cluster(pending("c"), user=user)
    play(world, late=("* alpha/bind-c *",))
    assert books(world).beliefs.queue.cycle == 1
    assert attempts(world) == ["0 c#1 n1"]


MEANWHILE = (
    "resume alpha/main queue alpha/ready", "start user/main", "serve user/main patch *",
    "answer user/main patch *", "serve user/main patch/status *",
    "deliver alpha/watch-pods *c MODIFIED", "deliver alpha/watch-pods *c MODIFIED#2",
)  # fmt: skip
"""It was decided to make room for a pod; before anything is written that pod changes twice."""
OTHER = {"conditions": [{"type": "Other", "status": "True"}]}


async def changes_twice(client: Client) -> None:
    """Patch its labels, then its status."""
    await client.patch(Pod("c"), {"metadata": {"labels": {"some": "news"}}})
    await client.patch(Pod("c"), {"status": OTHER}, subresource="status")


@pytest.mark.spec("SCH-67")
def test_its_status_is_patched_as_if_it_were_still_what_was_tried() -> None:
    """The patch is the difference to the pod that was popped, not to what is known by now."""
    world = cluster(there("a", 5), pending("c", 10, 1000), user=changes_twice)
    played = play(world, *MEANWHILE)
    first: Any = played.every("serve alpha/main patch/status *c")[0].operation
    assert "$setElementOrder/conditions" not in first.body["status"], "it had no conditions then"
    kinds = [each.type for each in pod_of(world, "c").status.conditions]
    assert sorted(kinds) == ["Other", "PodScheduled"]


@pytest.mark.spec("SCH-67")
def test_it_is_nominated_as_its_informer_has_it_by_then() -> None:
    """Other pods leave room for the pod as it is now, not as it was when it was tried."""
    seen: list[list[dict[str, str]]] = []

    class Shows(SchedulingLoop):
        async def cycle(self, queued: QueuedPod) -> None:
            await super().cycle(queued)
            seen.append([dict(info.labels) for info in self.books.beliefs.nominator.on("n1")])

    class Real(Scheduler):
        loop = Shows

    world = cluster(there("a", 5), pending("c", 10, 1000, scheduler_name="real"),
                    user=changes_twice)  # fmt: skip
    world.start(Real("real"))
    play(world, *(cue.replace("alpha", "real") for cue in MEANWHILE))
    assert seen[0] == [{"some": "news"}]
