"""Describing: pods, nodes and any other kind, in words and fields."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed.maps.describing import FIELDS_MAX, VALUE_MAX, described
from testbed.objects import Map, Node, Note, Pod
from testbed.objects.affinity import Taint
from testbed.objects.condition import Condition
from testbed.objects.lease import Lease, LeaseSpec
from testbed.objects.meta import Object
from testbed.objects.pod import PodStatus
from tests.each_row import each_row


def shown(value: Object) -> dict[str, object]:
    """That object, described."""
    return described(value.key, value, 7)


def pod(phase: str, node: str = "", *, deleted_ms: int | None = None, **status: str) -> Pod:
    """A pod in that phase."""
    made = Pod.of("p", cpu_m=800, node_name=node, priority=5)
    made = attrs.evolve(made, status=PodStatus(phase=phase, **status))  # type: ignore[arg-type]
    return made.with_meta(deleted_ms=deleted_ms)


@each_row(
    ("value", "said", "state"),
    [
        (pod("Pending"), "Pending", "pending"),
        (pod("Pending", nominated_node_name="n1"), "Pending, nominated to n1", "pending"),
        (pod("Running", "n1"), "Running on n1", "running"),
        (pod("Running", "n1", deleted_ms=9000), "Running on n1, terminating", "terminating"),
        (pod("Failed", "n1", reason="Evicted"), "Failed on n1, Evicted", "over"),
        (Node.of("n1", cpu_m=1000), "1 cpu, 110 pods", "plain"),
        (Node.of("n1", cpu_m=500, unschedulable=True), "500m cpu, 110 pods, cordoned", "plain"),
        (
            Lease("l", spec=LeaseSpec("me", 15)),
            "holderIdentity me, leaseDurationSeconds 15",
            "plain",
        ),
        (Note("x"), "empty", "plain"),
        (Note("x").with_meta(deleted_ms=0), "terminating", "terminating"),
    ],
)
def test_an_object_in_a_few_words(value: Object, said: str, state: str) -> None:
    """Its phase and node; what it has; else its own first fields."""
    found = shown(value)
    assert (found["said"], found["state"], found["rv"]) == (said, state, 7)


def test_a_pod_has_its_node_and_its_requests() -> None:
    """What a picture of a node is drawn of; the fields that tell it from others come first."""
    found = shown(pod("Running", "n1", deleted_ms=9000))
    assert (found["kind"], found["name"], found["node"], found["cpu"]) == ("pods", "p", "n1", 800)
    assert found["fields"] == [
        ["status.phase", "Running"],
        ["spec.nodeName", "n1"],
        ["metadata.deletionTimestamp", "9,000 ms"],
        ["spec.priority", "5"],
        ["requests.cpu", "800m"],
    ]


def test_a_node_has_its_room_its_taints_and_its_conditions() -> None:
    """And no field that says the same again."""
    taint = Taint("key", "", "NoSchedule")
    node = Node.of("n1", cpu_m=1000, taints=(taint,))
    ready = Condition("Ready", "False")
    node = attrs.evolve(node, status=attrs.evolve(node.status, conditions=(ready,)))
    found = shown(node)
    assert found["cpu"] == 1000
    assert found["said"] == "1 cpu, 110 pods, Ready=False, tainted"
    fields = dict(found["fields"])  # type: ignore[call-overload]
    assert fields["status.conditions"] == "Ready=False"
    assert fields["spec.taints"] == "key:NoSchedule"
    assert not any(path.startswith("status.capacity") for path in fields)


class Odd:
    """A value that says where it lies in memory."""


@attrs.frozen
class Strange(Object):
    """A kind of a user's own."""

    kind: ClassVar[str] = "Strange"
    plural: ClassVar[str] = "stranges"
    data: Map[object] = attrs.field(factory=Map)
    tags: frozenset[str] = frozenset()


def test_a_kind_of_the_user_is_described_by_its_own_fields() -> None:
    """Sorted where it has no order, cut where it is long, and the same in each process."""
    values: dict[str, object] = {f"f{number:02}": number for number in range(20)}
    values |= {"a": "x" * 500, "b": Odd(), "c": "two\nlines"}
    found = shown(Strange("s", Map(values), frozenset({"z", "y", "x"})))
    fields = dict(found["fields"])  # type: ignore[call-overload]
    assert len(fields) == FIELDS_MAX
    assert len(fields["data.a"]) == VALUE_MAX
    assert " at 0x" not in fields["data.b"]
    assert fields["data.c"] == "two lines"
    tags = dict(shown(Strange("s", tags=frozenset({"z", "y"})))["fields"])  # type: ignore[call-overload]
    assert tags == {"tags": "y, z"}


def test_a_state_of_a_map_says_no_time() -> None:
    """It is the same state at any time; a revision stands for whether it is the latest."""
    going = pod("Running", "n1", deleted_ms=9000)
    found = described(going.key, going, 1, is_timed=False)
    assert ["metadata.deletionTimestamp", "set"] in found["fields"]
    assert found["said"] == "Running on n1, terminating"
    held = Lease("l", spec=LeaseSpec("me", 15, renewed_ms=5000))
    fields = dict(described(held.key, held, 1, is_timed=False)["fields"])
    assert fields["spec.renewTime"] == "set"
    assert fields["spec.leaseDurationSeconds"] == "15"


def test_metadata_comes_last() -> None:
    """What a kind is there for is not pushed out by its labels."""
    labels = {f"l{number:02}": "x" for number in range(FIELDS_MAX)}
    fields = shown(Note("n", data=Map({"a": "1"})).with_meta(labels=Map(labels)))["fields"]
    assert fields[:2] == [["data.a", "1"], ["metadata.labels.l00", "x"]]  # type: ignore[index]


class Closed:
    """A value that says nothing of itself."""

    def __repr__(self) -> str:
        raise RuntimeError

    def __bool__(self) -> bool:
        raise RuntimeError

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    __hash__ = object.__hash__


def test_what_can_be_shown_is_shown() -> None:
    """A kind with a form that no API has, and with values that cannot be told."""
    data: Map[object] = Map(
        {"closed": Closed(), "list": [frozenset("ba"), Odd()], "deep": {"b": {"c", "d"}, "a": ()}}
    )
    fields = dict(shown(Strange("s", data, frozenset({"x"})))["fields"])  # type: ignore[call-overload]
    assert fields["data.closed"] == "<Closed>"
    assert fields["data.deep.b"] == "c, d"
    assert fields["data.list"].startswith("a, b, <")
    assert fields["tags"] == "x"
