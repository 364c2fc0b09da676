"""Shown: a version of an object has what a page needs, and no noise."""

from __future__ import annotations

from typing import Any

import attrs

from testbed.maps.shown import FIELDS_MAX, VALUE_MAX, version, version_of
from testbed.objects import Lease, Map, Node, Note, Pod
from testbed.objects.affinity import Taint
from testbed.store.change import Entry


def pod(**status: Any) -> Pod:
    """A pod of 300 m that is bound to n1."""
    made = Pod.of("shop/web", cpu_m=300, node_name="n1", priority=7)
    return attrs.evolve(made, status=attrs.evolve(made.status, **status))


def test_a_pod_says_where_it_is_and_how() -> None:
    """Phase, node, priority, what it asks for."""
    shown = version_of("pods/shop/web", Entry("pods/shop/web", pod(phase="Running"), 3, 5, 2))
    assert shown == {
        "key": "pods/shop/web", "kind": "pods", "name": "web", "rv": 5,
        "said": "Running on n1", "state": "running", "node": "n1", "cpu": 300,
        "fields": [
            ["status.phase", "Running"], ["spec.nodeName", "n1"], ["spec.priority", "7"],
            ["cpu", "300 m"],
        ],
    }  # fmt: skip


def test_a_pod_that_terminates_says_so() -> None:
    """Also one that is over, or that a place was made for."""
    going = pod(phase="Running").with_meta(deleted_ms=30_000)
    assert version("pods/shop/web", going)["said"] == "Running on n1, terminating"
    assert version("pods/shop/web", going)["state"] == "terminating"
    assert version("pods/shop/web", pod(phase="Failed"))["state"] == "over"
    waiting = Pod.of("shop/web")
    waiting = attrs.evolve(waiting, status=attrs.evolve(waiting.status, nominated_node_name="n2"))
    assert version("pods/shop/web", waiting)["said"] == "Pending, nominated n2"
    assert version("pods/shop/web", waiting)["state"] == "pending"


def test_a_node_says_what_it_has() -> None:
    """Its allocatable cpu, and what keeps pods away."""
    taint = Taint("dedicated", "gpu", "NoSchedule")
    shown = version("nodes/n1", Node.of("n1", cpu_m=3000, unschedulable=True, taints=(taint,)))
    assert (shown["cpu"], shown["kind"], shown["name"]) == (3000, "nodes", "n1")
    assert shown["said"] == "3000 m of cpu, unschedulable, taint dedicated"
    assert ["spec.taints", "dedicated=gpu:NoSchedule"] in shown["fields"]


def test_other_kinds_say_their_fields_by_dotted_paths() -> None:
    """Twelve at most, cut to eighty letters, without uid and revision."""
    data = Map({f"key-{n:02}": "x" * 100 for n in range(20)})
    shown = version("notes/default/n", Note("n", data=data))
    assert len(shown["fields"]) == FIELDS_MAX
    assert shown["fields"][0] == ["data.key-00", "x" * (VALUE_MAX - 1) + "…"]
    assert len(shown["said"]) == VALUE_MAX
    lease = version("leases/default/l", Lease("l").with_meta(uid="u-1"))
    assert lease["fields"] == []
