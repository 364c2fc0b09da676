"""Nominator: a pod is nominated to one node at most, and memory is ahead of the server."""

from __future__ import annotations

import attrs
import pytest

from actors.framework.podinfo import identity
from actors.scheduler.cluster.nominator import Nominator
from testbed.objects import Pod
from tests.each_row import each_row


def saying(pod: Pod, node: str) -> Pod:
    """The same pod, with that node in its status."""
    return attrs.evolve(pod, status=attrs.evolve(pod.status, nominated_node_name=node))


def named(nominator: Nominator) -> dict[str, list[str]]:
    """The names of the pods nominated to each node."""
    return {node: [i.pod.meta.name for i in on] for node, on in nominator.nominated.items()}


def of(*pods: Pod) -> Nominator:
    """A Nominator with an informer that has these pods."""
    known = {pod.key: pod for pod in pods}
    return Nominator(known.get)


A, B = Pod.of("a"), Pod.of("b")


@pytest.mark.spec("SCH-45", "SCH-46")
def test_a_pod_is_on_one_node_and_pods_stand_as_they_came() -> None:
    """Nominated again, it stands last; nominated to none, it is removed."""
    nominator = of(A, B)
    nominator.nominate(A, "n1")
    nominator.nominate(B, "n1")
    nominator.nominate(A, "n1")
    assert named(nominator) == {"n1": ["b", "a"]}
    nominator.nominate(A, "n2")
    assert named(nominator) == {"n1": ["b"], "n2": ["a"]}
    nominator.nominate(A, "")
    assert (nominator.node_of(identity(A)), nominator.on("n2")) == ("", ())


@pytest.mark.spec("SCH-46", "SCH-47")
def test_by_default_a_pod_is_nominated_to_the_node_it_names_itself() -> None:
    """A pod that is gone or has a node is not nominated, and loses its nomination."""
    bound = attrs.evolve(B, spec=attrs.evolve(B.spec, node_name="n3"))
    nominator = of(A, bound)
    nominator.nominate(saying(A, "n1"))
    assert nominator.node_of(identity(A)) == "n1"
    nominator.nominate(A)
    nominator.nominate(saying(B, "n1"))
    nominator.nominate(Pod.of("gone"), "n1")
    assert not nominator.nominated


@pytest.mark.spec("SCH-48")
@each_row(
    ("was", "is_now", "expected"),
    [("", "", "here"), ("", "n2", "n2"), ("n1", "n2", "n2"), ("n1", "", ""), ("n1", "n1", "n1")],
)
def test_an_update_changes_a_nomination_unless_it_never_named_one(
    was: str, is_now: str, expected: str
) -> None:
    """Memory wins only if neither the old nor the new object names a node."""
    nominator = of(A)
    nominator.nominate(A, "here")
    nominator.update(saying(A, was), saying(A, is_now))
    assert nominator.node_of(identity(A)) == expected
    nominator.drop(A)
    nominator.update(A, A)
    assert nominator.node_of(identity(A)) == ""


def test_a_pod_of_the_same_name_is_another_one() -> None:
    """Pods are told apart by uid."""
    old, new = A.with_meta(uid="1"), A.with_meta(uid="2")
    nominator = of(new)
    nominator.nominate(old, "n1")
    assert nominator.node_of("2") == ""
    nominator.nominate(new, "n1")
    assert [info.uid for info in nominator.on("n1")] == ["1", "2"]
    nominator.update(old, new)
    assert [info.pod for info in nominator.on("n1")] == [new]
