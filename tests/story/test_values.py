"""Values: what a field is set to is told in words and names, and never as Python writes it."""

from __future__ import annotations

import re

import attrs

from testbed.objects import Condition, Map, Pod, Taint
from testbed.objects.meta import Owner
from testbed.objects.pod import ContainerState, ContainerStatus, Running, Terminated
from testbed.store.change import Change, Entry
from testbed.story.values import shown
from testbed.story.wording import became, changed
from testbed.turns.trace import Record
from tests.each_row import each_row

RUNS = ContainerStatus("main", ready=True, state=ContainerState(running=Running(5)))
ENDED = ContainerStatus("main", restart_count=2, state=ContainerState(terminated=Terminated(137)))
UNREACHABLE = Taint("node.kubernetes.io/unreachable", effect="NoExecute", added_ms=1000)


@each_row(
    ("value", "said"),
    [
        (None, "empty"),
        ((), "empty"),
        (Map(), "empty"),
        (0, "0"),
        (False, "False"),
        ("n1", '"n1"'),
        ("n" * 30, f'"{"n" * 22}…'),
        ((Condition("Ready", "True"), Condition("Odd")), "Ready=True Odd without …"),
        ((UNREACHABLE,), "node.kubernetes.io/unreachable:NoExecute"),
        ((Taint("a", "b", "NoSchedule"),), "a=b:NoSchedule"),
        ((RUNS,), "main running, ready"),
        ((ENDED,), "main terminated with 137, 2 restarts"),
        ((ContainerStatus("main"),), "main waiting"),
        ((Owner("apps/v1", "ReplicaSet", "web", "u"),), "ReplicaSet/web"),
        (("a.io/b", "c.io/d"), '"a.io/b", "c.io/d"'),
        (
            tuple(f"a.io/{n}" for n in range(9)),
            '"a.io/0", "a.io/1", "a.io/2", "a.io/3", "a.io/4" and 4 more',
        ),
        (Map(app="web", tier="front"), "app=web, tier=front"),
        (Pod.of("p", cpu_m=100).spec.containers, "main"),
        (ContainerState(terminated=Terminated(1, "Error")), "terminated exit_code 1, reason Error"),
    ],
)
def test_a_value_is_told_in_words(value: object, said: str) -> None:
    """Things by their names, states as people say them, and no more than there is room for."""
    assert shown(value) == said


def test_what_looks_alike_has_changed_in_its_details() -> None:
    """Of a condition the message, of a container what is not told of it."""
    ready = (Condition("Ready", "True", message="a"),)
    assert became(ready, (Condition("Ready", "True", message="b"),)) == "Ready=True, in other words"
    other = attrs.evolve(RUNS, image="other")
    assert became((RUNS,), (other,)) == "main running, ready, in other details"
    assert became((RUNS,), (ENDED,)) == "main running, ready → main terminated with 137, 2 restarts"


def test_no_sentence_has_a_value_as_python_writes_it() -> None:
    """Of a status that a kubelet wrote, and of what it recorded."""
    old = Pod.of("p", node_name="n1")
    status = attrs.evolve(old.status, container_statuses=(RUNS,), start_ms=5)
    new = attrs.evolve(old, status=status)
    one, other = (Entry("pods/default/p", pod, 1, rv, 1) for rv, pod in ((1, old), (2, new)))
    said = changed(Change(2, "pods/default/p", one, other, 2))
    assert "status.container_statuses empty → main running, ready" in said
    record = Record(1, 1, 0, "kubelet/main", "looked", {"pressures": ["MemoryPressure", "b"]})
    assert record.said == "recorded looked pressures=MemoryPressure, b"
    assert Record(1, 1, 0, "k/main", "looked", {"at": []}).said == "recorded looked at=none"
    assert not re.search(r"[\[({]'|\w\(\w+=", said + record.said)
