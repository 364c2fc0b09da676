"""How many nodes of each group pending pods need; a group that is like another is not packed."""

from __future__ import annotations

from typing import Any

import pytest

from actors.autoscaler.expander import Expansion
from actors.autoscaler.scale_up.options import Expansions, grouped, helped
from actors.autoscaler.simulation.packer import RoundRobin
from actors.autoscaler.simulation.simulation import Simulation
from actors.autoscaler.templates import NodeTemplate
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import info_of
from testbed.objects import Map, Meta, Node, Owner, Pod
from testbed.objects.affinity import (
    Affinity,
    PodAffinity,
    PodAffinityTerm,
    Toleration,
    TopologySpreadConstraint,
)
from testbed.objects.labels import LabelSelector
from testbed.objects.pod import Container, Port
from tests.each_row import each_row

HOST = "kubernetes.io/hostname"
APART = Affinity(
    pod_anti_affinity=PodAffinity(
        required=(PodAffinityTerm(HOST, LabelSelector(match_labels=Map(app="w1"))),)
    )
)
SPREAD = (TopologySpreadConstraint(1, HOST, "DoNotSchedule", LabelSelector(Map(app="w2"))),)


def pod(number: int, owner: str, cpu_m: int, **spec: Any) -> Pod:
    """A pending pod of that owner."""
    owners = (Owner("apps/v1", "ReplicaSet", owner, owner, controller=True),)
    meta = Meta(f"{owner}-{number}", "default", f"{owner}-{number}", labels=Map(app=owner),
                owners=owners)  # fmt: skip
    return Pod(meta, spec=Pod.of("any", cpu_m=cpu_m, **spec).spec)


PODS = [
    *(pod(n, "w0", 700) for n in range(9)),
    *(pod(n, "w1", 300, affinity=APART) for n in range(5)),
    *(pod(n, "w2", 300, topology_spread=SPREAD) for n in range(5)),
    *(pod(n, "w3", 300, tolerations=(Toleration(operator="Exists"),)) for n in range(5)),
    *(pod(n, "w4", 200, containers=(Container("main", ports=(Port(80, 80),)),)) for n in range(3)),
]
"""Pods that may share a node, and pods that keep apart, are spread, or take one port."""


def template(name: str, cpu_m: int = 2000, zone: str = "a", *daemons: Pod) -> NodeTemplate:
    """What a new node of a group would be."""
    return NodeTemplate(Node.of(name, cpu_m=cpu_m, labels={"zone": zone, HOST: name}), daemons)


def packed(templates: dict[str, NodeTemplate], *, each_anew: bool) -> list[Expansion]:
    """The expansions of these groups, in order; the round robin goes on from one to the next."""
    simulation, round_robin = Simulation([NodeInfo("n1", Node.of("n1", cpu_m=100))]), RoundRobin()
    groups = grouped(map(info_of, PODS))
    found, all_at_once = [], Expansions(simulation, round_robin, 100)
    for name, each in templates.items():
        packing = Expansions(simulation, round_robin, 100) if each_anew else all_at_once
        found.append(packing.of(name, each, helped(name, each, groups, simulation)))
    assert len(simulation.snapshot) == 1
    return found


def told(found: list[Expansion]) -> list[tuple[str, int, list[str]]]:
    """Group, number of nodes, and the pods in their order."""
    return [(each.group, each.nodes, [pod.key for pod in each.pods]) for each in found]


OTHERS = {
    "size": template("other", 2500),
    "labels": template("other", 2000, "b"),
    "pods": template("other", 2000, "a", pod(0, "daemon", 900)),
    "labels of pods": template("other", 2000, "a", pod(0, "w2", 0)),
}


def test_groups_that_are_alike_get_what_each_would_get_by_itself() -> None:
    """Nothing but the name of the group differs from what packing it would have found."""
    templates = {f"g{n}": template(f"g{n}") for n in range(5)}
    assert told(packed(templates, each_anew=False)) == told(packed(templates, each_anew=True))


@each_row("differs", OTHERS)
def test_a_group_that_differs_is_packed_by_itself(differs: str) -> None:
    """Size, labels, and the pods that come with a node tell groups apart."""
    alike = {f"g{n}": template(f"g{n}") for n in range(4)}
    templates = {**alike, "other": OTHERS[differs]}
    found = packed(templates, each_anew=False)
    assert told(found) == told(packed(templates, each_anew=True))
    assert [each.template for each in found] == [*templates.values()]
    assert templates["g0"].looks != templates["other"].looks


def test_the_round_robin_goes_on_where_packing_would_have_ended() -> None:
    """So whoever takes turns on it next begins at the same place."""
    groups, round_robin = grouped(map(info_of, PODS)), RoundRobin()
    packing = Expansions(Simulation(()), round_robin, 100)
    first = packing.of("g0", template("g0"), groups)
    end = round_robin.digest()
    round_robin.go_on(0)
    assert packing.of("g1", template("g1"), groups).pods == first.pods
    assert round_robin.digest() == end != 0


def test_pods_that_keep_apart_get_a_node_each() -> None:
    """What one pod changes for the next that is like it is seen."""
    groups = grouped(info_of(each) for each in PODS if each.spec.affinity == APART)
    found = Expansions(Simulation(()), RoundRobin(), 100).of("g0", template("g0"), groups)
    assert (len(groups), found.nodes) == (1, 5)


def test_a_group_that_is_like_another_is_not_packed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """No node of it is imagined but the one that says whom it helps."""
    made: list[str] = []
    copy = NodeTemplate.copy

    def noted(self: NodeTemplate, name: str) -> NodeInfo:
        made.append(name)
        return copy(self, name)

    monkeypatch.setattr(NodeTemplate, "copy", noted)
    packed({f"g{n}": template(f"g{n}") for n in range(9)}, each_anew=False)
    assert "new:g0:0" in made
    assert [name for name in made if name.startswith("new:g8")] == ["new:g8"]
