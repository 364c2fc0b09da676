"""The drain: what it evicts, how it asks again, what it waits for, and when it gives up."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any

import attrs
import pytest

from actors.kubelet import Workload
from actors.users.commands import DrainCommand
from actors.users.drain import DAEMONS, UNMANAGED, Drain, DrainOptions
from testbed.choosers.calm import Calm
from testbed.client.client import Client
from testbed.errors import ScenarioError
from testbed.faults.lose_reply import LoseReply
from testbed.faults.server_error import ServerError
from testbed.objects import (
    DaemonSet,
    LabelSelector,
    Map,
    Meta,
    Object,
    Owner,
    Pod,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
)
from testbed.objects.pod import FAILED, PodStatus
from testbed.turns.trace import Trace
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.nodes import node_world
from tests.shared.stage import Cued, Doing


def owned(name: str, kind: str = "ReplicaSet", **spec: Any) -> Pod:
    """A pod on the node that something manages; it ends as soon as it is told to."""
    pod = Pod.of(name, cpu_m=100, node_name="n1", labels={"app": "web"}, **spec)
    owner = Owner("apps/v1", kind, "own", "uid-own", controller=True)
    return Workload(stops_after_ms=1500).given_to(pod.with_meta(owners=(owner,)))


def budget(allowed: int) -> PodDisruptionBudget:
    """A budget of all those pods, which allows so many disruptions and is never counted again."""
    spec = PodDisruptionBudgetSpec(selector=LabelSelector(Map(app="web")))
    return PodDisruptionBudget(
        Meta("all", "default"), spec=spec,
        status=PodDisruptionBudgetStatus(disruptions_allowed=allowed),
    )  # fmt: skip


def drained(
    *things: Object, cues: tuple[str, ...] = (), faults: tuple[Any, ...] = (),
    user: Doing | None = None, again_after_ms: int | None = None, nodes: tuple[str, ...] = ("n1",),
    **options: Any,
) -> World:  # fmt: skip
    """A node with these things, drained at 5 s."""
    world = node_world(*things, user=user, is_judged=False)
    for fault in faults:
        world.allow(fault)
    world.start(Drain("drain", nodes, 5000, DrainOptions(**options), again_after_ms=again_after_ms))
    world.limit(virtual_ms_max=60_000)
    trace = Trace({}, keep=True)
    world.run(Cued(*cues) if cues else Calm(), driver="direct", trace=trace)
    return world


def left(world: World) -> list[str]:
    """The pods that are still there."""
    return [entry.key.rpartition("/")[2] for entry in world.store.snapshot("pods/")]


def said(world: World) -> list[tuple[Any, ...]]:
    """What the command printed."""
    records = [each for each in world.evidence.records if each.path.startswith("drain/")]
    return [(each.now_ms, each.name, *each.facts.get("errors", ())) for each in records]


def test_a_drained_node_is_cordoned_and_empty() -> None:
    """All pods are evicted at once; the command ends when it sees that they have gone."""
    world = drained(owned("a"), owned("b"))
    assert said(world) == [(5000, "cordoned"), (7000, "drained")]
    assert left(world) == []
    node: Any = world.store.peek("nodes/n1")
    assert node.value.spec.unschedulable
    deaths = [c for c in world.store.log("pods").changes if c.new is None]
    assert len(deaths) == 2


def test_mirror_pods_and_pods_of_a_daemonset_stay() -> None:
    """The one no request can end; the other would come back at once."""
    mirror = owned("m").with_meta(annotations=Map({"kubernetes.io/config.mirror": "x"}))
    things = DaemonSet("own"), owned("a"), owned("d", "DaemonSet"), mirror
    world = drained(*things, ignore_daemonsets=True)
    assert left(world) == ["d", "m"]
    assert said(world)[-1][1] == "drained"


def test_without_ignore_daemonsets_nothing_is_evicted() -> None:
    """One pod of a DaemonSet, and the node is left as it is, though cordoned; so it is by default,
    as with kubectl."""
    world = drained(DaemonSet("own"), owned("a"), owned("d", "DaemonSet"))
    assert left(world) == ["a", "d"]
    assert said(world)[-1] == (5000, "drain failed", f"{DAEMONS}: pods/default/d")


@each_row("force", [False, True])
def test_a_pod_that_nothing_creates_again_goes_by_force_alone(force: bool) -> None:
    """One without a controller, or whose DaemonSet is no more; one that is over goes anyway."""
    bare = Pod.of("bare", cpu_m=100, node_name="n1", grace_s=1)
    over = attrs.evolve(bare.with_meta(name="over"), status=PodStatus(phase=FAILED))
    world = drained(bare, over, owned("d", "DaemonSet"), force=force)
    assert left(world) == ([] if force else ["bare", "d", "over"])
    errors = said(world)[-1][2:]
    assert errors == () if force else errors[0] == f"{UNMANAGED}: pods/default/bare"
    assert len(errors) == (0 if force else 2)
    assert left(drained(over)) == []


def test_a_budget_that_says_no_is_asked_again_every_five_seconds() -> None:
    """Until the time is over; the pods that it let go are gone by then."""
    world = drained(owned("a"), owned("b"), budget(1), timeout_ms=12_000)
    assert left(world) == ["b"]
    late = "error when evicting pods/default/b: global timeout reached"
    assert said(world)[-1] == (20_000, "drain failed", late)
    asked = [
        step.now_ms for step in world.trace.steps
        if fnmatchcase(str(step.sentence), "serve *evict-default-b create/eviction pods/*")
    ]  # fmt: skip
    assert sorted(set(asked)) == [5000, 10_000, 15_000]


def test_a_pod_that_does_not_end_is_waited_for_until_the_time_is_over() -> None:
    """By default for ever; or not, if its deletion is long overdue."""
    slow = Workload(is_deaf=True).given_to(owned("a", grace_s=20))
    world = drained(slow, timeout_ms=4000)
    late = "error when waiting for pods/default/a: global timeout reached"
    assert said(world)[-1] == (9000, "drain failed", late)
    assert said(drained(slow))[-1] == (26_000, "drained")


def test_the_grace_of_the_command_counts_for_every_pod() -> None:
    """In place of the pod's own."""
    slow = Workload(is_deaf=True).given_to(owned("a", grace_s=50))
    for disable in (False, True):
        world = drained(slow, grace_s=3, disable_eviction=disable)
        assert said(world)[-1] == (9000, "drained")


def test_pods_that_are_deleted_ask_no_budget() -> None:
    """`--disable-eviction`: all go, and the budget stays as it was."""
    world = drained(owned("a"), owned("b"), budget(0), disable_eviction=True)
    assert said(world)[-1] == (7000, "drained")
    there: Any = world.store.peek("poddisruptionbudgets/default/all")
    assert there.value.status.disrupted_pods == {}


def test_another_pod_of_that_name_is_not_waited_for() -> None:
    """It has another uid: the one that was evicted has gone. Nor is it evicted, since the node was
    listed before it came."""

    async def user(client: Client) -> None:
        await client.sleep(6600)
        await client.create(owned("a"))

    world = drained(owned("a"), user=user)
    assert said(world)[-1] == (7000, "drained")
    assert left(world) == ["a"]


@each_row("again_after_ms", [None, 3000])
def test_any_other_refusal_ends_it(again_after_ms: int | None) -> None:
    """It is not repeated by the command, but by whoever gives the command again."""
    world = drained(
        owned("a"), faults=(ServerError("drain", code=500),),
        cues=("serve drain/*patch nodes*", "fault * server_error *"),
        again_after_ms=again_after_ms,
    )  # fmt: skip
    ends = [name for _, name, *_ in said(world)]
    assert ends == (
        ["cordoned", "drain failed"] if again_after_ms is None
        else ["cordoned", "drain failed", "drained"]
    )  # fmt: skip


def test_a_node_that_could_not_be_cordoned_is_emptied_all_the_same() -> None:
    """As version 1.26 does: the answer to the cordon is lost, and the command goes on."""
    world = drained(
        owned("a"), faults=(LoseReply("drain"),),
        cues=("serve drain/*patch nodes*", "fault * lose_reply *"),
    )  # fmt: skip
    assert [name for _, name, *_ in said(world)] == ["not cordoned", "drained"]
    assert left(world) == []


def test_a_node_that_is_not_there_ends_it_before_anything_is_done() -> None:
    """No other node is cordoned either, since kubectl looks for all of them first."""
    world = drained(owned("a"), nodes=("n1", "n7"))
    assert said(world) == [(5000, "drain failed", 'nodes "n7" not found')]
    assert left(world) == ["a"]
    node: Any = world.store.peek("nodes/n1")
    assert not node.value.spec.unschedulable


def test_a_node_that_is_not_told_of_is_asked_for_again_later() -> None:
    """By whoever gives the command again, as after any other refusal."""
    world = drained(
        owned("a"), faults=(LoseReply("drain"),),
        cues=("serve drain/*get nodes*", "fault * lose_reply *"), again_after_ms=3000,
    )  # fmt: skip
    failed = (5000, "drain failed", "cannot get nodes/n1: ServiceUnavailable")
    assert said(world) == [failed, (8000, "cordoned"), (10_000, "drained")]


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "a node": (
        lambda: Drain("drain", "n1"),  # type: ignore[arg-type]
        r"^Drain.nodes is 'n1': expected a tuple of names.\nNext: say \('n1',\), also for one.$",
    ),
    "a node of a command": (
        lambda: DrainCommand("n1"),  # type: ignore[arg-type]
        "^DrainCommand.nodes is 'n1': expected a tuple",
    ),
    "a time": (
        lambda: Drain("drain", ("n1",), -12),
        "^Drain.at_ms is -12: expected a whole number from 0.\nNext: say at_ms=0.$",
    ),
    "a time-out": (
        lambda: DrainOptions(timeout_ms=-1),
        "^DrainOptions.timeout_ms is -1: expected a whole number from 1, or None.\nNext: say ",
    ),
    "a time-out of 0": (lambda: DrainOptions(timeout_ms=0), "is 0: expected a whole number from 1"),
    "a retry": (lambda: Drain("drain", ("n1",), again_after_ms=0), "again_after_ms is 0"),
    "a grace": (lambda: DrainOptions(grace_s=-1), "grace_s is -1: expected a whole number from 0"),
}  # fmt: skip


@each_row("name", WRONG)
def test_what_can_be_no_setting_is_refused(name: str) -> None:
    """When it is said, with what it may be."""
    make, error = WRONG[name]
    with pytest.raises(ScenarioError, match=error):
        make()
