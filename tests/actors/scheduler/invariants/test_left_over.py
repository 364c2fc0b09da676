"""No nomination is left over at rest, but for those that 1.26 leaves behind."""

from __future__ import annotations

from functools import partial

import attrs
import pytest

from actors.scheduler.invariants import NoNominationIsLeftOver
from actors.scheduler.mutants import MUTANTS
from actors.scheduler.proving_ground import PodTerminator
from testbed.client.client import Client
from testbed.faults.crash import Crash
from testbed.faults.lose_request import LoseRequest
from testbed.faults.server_error import ServerError
from testbed.objects import Pod
from testbed.store.endpoint import Operation
from testbed.testing.mutant import hunt
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.scheduling import (
    NAME,
    cluster,
    delete,
    later,
    node_of,
    pending,
    pod_of,
    there,
    with_kubelets,
)
from tests.shared.stage import Doing, play


def claimed(*pods: Pod, user: Doing | None = None) -> World:
    """A node that is full, pods that want to be there, and the claim."""
    world = cluster(there("a", 6, grace_s=5), *pods, user=user)
    world.claim(NoNominationIsLeftOver())
    return world


def nominated(world: World, name: str = "c") -> str:
    """Where that pod is nominated to."""
    return str(pod_of(world, name).status.nominated_node_name)


@pytest.mark.spec("INV-26")
def test_a_pod_that_waits_for_its_victims_stays_nominated() -> None:
    """On a node without a kubelet they stay for ever; on one with a kubelet the pod is bound."""
    for is_up, node in ((False, ""), (True, "n1")):
        world = claimed(pending("c", 10, 100))
        if is_up:
            with_kubelets(world, "n1")
        play(world)
        assert (node_of(world, "c"), nominated(world)) == (node, "n1")


@pytest.mark.spec("INV-26", "SCH-101")
def test_a_nomination_that_has_come_to_nothing_is_cleared() -> None:
    """A pod that no scheduler has placed takes the room: when the victim is gone, the pod fits
    nowhere, and no room can be made for it."""
    guest = pending("guest", 5, 1000, node_name="n1")
    world = with_kubelets(claimed(pending("c", 10, 100), user=later(guest, 1000)), "n1")
    play(world)
    assert (node_of(world, "c"), nominated(world)) == ("", "")


@pytest.mark.spec("INV-26")
def test_a_scheduler_that_does_not_clear_it_is_found() -> None:
    """In the same cluster, by its name and that of the pod."""
    (mutant,) = (each for each in MUTANTS if each.name == "vain-hopes")
    killed = hunt(mutant, runs_max=5)
    where = "is still nominated to n1, where it waits for no pod to go"
    assert killed.said == f"{NAME}: pods/default/vip {where}"
    assert not killed.others


@pytest.mark.spec("INV-26", "CA-10")
@each_row("goes_too", [False, True])
def test_a_nomination_to_a_node_that_is_gone_lasts_as_long_as_the_victim(goes_too: bool) -> None:
    """That a node goes moves no pod (kubernetes#85677). That its pods are removed does: then the
    pod is tried again, and its nomination cleared."""

    async def user(client: Client) -> None:
        await client.sleep(1000)
        await client.ask(Operation("delete", "nodes", "n1"))
        if goes_too:
            await client.sleep(5000)
            await delete(client, "a", grace_s=0)

    world = claimed(pending("c", 10, 100), user=user)
    play(world)
    assert nominated(world) == ("" if goes_too else "n1")


@pytest.mark.spec("INV-26", "SCH-69")
def test_a_nomination_that_could_not_be_cleared_is_left_behind() -> None:
    """The API server has refused the patch that clears it, and it is not sent again."""
    guest = pending("guest", 5, 1000, node_name="n1")
    world = with_kubelets(claimed(pending("c", 10, 100), user=later(guest, 1000)), "n1")
    world.allow(ServerError(NAME, code=403))
    # The second patch of its status is the one that clears the nomination.
    play(world, f"fault * server_error {NAME} patch/status pods/default/c#2")
    assert nominated(world) == "n1"


@pytest.mark.spec("INV-26", "SCH-99")
def test_a_preemption_that_is_broken_off_leaves_the_nomination_of_the_one_before() -> None:
    """A pod takes the room that was made first; the delete of another victim is lost, and nothing
    lets the pod be tried once more."""
    guest = pending("guest", 3, 1000, node_name="n1")
    world = cluster(there("a", 6), there("b", 4, 50), pending("c", 6, 100), user=later(guest, 1000))
    world.start(PodTerminator("kubelets"))  # it would refuse no pod
    world.claim(NoNominationIsLeftOver())
    world.allow(LoseRequest(NAME))
    lost = "delete pods/default/b"
    play(world, f"fault * lose_request *{lost}*", late=(f"serve {NAME}/main {lost}*",))
    assert nominated(world) == "n1"
    assert pod_of(world, "a") is None
    assert not pod_of(world, "b").meta.is_terminating


@pytest.mark.spec("INV-26", "SCH-74")
@each_row("why", ["Never", "switched off"])
def test_a_pod_that_may_not_preempt_keeps_what_it_was_given(why: str) -> None:
    """No cycle looks at its nomination."""
    pod = pending("c", 10, 100, preemption_policy="Never" if why == "Never" else "")
    given = attrs.evolve(pod, status=attrs.evolve(pod.status, nominated_node_name="n1"))
    off = {"disable_preemption": "on" if why == "switched off" else "off"}
    world = cluster(there("a", 6), given, switches=off)
    world.claim(NoNominationIsLeftOver())
    play(world)
    assert nominated(world) == "n1"


@pytest.mark.spec("INV-26", "SCH-27")
def test_a_nomination_that_came_after_the_last_attempt_is_not_judged() -> None:
    """Somebody else has written it; a change of a status lets no pod be tried again. One that was
    there at the attempt is cleared."""

    async def user(client: Client, name: str) -> None:
        await client.sleep(1000)
        status = {"status": {"nominatedNodeName": "n1"}}
        pod = pending(name)
        await client.patch(pod, status, subresource="status")

    world = claimed(pending("c", 10), user=partial(user, name="c"))
    play(world)
    assert nominated(world) == "n1"
    pod = pending("c", 10)
    early = attrs.evolve(pod, status=attrs.evolve(pod.status, nominated_node_name="n1"))
    world = claimed(early)
    play(world)
    assert nominated(world) == ""


@pytest.mark.spec("INV-26", "SCH-43")
@each_row(("restart_after_ms", "node"), [(None, "n1"), (60_000, "")])
def test_nothing_is_claimed_while_the_scheduler_is_down(
    restart_after_ms: int | None, node: str
) -> None:
    """It crashes before it is told that its victim is gone. A later life clears the nomination."""
    guest = pending("guest", 5, 1000, node_name="n1")
    world = with_kubelets(claimed(pending("c", 10, 100), user=later(guest, 1000)), "n1")
    world.allow(Crash(NAME, restart_after_ms=restart_after_ms))
    play(world, "serve user/main create pods/default/guest", f"fault * crash {NAME}*")
    assert nominated(world) == node
