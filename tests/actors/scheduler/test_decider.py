"""Decider: one cycle of one pod, from the snapshot to a Decision."""

from __future__ import annotations

import pytest

from actors.framework.filters import FILTERS
from actors.scheduler.decider import Decider
from actors.scheduler.switches import switches_of
from testbed.objects import Map
from tests.shared.deciding import Nominations, Picked, a_node, a_pod, decide, snapshot_of


@pytest.mark.spec("SCH-52")
def test_without_nodes_there_is_nothing_to_decide() -> None:
    """No error, no preemption; and the nomination is cleared."""
    decision = decide(a_pod("p", nominated="n1"))
    assert decision.message == "no nodes available to schedule pods"
    assert (decision.nominate, decision.is_error, decision.preemption) == ("", False, None)


@pytest.mark.spec("SCH-61")
def test_one_node_that_will_do_is_taken_unweighed() -> None:
    """No score is asked, and nothing is picked."""
    pick = Picked()
    decision = decide(a_pod("p"), a_node("n1"), a_node("n2", 0), pick=pick)
    assert (decision.node, decision.feasible, decision.scores) == ("n1", ("n1",), {})
    assert decision.best == ("n1",)
    assert decision.nominate is None
    assert pick.asked == []


@pytest.mark.spec("SCH-61", "GEN-5")
def test_of_the_best_nodes_one_is_picked_by_name() -> None:
    """The dullest is the first by name, and nothing else is random."""
    nodes = [a_node(f"n{n}") for n in (3, 1, 2)]
    pick = Picked(node="n2")
    decision = decide(a_pod("p"), *nodes, a_pod("q", 5, on="n1"), pick=pick)
    assert decision.node == "n2"
    assert decision.best == ("n2", "n3")
    assert pick.asked == [("node", ("n2", "n3"))]
    assert set(decision.scores) == {"n1", "n2", "n3"}


@pytest.mark.spec("SCH-61", "SCH-68", "SCH-67")
def test_a_pod_that_fits_nowhere_is_told_why_node_by_node() -> None:
    """In its message, and by filter: it waits for the events of those."""
    decision = decide(a_pod("p", 9), a_node("n1", 8), a_node("n2", unschedulable=True))
    assert decision.node == ""
    assert decision.refusals["n1"].reasons == ("Insufficient cpu",)
    assert decision.failed == ("NodeResourcesFit", "NodeUnschedulable")
    assert decision.message.startswith(
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable. preemption: "
    )


@pytest.mark.spec("SCH-70", "PRI-19")
def test_without_preemption_a_nomination_stays() -> None:
    """No victims are looked for, and the message does not mention preemption."""
    low = a_pod("low", 9, on="n1", priority=1)
    pod = a_pod("p", 9, priority=5, nominated="n1")
    decision = decide(pod, a_node("n1"), low, disable_preemption="on")
    assert decision.preemption is None
    assert decision.nominate is None
    assert decision.message == "0/1 nodes are available: 1 Insufficient cpu."


@pytest.mark.spec("SCH-101", "SCH-74")
def test_what_comes_of_preemption_is_nominated() -> None:
    """The chosen node; none if there is no candidate; and unchanged if the pod may not preempt."""
    node, low = a_node("n1"), a_pod("low", 9, on="n1", priority=1)
    assert decide(a_pod("p", 9, priority=5), node, low).nominate == "n1"
    assert decide(a_pod("p", 9, priority=1, nominated="n1"), node, low).nominate == ""
    never = a_pod("p", 9, priority=5, nominated="n1", preemption_policy="Never")
    assert decide(never, node, low).nominate is None


@pytest.mark.spec("SCH-70")
def test_a_pod_that_is_gone_preempts_nobody() -> None:
    """It is read again first. That is an error, which the message leaves out."""
    snapshot = snapshot_of(a_node("n1"), a_pod("low", 9, on="n1", priority=1))
    decider = Decider(switches_of(), FILTERS, ())
    pod = a_pod("p", 9, priority=5)
    decision = decider.decide(pod, snapshot, Nominations.of([]), known=lambda pod: None)
    assert decision.nominate is None
    assert decision.message == "0/1 nodes are available: 1 Insufficient cpu."
    assert decision.preemption is not None
    assert decision.preemption.code == "Error"


@pytest.mark.spec("SCH-55")
def test_the_search_goes_round_from_cycle_to_cycle() -> None:
    """Each search starts where the one before stopped."""
    snapshot = snapshot_of(*(a_node(f"n{n:03}") for n in range(250)))
    decider = Decider(switches_of(), FILTERS, ())
    seen = [decider.feasibility(a_pod("p"), snapshot, Nominations.of([])).rows for _ in range(3)]
    assert [(rows[0], rows[-1], len(rows)) for rows in seen] == [
        (0, 119, 120), (120, 239, 120), (240, 109, 120),
    ]  # fmt: skip


@pytest.mark.spec("SCH-50", "SCH-54")
def test_where_a_nomination_is_written_it_is_read() -> None:
    """In the status, or in an annotation."""
    pod = a_pod("p").with_meta(
        annotations=Map({"scheduler.kubernetes.io/nominated-node-name": "n2"})
    )
    nodes = [a_node("n1"), a_node("n2")]
    assert decide(pod, *nodes, nnn_storage="annotation").feasible == ("n2",)
    assert decide(pod, *nodes).feasible == ("n1", "n2")
