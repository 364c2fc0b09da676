"""Each preemption is a gain: what is bound outweighs what went for it, and there is an end."""

from __future__ import annotations

import pytest

from actors.apiserver import ApiServer
from actors.scheduler import Scheduler
from actors.scheduler.invariants import EachPreemptionIsAGain
from actors.scheduler.mutants import MUTANTS, deciding, more_important
from actors.scheduler.proving_ground import PodTerminator
from actors.scheduler.schedule_one import SchedulingLoop
from testbed.choosers.calm import Calm
from testbed.client.client import Client
from testbed.objects import Node, Owner, PriorityClass
from testbed.testing.mutant import hunt
from testbed.world.scenario import find, of
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.scheduling import (
    NAME,
    PRIORITIES,
    cluster,
    delete,
    node_of,
    pending,
    there,
    with_kubelets,
)
from tests.shared.stage import play


@pytest.mark.spec("INV-22")
@each_row("cpu", [10, 4])
def test_a_more_important_pod_outweighs_all_that_went_for_it(cpu: int) -> None:
    """Also if what went for it asked for more."""
    pods = (there("a", 5, grace_s=5), there("b", 5, 50, grace_s=5), pending("c", cpu, 100))
    world = with_kubelets(cluster(*pods), "n1")
    world.claim(EachPreemptionIsAGain())
    play(world)
    assert node_of(world, "c") == "n1"


@pytest.mark.spec("INV-22")
def test_a_pod_that_is_as_important_is_no_gain() -> None:
    """A scheduler that takes it for more important is found once the pod is bound; the sentence
    names both sides."""
    (mutant,) = (each for each in MUTANTS if each.name == "no-gain")
    said = hunt(mutant, runs_max=5).said
    assert said == (
        "pods/default/quick, pods/default/slow went for pods/default/vip, which is bound, and "
        "nothing more important is there for it"
    )


@pytest.mark.spec("INV-22")
@each_row(("memory", "is_held"), [(3, True), (1, False)])
def test_more_of_one_resource_and_less_of_another_is_no_gain(memory: int, is_held: bool) -> None:
    """Of two pods that are equally important, to a scheduler that takes one for more so."""
    kind = type("Loop", (SchedulingLoop,), {"parts": deciding(more_important)})
    world = World("equals")
    world.serve(ApiServer)
    world.add(PriorityClass("p0", value=0), Node.of("n1", cpu_m=9000, memory=3))
    world.add(there("a", 4, memory=2, grace_s=0), pending("c", 9, memory=memory))
    world.start(PodTerminator("kubelets"), type("Equal", (Scheduler,), {"loop": kind})(NAME))
    world.claim(EachPreemptionIsAGain())
    play(world, is_held=is_held)
    assert node_of(world, "c") == "n1"


@pytest.mark.spec("INV-22", "SCH-98")
@each_row(("priority", "is_held"), [(50, True), (2000, False)])
def test_what_went_is_what_counts_and_not_what_was_meant_to(priority: int, is_held: bool) -> None:
    """The victim is replaced between the decision and the delete, which names no uid."""

    async def user(client: Client) -> None:
        await delete(client, "a", grace_s=0)
        await client.create(there("a", 1, priority, scheduler_name="nobody"))

    world = cluster(there("a", 5), there("b", 5, 2000), pending("c", 5, 1000), user=user)
    world.claim(EachPreemptionIsAGain())
    with_kubelets(world, "n1")
    played = play(
        world, "resume alpha/main queue alpha/ready", "start user/main",
        "serve user/main create pods/default/a", late=("start user/main", "serve alpha/main *"),
        is_held=is_held,
    )  # fmt: skip
    assert node_of(world, "c") == "n1"
    assert [violation.said for violation in played.verdict.violations] == [
        "pods/default/a went for pods/default/c, which is bound, and nothing more important is "
        "there for it"
    ] * (not is_held)


@pytest.mark.spec("INV-22")
def test_room_that_is_made_without_end_is_a_livelock() -> None:
    """A Rescheduler that nominates no pod makes it again and again; no pod of it is ever bound, so
    nothing else would be found."""
    (said,) = _said_of("given_away", EachPreemptionIsAGain())
    assert said == (
        "room was made 16 times, though there were never more than 5 pods: the last time for "
        "pods/default/urgent on n1"
    )
    (sooner,) = _said_of("given_away", EachPreemptionIsAGain(decisions_per_pod=1))
    assert sooner.startswith("room was made 6 times")


def _said_of(name: str, claim: EachPreemptionIsAGain) -> list[str]:
    """What the claim says in the calm Run of a scenario without its guard."""
    recipe = find(name)

    def claimed(world: World) -> None:
        recipe.build(world, guard=False)
        world.goes_on = True
        world.limit(turns_max=5000)
        world.claim(claim)

    violations = of(claimed, "claimed").world().run(Calm(), driver="direct").violations
    return [each.said for each in violations if each.invariant == claim.name]


@pytest.mark.spec("INV-22")
@each_row("is_owned", [False, True])
def test_what_somebody_outside_wants_ends_the_count(is_owned: bool) -> None:
    """Room is made three times where there are two pods at a time: for pods that a user creates, or
    for pods that a controller does, of which none is wanted anew."""
    owner = Owner("apps/v1", "ReplicaSet", "web", "uid-of-web", controller=True)

    async def user(client: Client) -> None:
        for priority in PRIORITIES[1:4]:
            await client.sleep(20_000)
            pod = pending(f"c{priority}", 10, priority, grace_s=0)
            await client.create(pod.with_meta(owners=(owner,)) if is_owned else pod)

    world = with_kubelets(cluster(there("a", 10, grace_s=0), user=user), "n1")
    world.claim(EachPreemptionIsAGain(decisions_per_pod=1))
    violations = play(world, is_held=not is_owned).verdict.violations
    said = "room was made 3 times, though there were never more than 2 pods"
    assert [each.said for each in violations] == [
        f"{said}: the last time for pods/default/c1000 on n1"
    ] * is_owned
