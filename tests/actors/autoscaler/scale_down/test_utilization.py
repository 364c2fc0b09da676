"""Utilization: which pods count, which share decides, and when a node is used enough."""

from __future__ import annotations

from fractions import Fraction

import attrs
import pytest

from actors.autoscaler.scale_down.utilization import Share, utilization_of
from testbed.objects import Container, Map, Pod, Quantity, Resources
from tests.models.worlds.idle_nodes import idle_node, info, owned


def cpu_of(*pods: Pod, **how: bool) -> Fraction:
    """The share of the cpu of a node of 4 cores that these pods request, at 1000 s."""
    used = utilization_of(info(idle_node("n1"), *pods), 1_000_000, **how)
    assert used is not None
    return used.cpu.fraction


def test_nothing_of_nothing_is_no_share() -> None:
    """Where daemon pods take all there is, what else is requested is infinitely much."""
    assert Share(1, 0).is_at_least(500)
    assert not Share(0, 0).is_at_least(500)
    assert Share(1, 0).exceeds(Share(9, 1))
    assert not Share(0, 0).exceeds(Share(0, 1))
    assert not Share(5, 1).exceeds(Share(0, 0))
    assert not Share(1, -4).is_at_least(500)
    assert [str(Share(*of)) for of in ((1, 0), (0, 0), (1, 3))] == [
        "+Inf", "NaN", "0.3333333333333333",
    ]  # fmt: skip


@pytest.mark.spec("CA-25")
def test_daemon_pods_count_unless_they_are_ignored() -> None:
    """If they are ignored, the node has less by what they request."""
    daemon, pod = owned("d", "n1", 2000, owner="DaemonSet/ds"), owned("a", "n1", 500)
    assert cpu_of(daemon, pod) == Fraction(5, 8)
    assert cpu_of(daemon, pod, ignore_daemons=True) == Fraction(1, 4)
    mirror = owned("m", "n1", 2000).with_meta(annotations={"kubernetes.io/config.mirror": "x"})
    assert cpu_of(mirror, pod, ignore_mirrors=True) == Fraction(1, 4)
    assert cpu_of(mirror, pod, ignore_daemons=True) == Fraction(5, 8)


def test_only_containers_count() -> None:
    """What init containers request, and the overhead, is left out here."""
    pod = owned("a", "n1", 500)
    init = Container("init", resources=Resources(Map(cpu=Quantity.parse("3"))))
    spec = attrs.evolve(pod.spec, init_containers=(init,), overhead=Map(cpu=Quantity.parse("1")))
    assert cpu_of(attrs.evolve(pod, spec=spec)) == Fraction(1, 8)
