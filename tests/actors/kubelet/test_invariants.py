"""The claims about kubelets hold, and each of them finds the bugs that it is for."""

from __future__ import annotations

from functools import partial
from typing import Any

import attrs
import pytest

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Runtime
from actors.kubelet.invariants import (
    NodesAreNotOverbooked,
    NodesRunWhatFits,
    NoPodRunsTwice,
    kubelet_claims,
)
from actors.kubelet.mutants import MUTANTS
from actors.kubelet.proving_grounds.busy_nodes import busy_nodes
from testbed.client.client import Client
from testbed.faults.crash import Crash
from testbed.faults.lose_reply import LoseReply
from testbed.faults.partition import Partition
from testbed.faults.server_error import ServerError
from testbed.objects import Affinity, LabelSelector, Map, Node, Pod
from testbed.objects.affinity import PodAffinity, PodAffinityTerm
from testbed.objects.pod import Port
from testbed.store.endpoint import Operation
from testbed.testing.mutant import Mutant, hunt
from testbed.testing.seek import choosers
from testbed.turns.found import TOO_MANY, About
from testbed.turns.verdict import Verdict
from testbed.world.scenario import of, play_runs
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.nodes import KUBELET, at, bind, bound, delete, node_world
from tests.shared.stage import Cued, Puppet

HOSTNAME = "kubernetes.io/hostname"


def without_faults(world: World) -> None:
    """The proving ground as it is."""
    busy_nodes(world)


def with_faults(world: World) -> None:
    """The proving ground, where the kubelet of the first node may crash and be cut off."""
    busy_nodes(world)
    world.allow(
        Crash(KUBELET, restart_after_ms=3000), Partition(KUBELET, for_ms=30_000),
        LoseReply(KUBELET), ServerError(KUBELET),
    )  # fmt: skip


def breaches(runs_max: int, seed: int) -> list[str]:
    """What breaks in so many Runs, half of them with faults."""
    found: list[str] = []

    def look(world: World) -> bool:
        assert world.verdict is not None
        if not world.verdict.is_held:
            found.append(str(world.verdict))
        return not found

    for build in (without_faults, with_faults):
        left = runs_max // 2
        one_deviation, *sampled, walk = choosers(left, seed)
        for chooser, most in (*sampled, one_deviation, walk):
            runs = min(most, left)
            left -= play_runs(of(build), chooser, look, runs_max=runs, driver="direct")
    return found


@pytest.mark.spec("INV-5", "INV-7", "INV-8", "INV-30", "KUB-17", "KUB-21")
def test_what_is_claimed_of_kubelets_holds() -> None:
    """Pods crash, complete, are deleted by force and come back; kubelets crash and are cut off."""
    assert breaches(24, 1) == []


@pytest.mark.long
@pytest.mark.spec("INV-5", "INV-7", "INV-8", "INV-30", "KUB-17", "KUB-21")
def test_what_is_claimed_of_kubelets_holds_in_four_thousand_runs() -> None:
    """The same, for longer."""
    assert breaches(4000, 2) == []


@pytest.mark.parametrize("mutant", [pytest.param(m, id=m.name) for m in MUTANTS])
def test_each_mutant_is_killed_by_its_claim(mutant: Mutant) -> None:
    """By the claim that must find it, within the Runs of a hunt."""
    killed = hunt(mutant)
    assert killed.is_killed, f"{killed.runs} runs, and {killed.others}"


def test_every_claim_kills_a_mutant() -> None:
    """But the one that judges schedulers, which fires in a test of its own."""
    killers = {mutant.claim for mutant in MUTANTS}
    assert {claim.name for claim in kubelet_claims()} - killers == {"nodes_are_not_overbooked"}


# -- a pod that runs twice ------------------------------------------------------------------------


def two_nodes(user: Any) -> World:
    """Two nodes, and somebody who does something there."""
    world = World("nodes")
    world.serve(ApiServer)
    for name in ("n1", "n2"):
        world.serve(partial(Runtime, node=name))
        labels = {HOSTNAME: name}
        world.add(Node.of(name, cpu_m=1000, memory=1000, labels=labels))
        world.start(Kubelet(f"kubelet-{name}", name))
    world.start(Puppet("user", user))
    return world


def start_there(pod: Pod) -> Operation:
    """What makes the runtime of the other node run that pod, too."""
    meta = pod.meta
    return Operation("start", "pods", meta.name, meta.namespace, pod, uid=meta.uid,
                     endpoint="runtime-n2")  # fmt: skip


def verdict_of(world: World, *cues: str) -> Verdict:
    """Play it calmly, but for the cues."""
    return world.run(Cued(*cues), driver="direct")


@pytest.mark.spec("INV-5")
def test_one_uid_on_two_nodes_is_noticed() -> None:
    """As soon as the next containers start anywhere."""

    async def user(client: Client) -> None:
        pod = await client.create(bound("a"))
        await client.sleep(1000)
        await client.ask(start_there(pod))
        await client.create(bound("b"))

    world = two_nodes(user)
    world.claim(NoPodRunsTwice())
    (violation,) = verdict_of(world).violations
    assert violation.said == "pods/default/a runs on n1 (user@api-1) and on n2 (user@api-1)"
    assert violation.about == About(("pods/default/a", "nodes/n1", "nodes/n2"))
    assert violation.reason == TOO_MANY


@pytest.mark.spec("INV-5", "KUB-21", "KUB-45")
def test_a_pod_that_is_deleted_by_force_may_run_twice_and_is_noted() -> None:
    """While its kubelet is cut off; it is ended when the kubelet is back."""
    verdict = deleted_by_force()
    assert verdict.is_held, str(verdict)
    assert verdict.note.endswith(
        "allowed_double_run: pods/default/a ran on n1 (user@api-1) and on n2 (user@api-2); "
        "user@api-1 was removed by user"
    )


@pytest.mark.spec("INV-5", "KUB-45")
def test_a_search_counts_the_runs_in_which_a_pod_may_run_twice() -> None:
    """It shows no notes, but a word for what was allowed; a Run without it has none."""

    async def user(client: Client) -> None:
        await client.create(bound("a"))

    forced, quiet = force_world(), two_nodes(user)
    quiet.claim(*kubelet_claims())
    assert verdict_of(forced, *CUT_OFF).is_held
    assert verdict_of(quiet).is_held
    assert (forced.judge.allowed, quiet.judge.allowed) == (["allowed_double_run"], [])


@pytest.mark.spec("INV-5", "KUB-45")
def test_a_strict_claim_allows_no_double_run() -> None:
    """Not even the one that is noted else; and all its other words stay."""
    (violation,) = deleted_by_force(strict=True).violations
    assert violation.about.actors == ("user",)
    assert violation.invariant == "no_pod_runs_twice"
    assert violation.said == (
        "pods/default/a runs on n1 (user@api-1) and on n2 (user@api-2); "
        "user@api-1 was removed by user"
    )


CUT_OFF = ("wake user/main *", f"fault * partition {KUBELET}")


def deleted_by_force(**given: bool) -> Verdict:
    """A pod is deleted by force while its kubelet is cut off, and is created on another node."""
    return verdict_of(force_world(**given), *CUT_OFF)


def force_world(**given: bool) -> World:
    """A World in which a pod is deleted by force, and its kubelet may be cut off before."""

    async def user(client: Client) -> None:
        await client.create(bound("a"))
        await client.sleep(1000)
        await delete(client, "a", grace_s=0)
        await client.create(Pod.of("a", node_name="n2"))

    world = two_nodes(user)
    world.allow(Partition(KUBELET, for_ms=60_000))
    world.claim(*kubelet_claims(**given))
    return world


@pytest.mark.spec("INV-5", "KUB-21")
def test_what_is_let_go_by_force_may_be_removed_by_any_write() -> None:
    """Here by the kubelet's own, of the status: the one who let it go has removed it."""

    async def user(client: Client) -> None:
        await client.create(bound("a"))
        await client.sleep(1000)
        wrong = {"status": {"phase": "Pending"}}
        await client.patch(Pod.of("a"), wrong, how="strategic", subresource="status")
        await delete(client, "a", grace_s=0)
        await client.create(Pod.of("a", node_name="n2"))

    world = two_nodes(user)
    world.claim(NoPodRunsTwice())
    verdict = world.run(Cued(late=("serve user/main delete.2 *",)), driver="direct")
    assert verdict.is_held, str(verdict)
    assert verdict.note.endswith("user@api-1 was removed by user")


# -- a node that is overbooked --------------------------------------------------------------------


def apart(name: str) -> Pod:
    """A pod that is to be on another node than those like it."""
    term = PodAffinityTerm(HOSTNAME, LabelSelector(Map(app="a")))
    affinity = Affinity(pod_anti_affinity=PodAffinity(required=(term,)))
    return Pod.of(name, labels={"app": "a"}, cpu_m=100, affinity=affinity)


def with_port(name: str) -> Pod:
    """A pod that takes port 80 of its node."""
    pod = Pod.of(name, cpu_m=100)
    ports = (Port(80, host_port=80),)
    main = attrs.evolve(pod.spec.containers[0], ports=ports)
    return attrs.evolve(pod, spec=attrs.evolve(pod.spec, containers=(main,)))


@pytest.mark.spec("INV-7", "INV-8")
@each_row(("pods", "said"), [
    ((Pod.of("a", cpu_m=600), Pod.of("b", cpu_m=600)),
     "n1 has cpu 1000, and runs a, b, which ask for 1200"),
    ((with_port("a"), with_port("b")),
     "pods/default/a and pods/default/b run on n1 with port 80"),
    ((apart("a"), apart("b")),
     "pods/default/b must be apart from pods/default/a, by kubernetes.io/hostname"),
])  # fmt: skip
@each_row("binders", [1, 2])
def test_a_node_is_overbooked_only_by_two_who_do_not_know_of_each_other(
    pods: tuple[Pod, ...], said: str, binders: int
) -> None:
    """One binder is at fault; two are a race of schedulers, which is noted."""

    async def first(client: Client) -> None:
        for pod in pods:
            await client.create(pod)
        await bind(client, "a")
        if binders == 1:
            await bind(client, "b")

    async def second(client: Client) -> None:
        await client.sleep(1000)
        await bind(client, "b")

    world = two_nodes(first)
    if binders == 2:
        world.start(Puppet("beta", second))
    world.claim(NodesAreNotOverbooked())
    verdict = verdict_of(world)
    if binders == 1:
        assert verdict.violations[0].said == f"{said}, all by user"
    else:
        assert verdict.is_held, str(verdict)
        assert f"scheduler_race: {said}" in verdict.note


@pytest.mark.spec("INV-7")
def test_a_node_may_shrink_under_what_it_runs() -> None:
    """What was admitted to it runs on, and is not judged by what the node has now."""

    async def shrink(client: Client) -> None:
        node = await client.get(Node, "n1")
        small = attrs.evolve(node, status=Node.of("n1", cpu_m=500).status)
        await client.update(small, subresource="status")
        await client.create(bound("c", 100))

    world = node_world(bound("a"), bound("b"), user=at((1000, shrink)), is_judged=False)
    world.claim(NodesRunWhatFits(), NodesAreNotOverbooked())
    assert verdict_of(world).is_held
