"""Keeping away: a workload does not go back at once to where it was evicted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import pytest
from deciding import a_node, a_pod, snapshot_of

from actors.scheduler.avoid import Evictions, avoiding
from actors.scheduler.filtering import Feasibility
from actors.scheduler.podinfo import info_of
from actors.scheduler.scores import PLACEMENTS
from actors.scheduler.scoring import scores_of
from actors.scheduler.switches import switches_of
from testbed.objects import Node, Owner, Pod


def evicted(name: str, node: str, **more: Any) -> Pod:
    """A pod of a ReplicaSet that its node has evicted."""
    pod = of_set(a_pod(name, on=node, **more))
    return attrs.evolve(pod, status=attrs.evolve(pod.status, phase="Failed", reason="Evicted"))


def of_set(pod: Pod) -> Pod:
    """The same as one of a ReplicaSet."""
    return pod.with_meta(owners=(Owner("apps/v1", "ReplicaSet", "rs", "uid-rs", controller=True),))


@pytest.mark.spec("SCH-108")
@pytest.mark.parametrize("how", ["deprioritise", "exclude"])
def test_a_workload_keeps_away_from_where_it_was_evicted(how: str) -> None:
    """SCH-108, D-21: for so long; if there is no other node it goes back, or waits."""
    now_ms = [0]
    switches = switches_of(given={"avoid_node_after_eviction_ms": "5000", "avoid_how": how})
    evictions = Evictions(5000, lambda: now_ms[0])
    filters, more = avoiding(switches, evictions)
    evictions.note(evicted("v", "n1"))
    evictions.note(a_pod("w", on="n2"))

    def best(pod: Pod, *nodes: Node) -> Sequence[str]:
        snapshot = snapshot_of(*nodes)
        found = Feasibility(info_of(pod), snapshot, filters, {})
        if not found.rows:
            return [str(refusal) for refusal in found.refusals]
        scores = [*PLACEMENTS["least_allocated"], *more]
        return scores_of(info_of(pod), snapshot, found.rows, scores).best

    large, small = a_node("n1", 90), a_node("n2", 2)
    again = of_set(a_pod("v2"))
    assert best(again, large, small) == ("n2",)
    assert best(a_pod("other"), large, small) == ("n1",)
    assert best(again, large) == (("n1",) if how == "deprioritise" else ["n1"])
    now_ms[0] = 5000
    assert best(again, large, small) == ("n1",)


@pytest.mark.spec("SCH-108")
def test_a_workload_is_known_by_its_template_too() -> None:
    """Pods of one template, whoever made them; of one namespace."""
    evictions = Evictions(1000, lambda: 0)
    evictions.note(evicted("v", "n1", labels={"pod-template-hash": "h"}))
    assert evictions.nodes(a_pod("w", labels={"pod-template-hash": "h"})) == {"n1"}
    assert evictions.nodes(a_pod("x/w", labels={"pod-template-hash": "h"})) == frozenset()
    assert evictions.nodes(a_pod("w")) == frozenset()
    assert avoiding(switches_of(), evictions) == ([], [])
