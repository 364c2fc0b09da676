"""The simple preemptor: who is preempted for an ask that requires its node (GT-Y1)."""

from __future__ import annotations

import pytest

from actors.yunikorn.core.allocation import Allocation
from actors.yunikorn.core.preemption.sorting import in_order
from actors.yunikorn.messages import AllocationRequest
from actors.yunikorn.switches import YuniKornSwitches
from testbed.objects import Map
from tests.each_row import each_row
from tests.models.worlds.cores import NODE, Talk, gt_y1

R3_R2 = ["free r3", "free r2"]
NOBODY = ["RequiredNodePreemptionFailed"]


def released(talk: Talk) -> list[str]:
    """What the second cycle says; the first one only reserves the node."""
    assert talk.cycle().reserved == ("x",)
    assert talk.said() == []
    talk.cycle(after_ms=100)
    return talk.said()


# -- GT-Y1 ----------------------------------------------------------------------------------------


@pytest.mark.spec("YK-6", "YK-14", "YK-17", "YK-19", "YK-21", "YK-22", "YK-23")
@each_row("profile", ["k8s-1.26", "k8s-modern"])
def test_what_is_shipped_takes_the_youngest_until_they_cover_the_ask(profile: str) -> None:
    """r3 alone does not; r3 and r2 do."""
    assert released(gt_y1(profile=profile)) == R3_R2


@pytest.mark.spec("YK-24", "YK-25", "YK-26")
def test_no_single_victim_is_near_enough_so_several_are_tried() -> None:
    """None covers 4 cpus within 4.4. The fallback takes the largest, then the youngest of two."""
    assert released(gt_y1(strategy="single,multiple")) == R3_R2
    assert released(gt_y1(strategy="single")) == NOBODY


@pytest.mark.spec("YK-13", "YK-25")
def test_more_victims_than_allowed_are_none() -> None:
    """With at most one, x keeps waiting, and is tried again with the next news."""
    talk = gt_y1(strategy="multiple", max_victims="1")
    assert released(talk) == NOBODY
    assert not talk.books.apps["daemons"].asks["x"].has_triggered
    talk.gone("r3")
    talk.gone("o1")
    talk.cycle()
    assert talk.said() == ["x on n"]


@pytest.mark.spec("YK-17", "YK-18")
def test_the_last_class_differs_between_the_document_and_the_program() -> None:
    """With 8 cpus regular pods do not suffice: shipped goes on with who opts out, the document with
    the owner of other pods."""
    assert released(gt_y1(8)) == [*R3_R2, "free r1", "free o1"]
    assert released(gt_y1(8, class_order="seed")) == [*R3_R2, "free r1", "free d1"]


# -- filtering ------------------------------------------------------------------------------------


@pytest.mark.spec("YK-15", "YK-16")
@each_row(
    ("rule", "victims"),
    [("shipped", ["free equal"]), ("strict_lower", ["free lower"]), ("none", ["free higher"])],
)
def test_who_may_go_by_priority(rule: str, victims: list[str]) -> None:
    """Equal priority may be preempted; by the document, even a higher one. DaemonSet pods never
    are, whatever their priority."""
    talk = Talk(priority_filter=rule)
    talk.pod("other", 4, app="daemons", node=NODE, required_node=NODE, priority=-9)
    for key, priority in (("lower", -1), ("equal", 0), ("higher", 1)):
        # Who opts out goes last, so the one that the rule adds to the others goes first.
        talk.pod(key, 2, node=NODE, priority=priority, allows_preemption=f"free {key}" in victims)
    talk.pod("x", 2, app="daemons", required_node=NODE)
    assert talk.settle() == victims


# -- sorting --------------------------------------------------------------------------------------


@pytest.mark.spec("YK-19")
@each_row(
    ("dirs", "first"),
    [("young_small", "d"), ("young_large", "c"), ("old_small", "b"), ("old_large", "a")],
)
def test_in_a_class_priority_age_and_size_decide(dirs: str, first: str) -> None:
    """Two old ones and two young ones, each time a larger and a smaller; the one of a higher
    priority goes after all of them."""
    talk = Talk(dirs=dirs)
    for key, cpu, second in (("a", 3, 1), ("b", 1, 1), ("c", 3, 2), ("d", 1, 2)):
        talk.pod(key, cpu, node=NODE, created_ms=1000 * second, priority=-1)
    talk.pod("e", 2, node=NODE, created_ms=0 if dirs.startswith("old") else 3000)
    talk.pod("x", 1, app="daemons", required_node=NODE)
    assert talk.settle()[0] == f"free {first}"


@pytest.mark.spec("YK-20")
def test_equal_and_incomparable_victims_go_by_their_keys() -> None:
    """The comparison of the program calls each of them the smaller one."""
    incomparable = (Map(cpu=2, memory=1), Map(cpu=1, memory=2))
    for sizes in (incomparable, (Map(cpu=2), Map(cpu=2))):
        assert ordered(sizes) == ["a", "b"]
    assert ordered((Map(cpu=1), Map(cpu=2))) == ["b", "a"], "the smaller one goes first"


def ordered(sizes: tuple[Map[int], Map[int]]) -> list[str]:
    """The order of two victims of these sizes, of which `b` is told first."""
    made = [
        Allocation(AllocationRequest(key, key, "app", amounts=amounts))
        for key, amounts in zip(("b", "a"), sizes, strict=True)
    ]
    return [each.key for each in in_order(made, (), YuniKornSwitches())]


# -- selection ------------------------------------------------------------------------------------


@pytest.mark.spec("YK-22")
def test_what_is_shipped_does_not_count_what_is_free_while_it_adds() -> None:
    """3 of 10 are free and 1 is missing, yet it takes victims for all 4; and it takes those that
    are there if only together with what is free they suffice."""
    talk = Talk()
    talk.pod("a", 2, node=NODE, created_ms=2000)
    talk.pod("b", 5, node=NODE, created_ms=1000)
    talk.pod("x", 4, app="daemons", required_node=NODE)
    assert talk.settle() == ["free a", "free b"]
    talk = Talk()
    talk.pod("keep", 5, app="daemons", node=NODE, required_node=NODE)
    talk.pod("a", 2, node=NODE)
    talk.pod("x", 4, app="daemons", required_node=NODE)
    assert talk.settle() == ["free a"]


@pytest.mark.spec("YK-24")
def test_a_single_victim_is_the_one_nearest_to_the_ask() -> None:
    """Of 4 and 6 for an ask of 4 with 50 percent it is 4, whoever is younger; and it is nobody if
    all are too large."""
    talk = Talk(deviation_pct="50", strategy="single")
    for nth, cpu in enumerate((4, 6)):
        talk.pod(f"p{cpu}", cpu, node=NODE, created_ms=1000 * nth)
    talk.pod("x", 4, app="daemons", required_node=NODE)
    assert talk.settle() == ["free p4"]
    talk = Talk(strategy="single")
    talk.pod("p6", 6, node=NODE)
    talk.pod("rest", 4, app="daemons", node=NODE, required_node=NODE)
    talk.pod("x", 5, app="daemons", required_node=NODE)
    assert talk.settle() == NOBODY


@pytest.mark.spec("YK-26")
def test_the_first_strategy_that_selects_anybody_decides() -> None:
    """A single one of 4, or the two largest: the administrator says what is tried first."""
    for strategy, victims in (("single,multiple", ["free p4"]), ("multiple,single", ["free p6"])):
        talk = Talk(strategy=strategy)
        talk.pod("p4", 4, node=NODE)
        talk.pod("p6", 6, node=NODE)
        talk.pod("x", 4, app="daemons", required_node=NODE)
        assert talk.settle() == victims


# -- when it starts -------------------------------------------------------------------------------


@pytest.mark.spec("YK-10", "YK-12")
def test_later_versions_trigger_once_and_version_1_1_in_every_cycle() -> None:
    """Version 1.1 keeps finding the same victims until they are gone, and says when it will."""
    talk = gt_y1(repeat="once")
    assert released(talk) == R3_R2
    assert talk.cycle(after_ms=1000).again_in_ms is None
    assert talk.said() == []
    talk = gt_y1(repeat_ms="700")
    assert released(talk) == R3_R2
    assert talk.cycle(after_ms=700).again_in_ms == 1400
    assert talk.said() == R3_R2
    talk.gone("r3")
    talk.cycle()
    assert talk.said() == ["free r2", "free r1"], "it may release further victims"


@pytest.mark.spec("YK-11")
def test_the_document_starts_a_workflow_once_the_reservation_is_old_enough() -> None:
    """Not in the cycle itself: the cycle only says for which ask one is to run."""
    talk = gt_y1(profile="seed", preemption_start_delay_ms="5000")
    assert talk.cycle().reserved == ("x",)
    second = talk.cycle(after_ms=100)
    assert (second.workflows, second.again_in_ms) == ((), 4901)
    assert talk.cycle(after_ms=4901).workflows == ("x",)
    assert talk.cycle().workflows == ("x",), "until it has run"
    assert talk.said() == []
    for _ in range(2):
        talk.ask("preempt", "x")
    assert talk.said() == R3_R2, "once"
    assert talk.cycle(after_ms=60_000).workflows == (), "and one that found victims is the last"


@pytest.mark.spec("YK-11")
def test_a_workflow_does_not_look_whether_there_is_room() -> None:
    """The design document does not say that it should. Any pod covers what is missing, which is
    nothing, so the smallest one dies for it."""
    talk = gt_y1(profile="seed")
    talk.cycle()
    assert talk.cycle(after_ms=100).workflows == ("x",)
    for key in ("r1", "d1"):
        talk.gone(key, app="driven" if key == "d1" else "batch")
    talk.ask("preempt", "x")
    talk.cycle()
    assert talk.said() == ["free o1", "x on n"]


@pytest.mark.spec("YK-11", "YK-13")
def test_a_workflow_that_finds_nobody_may_run_again() -> None:
    """And one that comes when its ask is gone does nothing."""
    talk = gt_y1(8, profile="seed", max_victims="1")
    talk.cycle()
    assert talk.cycle(after_ms=100).workflows == ("x",)
    talk.ask("preempt", "x")
    assert talk.said() == NOBODY
    assert talk.cycle().workflows == ("x",)
    talk.gone("x", "daemons")
    talk.ask("preempt", "x")
    assert talk.said() == []


@pytest.mark.spec("YK-28", "YK-30")
def test_what_a_victim_holds_stays_booked_until_it_is_gone() -> None:
    """It is counted once as about to be given back, in its queue and every queue above."""
    talk = gt_y1()
    released(talk)
    talk.cycle(after_ms=1000)
    root, node = talk.books.root, talk.books.nodes[NODE]
    assert dict(root.preempting) == {"cpu": 5000}
    assert dict(root.children["default"].preempting) == {"cpu": 5000}
    assert node.available["cpu"] == 0
    for key in ("r2", "r3"):
        talk.gone(key, why="PREEMPTED_BY_SCHEDULER")
    assert dict(root.preempting) == {}
    assert node.available["cpu"] == 5000
    talk.said()
    assert talk.cycle().is_active
    assert talk.said() == ["x on n"], "and nothing of a release is echoed (YK-30)"
