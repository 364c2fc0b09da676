"""The core: its cycles, its reservations, its queues, and what it books of whom."""

from __future__ import annotations

import pytest

from actors.yunikorn import QueueSettings
from testbed.errors import Expired, Invalid
from testbed.objects import Map, Node, Taint
from testbed.objects.affinity import NO_SCHEDULE
from tests.each_row import each_row
from tests.models.worlds.cores import NODE, Talk, gt_y1

TWO = (Node.of("a", cpu_m=10_000), Node.of("b", cpu_m=10_000))


# -- the model, and the cycle ---------------------------------------------------------------------


@pytest.mark.spec("YK-1")
def test_what_is_left_counts_the_pods_of_other_schedulers() -> None:
    """They are booked as foreign, once, and never as allocations."""
    talk = Talk()
    for _ in range(2):
        talk.pod("theirs", 4, app="", node=NODE)
    talk.pod("ours", 3, node=NODE)
    node = talk.books.nodes[NODE]
    assert (node.available["cpu"], node.allocated["cpu"], list(node.allocations)) == (
        3000, 7000, ["ours"],
    )  # fmt: skip
    talk.gone("theirs", app="")
    assert node.available["cpu"] == 7000


@pytest.mark.spec("YK-1")
def test_a_node_that_shrinks_has_less_left() -> None:
    """It may be less than nothing; and all that was on a node goes with it."""
    talk = Talk()
    talk.pod("ours", 8, node=NODE)
    talk.node(Node.of(NODE, cpu_m=5_000))
    assert talk.books.nodes[NODE].available["cpu"] == -3000
    talk.tell("drop_node", NODE)
    talk.cycle()
    assert talk.said() == ["free ours"]
    assert dict(talk.books.root.allocated) == {}


def test_the_emptiest_node_that_the_pod_may_be_on_is_taken() -> None:
    """Not one that is closed, and not one with a taint that it does not tolerate."""
    talk = Talk(nodes=TWO)
    talk.pod("one", 4, node="a")
    talk.pod("two", 1)
    assert talk.settle() == ["two on b"]
    talk.node(Node.of("b", cpu_m=10_000), is_open=False)
    talk.pod("three", 1)
    assert talk.settle() == ["three on a"]
    talk.node(Node.of("b", cpu_m=10_000, taints=(Taint("odd", effect=NO_SCHEDULE),)))
    talk.pod("four", 1)
    assert talk.settle() == ["four on a"]


@pytest.mark.spec("YK-4")
def test_news_is_heard_once_and_messages_are_kept_until_they_are_got() -> None:
    """However often either is sent; and nothing is heard from an older session."""
    talk = Talk()
    talk.pod("a", 3)
    talk.cycle()
    assert talk.ask("take", got=0) == talk.ask("take", got=0)
    talk.gone("a")
    talk.ask("release", "a", None, nth=talk._told, app="batch")
    assert talk.said() == ["a on n"]
    assert talk.ask("take", got=1) == ()
    talk.core.restart()
    with pytest.raises(Expired):
        talk.cycle()
    with pytest.raises(Expired):
        Talk().ask("cycle", session="elsewhere")
    talk = Talk()
    with pytest.raises(Invalid):
        talk.ask("dance")


# -- required nodes and reservations --------------------------------------------------------------


@pytest.mark.spec("YK-5")
@each_row(("how", "served"), [("skip", ["b on n", "c on n"]), ("stop_app", ["c on n"])])
def test_an_ask_for_an_unknown_node_is_passed_over(how: str, served: list[str]) -> None:
    """Version 1.1 ends the turn of its application with it; other applications are served."""
    talk = Talk(unknown_node=how)
    talk.pod("a", 1, required_node="lost", priority=1)
    talk.pod("b", 1)
    talk.pod("c", 1, app="first")
    assert talk.settle() == served


@pytest.mark.spec("YK-6")
def test_an_ordinary_ask_reserves_a_node_when_it_is_old_enough() -> None:
    """After more than two seconds, and the cycle says when that is."""
    talk = Talk()
    talk.pod("busy", 9, node=NODE)
    talk.pod("wants", 4)
    assert talk.cycle().again_in_ms == 2001
    assert talk.cycle(after_ms=2001).reserved == ("wants",)
    talk.gone("busy")
    assert talk.settle() == ["wants on n"]
    assert talk.books.reserved() == []


@pytest.mark.spec("YK-3", "YK-6")
def test_an_ordinary_reserved_ask_is_tried_on_other_nodes_too() -> None:
    """Before all other asks, and its reservation goes."""
    talk = Talk(nodes=TWO)
    for node in ("a", "b"):
        talk.pod(f"busy-{node}", 9, node=node)
    talk.pod("wants", 4)
    assert talk.cycle(after_ms=2001).reserved == ("wants",)
    talk.pod("urgent", 4, app="second", priority=9)
    talk.gone("busy-b")
    result = talk.cycle()
    assert (result.is_active, result.reserved) == (True, ())
    assert talk.said() == ["wants on b"]
    assert talk.books.nodes["a"].reservations == {}


@pytest.mark.spec("YK-7")
def test_later_versions_cancel_ordinary_reservations_for_a_required_node() -> None:
    """Version 1.1 refuses the new one instead."""
    for profile, holds in (("k8s-modern", ("x",)), ("k8s-1.26", ("wants",))):
        talk = Talk(profile)
        talk.pod("busy", 9, node=NODE, priority=9)
        talk.pod("wants", 4)
        assert talk.cycle(after_ms=2001).reserved == ("wants",)
        talk.pod("x", 2, app="daemons", required_node=NODE)
        assert talk.cycle().reserved == holds


@pytest.mark.spec("YK-7")
def test_several_asks_may_reserve_the_node_that_they_require() -> None:
    """One only in version 1.1; none that does not fit the empty node."""
    for profile, holds in (("k8s-modern", ("x", "y")), ("k8s-1.26", ("x",))):
        talk = Talk(profile)
        talk.pod("busy", 9, node=NODE, priority=9)
        for key in ("x", "y"):
            talk.pod(key, 2, app=f"of-{key}", required_node=NODE)
        talk.settle()
        assert talk.cycle().reserved == holds
    talk = Talk()
    talk.pod("huge", 11, app="daemons", required_node=NODE)
    assert talk.cycle().reserved == ()


@pytest.mark.spec("YK-9")
def test_a_reservation_without_head_room_is_dropped_after_two_hours() -> None:
    """The code counts the 60 minutes twice."""
    queues = (QueueSettings("root.daemons", max=Map(cpu=4000)),)
    talk = Talk(queues=queues, repeat="once")
    talk.pod("busy", 8, node=NODE, priority=9)
    talk.pod("x", 3, app="daemons", required_node=NODE, queue="root.daemons")
    talk.settle()
    talk.pod("fills", 2, app="others", node=NODE, queue="root.daemons")
    assert talk.cycle().again_in_ms == 7_200_000 - talk.now_ms
    assert talk.cycle(after_ms=7_100_000).reserved == ("x",)
    assert talk.cycle(after_ms=100_000).reserved == ()


@pytest.mark.spec("YK-5", "YK-10")
def test_an_ask_beyond_the_head_room_of_its_queue_waits() -> None:
    """Of any queue above it, too; it neither reserves nor preempts."""
    limit = Map(cpu=3000)
    for queues in (QueueSettings("root", max=limit), QueueSettings("root.a.b", max=limit)):
        talk = Talk(queues=(queues,))
        talk.pod("busy", 2, app="b", node=NODE, queue="root.a.b")
        talk.pod("x", 2, app="daemons", required_node=NODE, queue="root.a.b")
        assert talk.settle() == []
        assert talk.books.reserved() == []
        talk.gone("busy", app="b")
        assert talk.settle() == ["x on n"]


@pytest.mark.spec("YK-10")
def test_a_reserved_ask_without_head_room_is_passed_over() -> None:
    """It keeps its node, and no victim is looked for."""
    talk = Talk(queues=(QueueSettings("root.daemons", max=Map(cpu=3000)),))
    talk.pod("busy", 9, node=NODE)
    talk.pod("x", 2, app="daemons", required_node=NODE, queue="root.daemons")
    assert talk.cycle().reserved == ("x",)
    talk.pod("fills", 2, app="others", node=NODE, queue="root.daemons")
    assert talk.cycle(after_ms=100).reserved == ("x",)
    assert talk.said() == []


@pytest.mark.spec("YK-31")
def test_nothing_links_victims_to_the_ask_they_died_for() -> None:
    """Two asks have reserved the node. One of them has victims, and the other takes the room, if
    the core looks at it first: it may look at either (GEN-6)."""
    for first, served in (("x", "x on n"), ("y", "y on n")):
        talk = Talk("k8s-modern")
        talk.pod("busy", 4, node=NODE)
        talk.pod("rest", 6, app="daemons", node=NODE, required_node=NODE)
        for key in ("x", "y"):
            talk.pod(key, 4, app="daemons", required_node=NODE)
        assert talk.settle() == ["free busy", "RequiredNodePreemptionFailed"]
        talk.gone("busy", why="PREEMPTED_BY_SCHEDULER")
        talk.cycle(first)
        assert talk.said() == [served]


@pytest.mark.spec("YK-32")
def test_when_the_daemon_pod_goes_its_victims_are_lost() -> None:
    """Its ask and its reservation go at once; who was told to end is not told otherwise."""
    talk = gt_y1(repeat="once")
    assert talk.settle() == ["free r3", "free r2"]
    talk.gone("x", app="daemons")
    assert talk.books.reserved() == []
    assert dict(talk.books.root.preempting) == {"cpu": 5000}
    assert talk.settle() == []


@pytest.mark.spec("YK-36", "YK-12")
@each_row(("profile", "then"), [("k8s-modern", []), ("k8s-1.26", ["free b"])])
def test_what_another_scheduler_takes_is_not_made_free_again(profile: str, then: list[str]) -> None:
    """Its pod is a foreign one. Later versions have triggered once for the ask; version 1.1 goes on
    with the next victim."""
    talk = Talk(profile)
    talk.pod("a", 5, node=NODE, created_ms=2000)
    talk.pod("b", 5, node=NODE, created_ms=1000)
    talk.pod("x", 4, app="daemons", required_node=NODE)
    assert talk.settle() == ["free a"]
    talk.gone("a", why="PREEMPTED_BY_SCHEDULER")
    talk.pod("theirs", 5, app="", node=NODE)
    assert talk.settle() == then


@pytest.mark.spec("YK-34")
@each_row(("profile", "served"), [("k8s-1.26", []), ("k8s-modern", ["small on b"])])
def test_in_version_1_1_a_reserved_ask_ends_every_cycle(profile: str, served: list[str]) -> None:
    """Every application behind it waits, though another node is empty."""
    talk = Talk(profile, nodes=TWO)
    talk.pod("x", 4, app="daemons", required_node="a")
    talk.pod("busy", 9, node="a", priority=9)
    talk.pod("small", 1)
    said = talk.settle()
    assert [each for each in said if " on " in each] == served


@pytest.mark.spec("YK-35")
@each_row("profile", ["k8s-1.26", "k8s-modern"])
def test_an_ask_that_can_never_be_reserved_ends_every_cycle(profile: str) -> None:
    """A DaemonSet pod that is larger than its node holds up every ask behind it."""
    talk = Talk(profile, nodes=(Node.of(NODE, cpu_m=10_000), Node.of("m", cpu_m=90_000)))
    talk.pod("huge", 11, app="daemons", required_node=NODE)
    talk.pod("small", 1)
    assert talk.settle() == []
    talk.gone("huge", app="daemons")
    assert talk.settle() == ["small on m"]


def test_two_moments_with_the_same_ahead_have_one_digest() -> None:
    """Ages count, and not times; a new session of the same books is the same, too."""
    one, other = gt_y1(), Talk()
    other.now_ms = 0
    assert one.core.digest_at(40_000) == one.core.digest_at(40_000)
    assert one.core.digest_at(40_000) != one.core.digest_at(41_000)
    assert one.core.digest_at(0) != other.core.digest_at(0)
