"""How nodes go: when what is written, what is looked at again, and what becomes of failures."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import attrs
import pytest

from actors.apiserver import ApiServer
from actors.autoscaler import Autoscaler, AutoscalerSettings
from actors.autoscaler.announcer import Announcer
from actors.cloud import NodeGroup, join_cloud
from testbed import Client, World
from testbed.faults.server_error import ServerError
from testbed.objects import (
    Condition,
    DaemonSet,
    DeleteOptions,
    Map,
    Node,
    Object,
    Pod,
    PodStatus,
    ReplicaSet,
)
from testbed.objects.event import NORMAL
from tests.models.worlds.idle_nodes import GIB, annotated, budget, owned
from tests.shared.stage import Puppet, play

Deed = Callable[[Client], Awaitable[Any]]
TAINT = "ToBeDeletedByClusterAutoscaler"
SOFT = "DeletionCandidateOfClusterAutoscaler"
LOAD = owned("load", "g-2", 2500)
GRACEFUL_MS = 30_000


class Stage:
    """Two nodes of a group, of which g-2 is in use; an autoscaler with passes at given times; and
    what is done by others meanwhile."""

    def __init__(self, *pods: Pod, passes: tuple[float, ...] = (0, 600.5), **group: Any) -> None:
        self.said: list[tuple[float, str, str]] = []
        """What the autoscaler has said: when, of what, in which words."""
        self.deeds: list[tuple[float, Deed]] = []
        self.world = World("scale-down")
        self.world.serve(ApiServer)
        template = Node.of("any", cpu_m=4000, memory=8 * GIB)
        join_cloud(self.world, NodeGroup("g", **{"target": 2, "template": template, **group}))
        self.world.add(ReplicaSet("rs"), LOAD, *pods)
        self.passes_ms = tuple(int(1000 * at) for at in passes)
        self.cues: list[str] = []

    def at(self, seconds: float, deed: Deed) -> None:
        """Somebody does this then."""
        self.deeds.append((seconds, deed))

    def play(self, **settings: Any) -> list[tuple[float, str, str]]:
        """Play it calmly; returns what was said and done, in order."""
        said = self.said

        class Loud(Announcer):
            def note(self, item: Object, reason: str, message: str, kind: str = NORMAL) -> None:
                said.append((self._recorder._client.now() / 1000, item.meta.name, message))

        class Told(Autoscaler):
            announcer = Loud

        async def others(client: Client) -> None:
            for seconds, deed in sorted(self.deeds, key=lambda each: each[0]):
                await client.sleep(int(1000 * seconds) - client.now(), "do it")
                await deed(client)

        options = AutoscalerSettings(passes_ms=self.passes_ms, **settings)
        self.world.start(Told("autoscaler", settings=options), Puppet("others", others))
        self.played = play(self.world, *self.cues)
        return [line for line in said if line[1] != "cluster-autoscaler-status"]

    def writes(self, pattern: str) -> list[float]:
        """When a request that fits was served."""
        steps = self.played.every(f"serve autoscaler/* {pattern}*")
        return [step.now_ms / 1000 for step in steps]

    def node(self, name: str) -> Node | None:
        """The node at the end, if it is there."""
        found: list[Any] = [e.value for e in self.world.store.snapshot(f"nodes/{name}")]
        return found[0] if found else None

    def taints(self, name: str) -> list[str]:
        """The taints of a node at the end."""
        node = self.node(name)
        assert node is not None
        return [taint.key for taint in node.spec.taints]


def end(*names: str) -> Deed:
    """These pods end at once."""

    async def do(client: Client) -> None:
        for name in names:
            await client.delete(Pod(name), whatever_it_was=True, options=Map(grace_s=0))

    return do


def create(item: Object) -> Deed:
    """That object is created."""
    return lambda client: client.create(item)


@pytest.mark.spec("CA-29")
def test_an_empty_node_goes_in_ten_seconds() -> None:
    """Tainted in the pass, looked at again after five seconds, then deleted by the cloud, which
    takes two more."""
    stage = Stage()
    assert stage.play() == [
        (600.5, "g-1", "marked the node as toBeDeleted/unschedulable"),
        (605.5, "g-1", "nodes removed by cluster autoscaler"),
    ]
    assert [line for line in stage.said if line[1] == "cluster-autoscaler-status"] == [
        (600.5, "cluster-autoscaler-status", 'Scale-down: removing empty node "g-1"'),
        (605.5, "cluster-autoscaler-status", "Scale-down: empty node g-1 removed"),
    ]
    assert stage.writes("delete-nodes nodegroups/g") == [605.5]
    assert stage.node("g-1") is None


@pytest.mark.spec("CA-25")
def test_a_pod_that_no_group_can_help_holds_no_node() -> None:
    """Its passes ask the cloud for nothing, so they go on to look which nodes are unneeded."""
    conditions = (Condition("PodScheduled", "False", reason="Unschedulable"),)
    status = PodStatus("Pending", conditions=conditions)
    stage = Stage(attrs.evolve(Pod.of("huge", cpu_m=9000), status=status))
    assert stage.play()[-1] == (605.5, "g-1", "nodes removed by cluster autoscaler")
    assert stage.writes("increase nodegroups/g") == []


@pytest.mark.spec("CA-29")
def test_a_pod_that_comes_in_time_saves_an_empty_node() -> None:
    """Within the five seconds after the taint. The taint goes, and nothing cools down: the clock
    just begins again."""
    stage = Stage(passes=(0, 600.5, 610, 1211))
    stage.at(603, create(owned("x", "g-1")))
    stage.at(700, end("x"))
    why = 'failed to delete empty node: failed to delete empty node "g-1", new pods scheduled'
    assert stage.play()[1:3] == [
        (605.5, "g-1", why), (1211, "g-1", "marked the node as toBeDeleted/unschedulable"),
    ]  # fmt: skip


@pytest.mark.spec("CA-29", "CA-32")
def test_a_drained_node_waits_for_its_pods() -> None:
    """It is looked every five seconds whether they are gone. The grace is that of each pod, ten
    minutes at most; expendable pods are not evicted."""
    pods = (
        owned("a", "g-1", 300, grace_s=45), owned("b", "g-1", 300, grace_s=900),
        owned("cheap", "g-1", 300, owner="", priority=-11),
    )  # fmt: skip
    stage = Stage(*pods)
    stage.at(618, end("a", "b"))
    assert stage.play() == [
        (600.5, "g-1", "marked the node as toBeDeleted/unschedulable"),
        (605.5, "a", "deleting pod for node scale down"),
        (605.5, "b", "deleting pod for node scale down"),
        (620.5, "g-1", "nodes removed by cluster autoscaler"),
    ]
    first = "utilization: {0.15 0.25 0 memory 0.25}, pods to reschedule: a,b"
    assert stage.said[1][2] == f"Scale-down: removing node g-1, {first}"
    evicted = stage.played.every("serve autoscaler/evict-* create/eviction *")
    asked = [step.operation.body for step in evicted if step.operation is not None]
    graces = {each.delete_options for each in asked if each is not None}
    assert graces == {DeleteOptions(grace_s=45), DeleteOptions(grace_s=600)}


@pytest.mark.spec("CA-29")
def test_an_eviction_is_asked_for_twelve_times() -> None:
    """Every ten seconds, until two minutes are over. The pods that went are gone; the node stays,
    and its clock begins again, but nothing cools down."""
    pods = (owned("a", "g-1", 300), owned("b", "g-1", 300))
    stage = Stage(*pods, passes=(0, 600.5, 740, 1340, 1341))
    stage.world.add(budget(1, app="web"))
    stage.at(610, end("a"))
    said = stage.play()
    tries = sorted({*stage.writes("create/eviction pods/default/b")})
    assert tries == [605.5 + 10 * n for n in range(12)]
    assert said[3:5] == [
        (725.5, "b", "failed to delete pod for ScaleDown"),
        (
            725.5, "g-1",
            "failed to drain and delete node: Failed to drain node /g-1, due to following errors: "
            "[failed to evict pod default/b within allowed timeout (last error: Cannot evict pod "
            "as it would violate the pod's disruption budget.)]",
        ),
    ]  # fmt: skip
    assert TAINT not in stage.taints("g-1")


@pytest.mark.spec("CA-29")
def test_a_pod_that_stays_is_awaited_for_its_grace_and_half_a_minute() -> None:
    """Then the node is let be."""
    stage = Stage(owned("a", "g-1"))
    why = "failed to drain and delete node: Failed to drain node /g-1: pods remaining after timeout"
    assert stage.play(max_graceful_termination_ms=GRACEFUL_MS)[-1] == (665.5, "g-1", why)
    assert TAINT not in stage.taints("g-1")


@pytest.mark.spec("CA-29")
def test_the_second_look_evicts_what_has_come_and_minds_what_may_not_go() -> None:
    """A new pod that can move is evicted as well; one that nothing makes again stops it all."""
    stage = Stage(owned("a", "g-1"))
    stage.at(603, create(owned("x", "g-1")))
    stage.at(607, end("a", "x"))
    assert stage.play()[-1] == (610.5, "g-1", "nodes removed by cluster autoscaler")
    stage = Stage(owned("a", "g-1"))
    stage.at(603, create(owned("x", "g-1", owner="")))
    why = "failed to drain and delete node: "
    why += 'GetPodsToMove for "g-1" returned error: default/x is not replicated'
    assert stage.play()[-1] == (605.5, "g-1", why)
    assert stage.writes("create/eviction") == []


@pytest.mark.spec("CA-29")
def test_a_cloud_that_refuses_leaves_the_node() -> None:
    """Without its taint."""
    stage = Stage(delete_errors=1)
    why = "failed to delete empty node: failed to delete g-1: cloud says no"
    assert stage.play()[-1] == (605.5, "g-1", why)
    assert TAINT not in stage.taints("g-1")


@pytest.mark.spec("CA-29")
def test_daemon_pods_are_evicted_but_not_awaited() -> None:
    """Those of a node that is drained, if the options or their own annotation say so; those of an
    empty one, only if they are told to."""
    daemon = owned("d", "g-1", 100, owner="DaemonSet/ds", node_selector={"host": "g-1"})
    stays = annotated(owned("s", "g-1", 100, owner="DaemonSet/ds"), enable_ds_eviction="false")
    empty = Stage(daemon, stays)
    assert "evict" not in str(empty.play())
    assert empty.writes("create/eviction") == []
    told = Stage(daemon, stays)
    told.play(daemonset_eviction_for_empty_nodes=True)
    assert {*told.writes("create/eviction pods/default/d")} == {605.5}
    assert told.writes("create/eviction pods/default/s") == []
    assert told.writes("delete-nodes nodegroups") == [605.5]


@pytest.mark.spec("CA-29")
def test_a_node_may_be_cordoned_as_well() -> None:
    """In one write with its taint; and it is uncordoned if it stays after all."""
    stage = Stage()
    seen: list[bool] = []

    async def look(client: Client) -> None:
        seen.append((await client.get(Node, "g-1")).spec.unschedulable)

    stage.at(602, look)
    stage.at(603, create(owned("x", "g-1", owner="")))
    stage.at(606, look)
    stage.play(cordon_node_before_terminating=True)
    assert seen == [True, False]


@pytest.mark.spec("CA-29")
def test_a_node_may_ask_to_wait() -> None:
    """By an annotation, two minutes at most; it is looked at every five seconds."""

    def asks(value: str | None) -> Deed:
        name = "delay-deletion.cluster-autoscaler.kubernetes.io/x"
        patch = {"metadata": {"annotations": {name: value}}}
        return lambda client: client.patch(Node("g-1"), patch)

    stage = Stage()
    stage.at(1, asks("1"))
    stage.play()
    assert stage.writes("delete-nodes nodegroups") == [725.5]
    stage = Stage()
    stage.at(1, asks("1"))
    stage.at(627, asks(None))
    stage.play()
    assert stage.writes("delete-nodes nodegroups") == [630.5]


@pytest.mark.spec("CA-31")
def test_the_first_pass_cleans_up_after_an_earlier_life() -> None:
    """Only the taint of nodes that were about to go; the soft ones only if they are not used, and
    then the first write is in the way of the second."""
    mark = {"key": TAINT, "value": "1", "effect": "NoSchedule"}
    soft = {"key": SOFT, "value": "1", "effect": "PreferNoSchedule"}

    def tainted(client: Client) -> Any:
        return client.patch(Node("g-2"), {"spec": {"taints": [mark, soft]}})

    stage = Stage(passes=(1,))
    stage.at(0, tainted)
    assert stage.play()[0] == (1, "g-2", "removed ToBeDeletedTaint taint from node g-2")
    assert stage.taints("g-2") == []
    stage = Stage(passes=(1,))
    stage.at(0, tainted)
    assert stage.play(max_bulk_soft_taint_count=0) == [
        (1, "g-2", "removed ToBeDeletedTaint taint from node g-2"),
        (1.75, "g-2", "removed DeletionCandidateTaint taint from node g-2"),
    ]


@pytest.mark.spec("CA-30")
def test_only_a_taint_that_fails_cools_down() -> None:
    """Three minutes later it tries again, however long the node has been unneeded."""
    stage = Stage(passes=(0, 61, 70, 240, 241))
    stage.world.allow(ServerError("autoscaler"))
    stage.cues = [
        "serve autoscaler/* update nodes/g-1", "serve autoscaler/* groups nodegroups#2",
        "fault * autoscaler* update nodes/g-1*",
    ]  # fmt: skip
    said = stage.play(unneeded_time_ms=60_000)
    assert [line[0] for line in said] == [61, 241, 246]
    assert said[0][2].startswith("failed to mark the node as toBeDeleted/unschedulable: ")


@pytest.mark.spec("CA-28")
def test_running_deletions_count_as_a_part_of_the_ten() -> None:
    """A node that is chosen beyond the number is not deleted, but its clock begins again; so its
    soft taint goes, and comes back in the next pass."""
    stage = Stage(passes=(0, 600.5, 602, 604), target=3)
    stage.play(max_empty_bulk_delete=1)
    assert stage.writes("update nodes/g-1") == [0, 600.5]
    assert stage.writes("update nodes/g-3") == [0, 602, 604]


def test_several_nodes_are_tainted_or_none() -> None:
    """If the second taint fails, the first is taken off again, and nothing is deleted."""
    stage = Stage(passes=(0, 600.5), target=3)
    stage.world.allow(ServerError("autoscaler"))
    stage.cues = [
        "serve autoscaler/* update nodes/g-1", "serve autoscaler/* update nodes/g-1#2",
        "fault * autoscaler* update nodes/g-3*",
    ]  # fmt: skip
    stage.play()
    assert TAINT not in stage.taints("g-1") + stage.taints("g-3")
    assert stage.writes("delete-nodes nodegroups") == []


def test_passes_go_on_while_an_old_verdict_is_believed() -> None:
    """The pod ends after a minute; the node is looked at again after five, and goes ten later."""
    stage = Stage(owned("a", "g-1", owner=""), passes=())
    stage.at(60, end("a"))
    stage.play()
    (gone,) = stage.writes("delete-nodes nodegroups")
    assert 910 < gone < 930


@pytest.mark.spec("CA-29")
def test_evictions_without_an_answer_are_given_up() -> None:
    """Five seconds after the time for them is over. Those of daemon pods are waited for as long,
    but that they fail does not matter; on an empty node only for ten seconds."""
    stage = Stage(owned("a", "g-1"))
    stage.world.latency("evict pods/default/a", serve_ms=200_000)
    why = "failed to drain and delete node: "
    why += "Failed to drain node /g-1: timeout when waiting for creating evictions"
    assert stage.play()[-1] == (730.5, "g-1", why)

    daemon = owned("d", "g-1", 100, owner="DaemonSet/ds")
    stage = Stage(daemon)
    stage.world.latency("evict pods/default/d", serve_ms=200_000)
    stage.play(daemonset_eviction_for_empty_nodes=True)
    assert stage.writes("delete-nodes nodegroups") == [615.5]

    stage = Stage(owned("a", "g-1"), daemon)
    stage.world.add(DaemonSet("ds"))
    stage.world.latency("evict pods/default/d", serve_ms=200_000)
    stage.at(607, end("a"))
    stage.play()
    assert stage.writes("delete-nodes nodegroups") == [730.5]


@pytest.mark.spec("CA-29")
def test_the_budgets_are_asked_again_before_a_drain() -> None:
    """One that allows nothing any more stops it."""
    stage = Stage(owned("a", "g-1"))
    stage.at(602, create(budget(0, app="web")))
    why = "failed to drain and delete node: GetPodsToMove for "
    why += '"g-1" returned error: not enough pod disruption budget to move default/a'
    assert stage.play()[-1] == (605.5, "g-1", why)


def test_nodes_may_be_drained_side_by_side() -> None:
    """If drains are parallel: their pods have places that do not depend on each other."""
    stage = Stage(owned("a", "g-1", 300), owned("b", "g-3", 300), target=3)
    stage.at(612, end("a", "b"))
    stage.play(parallel_drain=True, max_drain_parallelism=2)
    assert stage.writes("delete-nodes nodegroups") == [615.5, 615.5]
    alone = Stage(owned("a", "g-1", 300), owned("b", "g-3", 300), target=3)
    alone.at(612, end("a", "b"))
    alone.play(parallel_drain=True)
    assert alone.writes("delete-nodes nodegroups") == [615.5]
