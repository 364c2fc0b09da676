"""overfull: it fires if the pods of a node ask for more than it has, and counts no others."""

from __future__ import annotations

from actors.shared.overfull import overfull
from testbed.objects import Node, Pod
from testbed.world.world import World


def said(*pods: Pod) -> str | None:
    """What is said of n1, with 1000m cpu, and these pods."""
    world = World("test")
    world.add(Node.of("n1", cpu_m=1000), Node.of("n2", cpu_m=1000), *pods)
    return overfull(world.evidence, "n1")


def test_it_says_which_pods_ask_for_how_much() -> None:
    """If it is only a little too much."""
    pods = Pod.of("a", cpu_m=600, node_name="n1"), Pod.of("b", cpu_m=401, node_name="n1")
    assert said(*pods) == "n1 has 1000m cpu, and pods/default/a and pods/default/b ask for 1001m"
