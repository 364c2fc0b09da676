"""Ping-pong: who displaced whom, round and round, until somebody outside wants something."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest

from actors.kubelet.proving_grounds.crowded_node import crowded_node
from actors.scheduler.invariants import NoPingPong
from actors.scheduler.invariants.progress.displacements import Displaced, displacements
from testbed import Evidence, always
from testbed.choosers.calm import Calm
from testbed.client.client import Client
from testbed.objects import Owner, Pod
from testbed.world.scenario import find, of
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.scheduling import cluster, pending, pod_of, there
from tests.shared.stage import world_of

Deeds = Sequence[tuple[str, str] | str]
"""Which pod goes for which other, and is created again at once; or a pod that comes from outside.
"""


async def do(deeds: Deeds, node: str, every_ms: int, client: Client) -> None:
    """Do what a scheduler and a controller would, one deed after another."""
    for deed in deeds:
        await client.sleep(every_ms)
        if isinstance(deed, str):
            await client.create(there(deed, node=node))
            continue
        victim, by = deed
        facts = {"pod": f"pods/default/{by}", "preemption": {"chosen": node}}
        pod = await client.get(Pod, victim)
        because = client.record("cycle", facts)
        await client.delete(pod, whatever_it_was=True, because=because)
        await client.create(there(victim, node=node if victim != "far" else "n2"))


def said(*deeds: tuple[str, str] | str, every_ms: int = 1000) -> list[str]:
    """What the claim says of those deeds, on one node."""
    world = world_of(puppet=partial(do, deeds, "n1", every_ms))
    world.add(*(there(name) for name in ("a", "b", "c")), there("far", node="n1"))
    world.claim(NoPingPong())
    return [each.said for each in world.run(Calm(), driver="direct").violations]


FOR_C = "pods/default/a went from n1 for pods/default/c"


@pytest.mark.spec("INV-20")
def test_a_workload_that_goes_again_after_it_came_again_makes_a_round() -> None:
    """Though the pod that it goes for is the same one all the time."""
    assert said(("a", "c"), ("a", "c")) == [
        f"a round of preempt in 1,000 ms, and nobody outside wanted it: {FOR_C}, then {FOR_C}"
    ]


@pytest.mark.spec("INV-20", "INV-21")
def test_a_round_is_told_from_who_goes_first_to_who_goes_first() -> None:
    """Two pods that displace each other, and three."""
    for_b = "pods/default/a went from n1 for pods/default/b"
    for_a = "pods/default/b went from n1 for pods/default/a"
    assert said(("a", "b"), ("b", "a")) == [], "who went has come, but nothing comes back yet"
    assert said(("a", "b"), ("b", "a"), ("a", "b")) == [
        "a round of preempt in 2,000 ms, and nobody outside wanted it: "
        f"{for_b}, then {for_a}, then {for_b}"
    ]
    (three,) = said(("a", "b"), ("c", "a"), ("b", "c"), ("a", "b"))
    assert three.count("went from n1") == 4
    (apart,) = said(("a", "b"), ("c", "far"), ("a", "b"))
    assert "pods/default/c" not in apart, "what went meanwhile has nothing to do with it"


@pytest.mark.spec("INV-20")
def test_no_round_without_a_cause_or_on_another_node() -> None:
    """A pod that goes once; two that go one after the other; one that was elsewhere before."""
    assert said(("a", "c"), ("b", "c")) == []
    assert said(("far", "c"), ("far", "c")) == [], "the second time it went from n2"
    assert len(said(("far", "c"), ("far", "c"), ("far", "c"))) == 1


@pytest.mark.spec("INV-20")
def test_what_somebody_outside_wants_ends_a_round() -> None:
    """A pod that nobody made room for is created: from then on it counts anew. One that is created
    in place of a displaced one is no wish."""
    assert said(("a", "c"), "new", ("a", "c")) == []
    assert len(said(("a", "c"), "new", ("a", "c"), ("a", "c"))) == 1


@pytest.mark.spec("INV-20")
def test_a_slow_round_is_called_so_and_a_long_one_is_cut_short() -> None:
    """From two minutes on, and with more than four displacements."""
    (slow,) = said(("a", "c"), ("a", "c"), every_ms=120_001)
    assert slow.startswith("slowly, a round of preempt in 120,001 ms, and nobody outside wanted it")
    (long,) = said(("a", "b"), ("c", "a"), ("far", "c"), ("b", "far"), ("a", "b"))
    assert long.count("went from") == 4
    assert ", then …, then " in long


@pytest.mark.spec("INV-20")
def test_two_pods_of_one_workload_that_go_for_one_pod_are_no_round() -> None:
    """The second was there before the first went."""
    owner = Owner("apps/v1", "ReplicaSet", "web", "uid-of-web", controller=True)
    pods = [there(f"web-{n}", 5, grace_s=0).with_meta(owners=(owner,)) for n in (1, 2)]
    world = cluster(*pods, pending("c", 10, 100))
    world.claim(NoPingPong())
    verdict = world.run(Calm(), driver="direct")
    assert verdict.is_held, str(verdict)
    assert (pod_of(world, "web-1"), pod_of(world, "web-2")) == (None, None)


@pytest.mark.spec("INV-20", "INV-21", "SCH-111")
@each_row(
    ("name", "kinds", "in_ms", "first"),
    [
        ("hostile_schedulers", "preempt", "1,000", ("batch-", " for pods/default/web-")),
        ("preemption_loop", "preempt", "5,000", ("batch-", " for pods/default/important")),
        ("given_away", "preempt", "10,000", ("quick-", " for pods/default/urgent")),
        ("pressure_pingpong", "pressure", "30,000", ("whole-", " went from n1")),
    ],
)
def test_the_rounds_of_the_scenarios_are_found(
    name: str, kinds: str, in_ms: str, first: tuple[str, str]
) -> None:
    """Of schedulers that are hostile, or know nothing of each other's nominations; of a Rescheduler
    that nominates no pod; of a kubelet that relieves a node which its scheduler fills again."""
    recipe = find(name)

    def claimed(world: World) -> None:
        recipe.build(world, guard=False)
        world.goes_on = True
        world.limit(turns_max=1000)
        world.claim(NoPingPong())

    violations = of(claimed, "claimed").world().run(Calm(), driver="direct").violations
    (told,) = (each.said for each in violations if each.invariant == NoPingPong.name)
    head, _, tale = told.partition(": ")
    assert head == f"a round of {kinds} in {in_ms} ms, and nobody outside wanted it"
    went, by = first
    for each in tale.split(", then "):
        assert each.startswith(f"pods/default/{went}")
        assert by in each
        assert (" for " in each) is (kinds != "pressure")


@pytest.mark.spec("INV-20")
def test_the_kinds_are_told_by_what_a_write_follows_from() -> None:
    """A kubelet that makes room for what it admits, and YuniKorn."""
    seen: list[Displaced] = []

    def look(see: Evidence) -> None:
        seen.extend(displacements(see))

    def admitting(world: World) -> None:
        crowded_node(world)
        world.claim(always(look))

    def yielding(world: World) -> None:
        find("daemonset_preemption").build(world, guard=True)
        world.claim(always(look))

    told: list[list[tuple[str, str, str]]] = []
    for build in (admitting, yielding):
        seen.clear()
        of(build, "seen").world().run(Calm(), driver="direct")
        told.append([(each.kind, each.pod.key[13:], each.by[13:18]) for each in seen])
    assert told == [
        [
            ("admit", "tiny", "highe"), ("admit", "mid", "high"), ("admit", "higher", "top"),
            ("admit", "high", "top"), ("admit", "low", "highe"),
        ],
        [("yk", "batch", "agent")],
    ]  # fmt: skip
