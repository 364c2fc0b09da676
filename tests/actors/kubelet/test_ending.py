"""A pod that its kubelet ends for a reason of its own."""

from __future__ import annotations

import pytest

from actors.apiserver import ApiServer
from actors.kubelet import Runtime, Workload
from actors.kubelet.ending import PodEnding
from actors.kubelet.lifecycle import Lifecycle, PodSettings
from actors.kubelet.status_writer import StatusWriter
from testbed.client.client import Client
from testbed.objects import Node, Pod
from testbed.objects.condition import find
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.nodes import bound, calm, pod_of, story
from tests.shared.stage import Puppet

EVICTED = PodEnding("Evicted", "The node was low on resource: memory. ", "for memory")


def ended(pod: Pod, *graces_s: int | None, ending: PodEnding = EVICTED) -> World:
    """A pod that runs from 0 and is ended at 1 s, and each second after, with these graces."""

    async def kubelet(client: Client) -> None:
        made = await client.get(Pod, "a")
        statuses = StatusWriter(client)
        client.spawn("statuses", statuses.run)
        life = Lifecycle(client, PodSettings("n1"), statuses, made, None, is_gone=False)
        client.spawn("pod-a", life.run)
        for grace_s in graces_s:
            await client.sleep(1000)
            life.end(ending, grace_s)
        await client.first(life.stopped.wait(), client.sleep(60_000))
        client.record("stopped", at_ms=client.now())

    world = World("ending")
    world.serve(ApiServer)
    world.add(Node.of("n1", cpu_m=1000, memory=1000), pod)
    world.serve(lambda store: Runtime(store, "n1"))
    world.start(Puppet("kubelet-n1", kubelet))
    calm(world)
    return world


@pytest.mark.spec("KUB-37")
@each_row(
    ("graces_s", "stopped_ms", "exit_code"),
    [((None,), 6000, 137), ((2,), 3000, 137), ((0,), 1000, 137), ((None, 0), 2000, 137),
     ((2, None, 30), 3000, 137)],
)  # fmt: skip
def test_the_grace_is_that_of_the_pod_unless_another_is_given(
    graces_s: tuple[int | None, ...], stopped_ms: int, exit_code: int
) -> None:
    """None: the pod's; 0: none at all; and a later one can only shorten it."""
    world = ended(Workload(is_deaf=True).given_to(bound("a", grace_s=5)), *graces_s)
    state = pod_of(world, "a").status.container_statuses[0].state.terminated
    assert (state.finished_ms, state.exit_code) == (stopped_ms, exit_code)
    assert story(world, "a")[-1] == f"{stopped_ms} Failed Evicted"


def test_an_ending_without_a_disruption_sets_no_condition() -> None:
    """What is ended for another reason is no target of a disruption."""
    world = ended(bound("a", grace_s=5), 1, ending=PodEnding("DeadlineExceeded", "too long"))
    status = pod_of(world, "a").status
    assert (status.phase, status.reason) == ("Failed", "DeadlineExceeded")
    assert find(status.conditions, "DisruptionTarget") is None
