"""double_bind as in a real cluster: both binds are let through, and the kubelet refuses one pod."""

from __future__ import annotations

import pytest

from testbed.choosers.calm import Calm
from testbed.choosers.complete import Complete
from testbed.choosers.uniform import Uniform
from testbed.faults.crash import Crash
from testbed.invariant import always
from testbed.world.scenario import find, play_runs
from testbed.world.world import World
from tests.shared.nodes import no_node_runs_more_than_it_has, pod_of, what_is_over_stays_over

RECIPE = find("double_bind")


def with_kubelets(**switches: str) -> World:
    """The scenario, with a kubelet on each node; it goes on when too much was bound."""
    world = RECIPE.world({"kubelet": "on", **switches})
    world.claim(always(no_node_runs_more_than_it_has), always(what_is_over_stays_over))
    return world


def ends(world: World) -> list[tuple[str, str]]:
    """How each of the two pods ended: phase and reason."""
    return [(pod.status.phase, pod.status.reason) for pod in (pod_of(world, n) for n in "cd")]


def test_all_classes_of_the_pair_are_known() -> None:
    """Two of six overfill the node; when each scheduler has nodes of its own, none of six."""
    for guard, expected in (("off", 2), ("on", 0)):
        chooser, violated = Complete(), 0

        def look(world: World) -> bool:
            nonlocal violated
            assert world.verdict is not None
            violated += world.verdict.is_violated
            return True

        play_runs(RECIPE, chooser, look, runs_max=50, switches={"guard": guard}, driver="direct")
        assert (chooser.is_complete, chooser.classes, violated) == (True, 6, expected)


@pytest.mark.spec("INV-7", "KUB-3", "KUB-8")
def test_the_kubelet_refuses_what_was_bound_in_a_race() -> None:
    """Whatever is chosen, what runs on the node fits it: of two pods that were bound to it one
    runs, and the other is Failed for want of cpu."""
    raced = 0
    for seed in range(60):
        world = with_kubelets()
        verdict = world.run(Uniform(seed), driver="direct")
        said = {violation.invariant for violation in verdict.violations}
        assert said <= {"no_node_is_overcommitted"}, str(verdict)
        is_raced = all(pod_of(world, name).is_bound for name in "cd")
        assert is_raced is bool(said)
        if is_raced:
            raced += 1
            assert sorted(ends(world)) == [("Failed", "OutOfcpu"), ("Running", "")]
    assert raced > 5


@pytest.mark.spec("INV-7", "KUB-43")
def test_it_does_so_after_a_crash_too() -> None:
    """At any time, twice: what it has admitted it finds again."""
    for seed in range(40):
        world = with_kubelets()
        world.allow(Crash("kubelet-n1", restart_after_ms=1000, times_max=2))
        verdict = world.run(Uniform(seed), driver="direct")
        assert {v.invariant for v in verdict.violations} <= {"no_node_is_overcommitted"}
        assert sorted(ends(world)) in (
            [("Failed", "OutOfcpu"), ("Running", "")], [("Pending", ""), ("Running", "")],
        ), str(verdict)  # fmt: skip


def test_with_nodes_of_their_own_both_pods_run() -> None:
    """The guard costs no pod its place."""
    for chooser in (Calm(), *map(Uniform, range(20))):
        world = with_kubelets(guard="on")
        verdict = world.run(chooser, driver="direct")
        assert verdict.is_held, str(verdict)
        assert ends(world) == [("Running", ""), ("Running", "")]
