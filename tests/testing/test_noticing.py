"""Noticing: claims are worth something if they notice that one switch is set otherwise."""

from __future__ import annotations

from actors.apiserver import ApiServer
from actors.scheduler import Scheduler
from testbed.invariant import Evidence, quiescent
from testbed.objects import Node, Pod, PriorityClass
from testbed.testing.noticing import noticed, settings
from testbed.world.scenario import find, of
from testbed.world.world import World


def urgent_is_placed(see: Evidence) -> str | None:
    """Room is made for the urgent pod."""
    entry = see.store.peek("pods/default/urgent")
    assert entry is not None
    return None if entry.value.is_bound else "pods/default/urgent has no node"  # type: ignore[attr-defined]


def nothing_is_said(see: Evidence) -> str | None:
    """Never breached."""
    return None


def crowded(world: World) -> None:
    """An urgent pod comes to a full node."""
    world.serve(ApiServer)
    world.add(PriorityClass("high", value=100), Node.of("n1", cpu_m=1000))
    world.add(Pod.of("low", cpu_m=1000, node_name="n1", grace_s=0))
    world.add(Pod.of("urgent", cpu_m=1000, priority_class_name="high"))
    world.start(Scheduler("default-scheduler"))


def test_the_guard_of_a_pair_is_set_otherwise_first() -> None:
    """That alone is enough, if its race is found."""
    assert next(iter(settings(find("lost_update")))) == ("guard", "off")
    found = noticed(find("lost_update"))
    assert found is not None
    assert (found.switch, found.claim) == ("guard=off", "every_signature_is_kept")
    assert found.said.endswith("had signed, and the list says 'beta'")


def test_without_a_guard_it_is_the_switches_of_its_components() -> None:
    """One after the other, until a claim fires."""

    def claimed(world: World) -> None:
        crowded(world)
        world.claim(quiescent(urgent_is_placed))

    recipe = of(claimed, "claimed")
    assert ("scheduler.disable_preemption", "on") in list(settings(recipe))
    assert not any(name.endswith(".plugins") for name, _ in settings(recipe))
    found = noticed(recipe, runs_max=20)
    assert found is not None
    assert found.switch == "scheduler.disable_preemption=on"
    assert found.said == "pods/default/urgent has no node"


def test_a_scenario_whose_claims_notice_nothing_is_vacuous() -> None:
    """Whatever is set otherwise."""

    def vacuous(world: World) -> None:
        crowded(world)
        world.claim(quiescent(nothing_is_said))

    assert noticed(of(vacuous, "vacuous"), runs_max=1) is None


def test_a_claim_of_every_world_does_not_count() -> None:
    """It notices much, and is none of this scenario's own."""

    def alone(world: World) -> None:
        crowded(world)

    assert noticed(of(alone, "alone"), runs_max=1) is None
