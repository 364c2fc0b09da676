"""The claims about YuniKorn: they hold of it, each is violated, and each kills its mutants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest

from actors.yunikorn.invariants import (
    BooksBalance,
    CoreAgreesWithKubernetes,
    RequiredAsksAreServed,
    VictimsAreFair,
    yunikorn_claims,
)
from actors.yunikorn.messages import PREEMPTED, ReleasedAllocation
from actors.yunikorn.mutants import MUTANTS
from actors.yunikorn.proving_ground import shared_nodes
from testbed.choosers.calm import Calm
from testbed.client.client import Client
from testbed.faults.crash import Crash
from testbed.faults.lose_reply import LoseReply
from testbed.faults.lose_request import LoseRequest
from testbed.faults.partition import Partition
from testbed.invariant import Invariant
from testbed.objects import Map
from testbed.testing.mutant import Mutant, hunt
from testbed.turns.found import MISSING
from testbed.world.scenario import of
from testbed.world.world import World
from tests.each_row import each_row
from tests.models.worlds.cores import NODE, books, daemons, node_of_y1, yunikorns
from tests.shared.nodes import breaches

FAULTS = (
    Crash("yunikorn", restart_after_ms=500), Crash("yunikorn-core", restart_after_ms=700),
    LoseReply("yunikorn"), LoseRequest("yunikorn"), Partition("yunikorn", for_ms=20_000),
)  # fmt: skip


def shared(world: World) -> None:
    """The shared nodes, with YuniKorn alone."""
    shared_nodes(world)


def stricken(world: World) -> None:
    """The same with another scheduler, and faults."""
    shared_nodes(world, has_rival=True, is_stricken=True)
    world.allow(*FAULTS)


def flapping(world: World) -> None:
    """The same with a node that goes and comes back."""
    shared_nodes(world, has_rival=True, flaps=True)


def elder(world: World) -> None:
    """The shared nodes with version 1.1, and faults; it may let a pod wait (YK-34)."""
    shared_nodes(world, profile="k8s-1.26", is_stricken=True)
    world.allow(*FAULTS)


def written(world: World) -> None:
    """The same as the design document has it."""
    shared_nodes(world, profile="seed", has_rival=True, is_stricken=True)
    world.allow(*FAULTS)


@pytest.mark.spec("INV-24", "INV-42", "INV-43", "YK-1", "YK-3", "YK-30")
@pytest.mark.parametrize("ground", [shared, stricken, flapping, elder, written])
@pytest.mark.parametrize("runs_max", [4, pytest.param(700, marks=pytest.mark.long)])
def test_yunikorn_does_as_it_owes(ground: Callable[[World], None], runs_max: int) -> None:
    """Whatever is late, lost or crashes, and whatever people pick."""
    assert breaches(of(ground), runs_max, seed=0) == []


@pytest.mark.spec("INV-42", "INV-43")
@each_row("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_each_bug_is_found_by_its_claim(mutant: Mutant) -> None:
    """Within sixty Runs; most in the calm one."""
    assert hunt(mutant, runs_max=60).is_killed


# -- each claim is violated -----------------------------------------------------------------------


def said(claim: Invariant, spoil: Callable[[Any], None]) -> str:
    """What a claim says of GT-Y1 when the books are spoiled just before the daemon pod is there."""

    async def spoiler(client: Client) -> None:
        await client.sleep(39_000)
        spoil(books(world))

    world = node_of_y1((40_000, daemons()), user=spoiler, profile="k8s-modern")
    world.claim(claim)
    verdict = world.run(Calm(), driver="direct")
    return verdict.violations[0].said if verdict.violations else ""


def spoil_node(given: Any) -> None:
    """A cpu is left that nobody has given back."""
    given.nodes[NODE].available = Map({**given.nodes[NODE].available, "cpu": 1000})


def spoil_sum(given: Any) -> None:
    """A cpu more is allocated than the pods hold."""
    node = given.nodes[NODE]
    node.allocated = Map({**node.allocated, "cpu": node.allocated["cpu"] + 1000})


def spoil_queue(given: Any) -> None:
    """A queue holds what nobody has."""
    given.root.allocated = Map(cpu=1)


def spoil_preempting(given: Any) -> None:
    """And is to get back what nobody gives."""
    given.root.preempting = Map(cpu=1)


def spoil_place(given: Any) -> None:
    """An application believes its pod elsewhere."""
    next(iter(given.apps["driven"].allocations.values())).node = "m"


@pytest.mark.spec("INV-42")
@each_row(
    ("spoil", "wrong"),
    [
        (spoil_node, "n has {'cpu': 1000, 'memory': 0, 'pods': 104} left of "),
        (spoil_sum, "n has allocated "),
        (spoil_queue, "root holds {'cpu': 1}"),
        (spoil_preempting, "root is to get {'cpu': 1}"),
        (spoil_place, "its application and m disagree on whether "),
    ],
)
def test_books_that_do_not_balance_are_found(spoil: Callable[[Any], None], wrong: str) -> None:
    """At the first message that the core answers."""
    assert wrong in said(BooksBalance(), spoil)


def free(given: Any, name: str, ask: str = "") -> None:
    """Release the allocation of that pod for an ask."""
    apps = given.apps.values()
    every = {each.request.pod: each.key for app in apps
             for each in (*app.asks.values(), *app.allocations.values())}  # fmt: skip
    key = every[f"pods/default/{name}"]
    given.to_shim.append(ReleasedAllocation(key, PREEMPTED, "", ask and every[ask]))


@pytest.mark.spec("INV-42", "YK-15", "YK-16")
@each_row(
    ("spec", "wrong"),
    [
        ({"required_node": NODE}, "is a DaemonSet pod"),
        ({"priority": 1}, "is more important than"),
        ({}, "leave too little cpu"),
    ],
)
def test_victims_against_the_rules_are_found(spec: dict[str, Any], wrong: str) -> None:
    """A DaemonSet pod, a pod of a higher priority, and too few of them."""

    async def spoiler(client: Client) -> None:
        await client.sleep(40_050)
        given = books(world)
        (victim,) = given.apps["driven"].allocations.values()
        victim.request = attrs.evolve(victim.request, **spec)
        (ask,) = given.apps["daemons-x"].asks.values()
        ask.has_triggered = True
        free(given, "d1", ask.request.pod)

    world = node_of_y1((40_000, daemons()), user=spoiler, profile="k8s-modern")
    world.claim(VictimsAreFair())
    (violation,) = world.run(Calm(), driver="direct").violations
    assert wrong in violation.said


@pytest.mark.spec("INV-43")
@each_row(
    ("spoil", "wrong"),
    [
        (lambda given: given.nodes.pop(NODE), "knows the nodes []"),
        (lambda given: given.nodes[NODE].allocations.popitem(), "has the allocations"),
        (lambda given: given.nodes[NODE].foreign.update(a=1), "has the foreign pods ['a']"),
        (lambda given: given.apps["batch"].asks.update(a=1), "is asked for ['a']"),
    ],
)
def test_books_that_disagree_with_kubernetes_are_found(
    spoil: Callable[[Any], None], wrong: str
) -> None:
    """Nodes, allocations, foreign pods and asks, each at rest."""

    async def spoiler(client: Client) -> None:
        await client.sleep(1000)
        spoil(books(world))

    world = node_of_y1(user=spoiler)
    world.claim(CoreAgreesWithKubernetes())
    (violation,) = world.run(Calm(), driver="direct").violations
    assert wrong in violation.said


@pytest.mark.spec("INV-24")
@each_row("victims", [False, True])
def test_a_daemon_pod_that_waits_for_nothing_is_found(victims: bool) -> None:
    """Its ask was lost. There is room on the empty node; on the full one, if others go."""

    async def loser(client: Client) -> None:
        await client.sleep(1000)
        books(world).put = lambda request: None

    claim = RequiredAsksAreServed(victims=victims)
    world = node_of_y1((40_000, daemons()), user=loser, pods=None if victims else ())
    world.claim(claim)
    (violation,) = world.run(Calm(), driver="direct").violations
    assert violation.invariant == claim.name
    pod, node = violation.about.keys
    assert (pod.partition("/")[0], node, violation.reason) == ("pods", "nodes/n", MISSING)
    assert "waits for n, which has room for it" in violation.said


def test_the_claims_are_all_there() -> None:
    """Each has a name of its own, and a World with YuniKorn can claim them all."""
    names = [claim.name for claim in yunikorn_claims(alone=True)]
    assert len(set(names)) == 5
    world = node_of_y1(pods=(yunikorns("a", 1),))
    world.claim(*yunikorn_claims(alone=True))
    assert world.run(Calm(), driver="direct").is_held
