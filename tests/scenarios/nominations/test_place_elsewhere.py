"""place_elsewhere: victims of a pod that is bound to another node; a lesser pod follows."""

from __future__ import annotations

import pytest

from scenarios.nominations.place_elsewhere import d_gets_what_c_does_not_need
from testbed import World
from testbed.objects import Node, Pod
from tests.models.clusters.calm_story import calm_story


@pytest.mark.spec("SCH-102", "SCH-104")
def test_c_goes_to_n2_and_d_gets_what_was_b_s() -> None:
    """Without a nomination of its own; and A, too, is deleted in vain. In 1.26 the nomination of C
    still says n1."""
    wrong, seen = calm_story("place_elsewhere")
    assert wrong == ""
    assert seen[5:] == [
        "1 delete a until 61", "1 delete b until 31", "1 nominate c n1",
        "10 phase e Succeeded", "10 bind c n2", "10 phase c Running",
        "31 remove b", "31 bind d n1", "31 phase d Running", "61 remove a",
    ]  # fmt: skip


def test_without_preemption_d_waits() -> None:
    """C goes to n2 as well, and A and B keep their node."""
    wrong, seen = calm_story("place_elsewhere", {"scheduler.disable_preemption": "on"})
    assert wrong == ""
    assert seen[5:] == ["10 phase e Succeeded", "10 bind c n2", "10 phase c Running"]


def test_the_claim_says_who_waits_beside_an_empty_node() -> None:
    """As it would be if nobody told the scheduler that n1 is empty; or C, if it was forgotten."""
    world = World("test")
    world.add(Node.of("n1"), Node.of("n2"), Pod.of("d"), Pod.of("c", node_name="n2"))
    said = d_gets_what_c_does_not_need(world.evidence)
    assert said == "pods/default/c is on n2, and pods/default/d waits though n1 is empty"
    assert d_gets_what_c_does_not_need(World("test").evidence) == "pods/default/c is on no node"
