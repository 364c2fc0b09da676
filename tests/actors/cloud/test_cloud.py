"""Cloud: what the provider answers, and what becomes of its machines."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from actors.apiserver import ApiServer
from actors.cloud import Boot, Cloud, CloudInstance, CloudQuota, NodeGroup, join_cloud
from actors.kubelet import Machine
from actors.shared.machines import make_ready
from actors.shared.node_groups import (
    Instance,
    decrease,
    delete_nodes,
    groups,
    increase,
    instances,
)
from testbed import Calm, Chooser, Client, Operation, Uniform, World
from testbed.errors import Forbidden, InternalError, Invalid, NotFound
from testbed.objects import Condition, Map, Node, Pod
from testbed.store.endpoint import answer_at_once
from testbed.store.footprint import Marks
from testbed.store.store import Store
from tests.each_row import each_row
from tests.shared.stage import Puppet

TEMPLATE = Node.of("any", cpu_m=4000, memory=2**33, labels={"pool": "g"})
GROUP = NodeGroup("g", max_size=3, target=1, template=TEMPLATE)
Saw = list[Any]


def play(
    *given: NodeGroup,
    do: Any,
    pods: tuple[Pod, ...] = (),
    chooser: Chooser | None = None,
    **settings: Any,
) -> World:
    """A World with a cloud and somebody who asks it; it must hold."""
    world = World("cloud")
    world.serve(ApiServer)
    join_cloud(world, *given, **settings)
    world.add(*pods)
    world.start(Puppet("ann", do))
    verdict = world.run(chooser or Calm())
    assert verdict.among_others == "held", verdict
    return world


def nodes(world: World) -> dict[str, bool]:
    """The nodes at the end, and which of them are Ready."""
    found: list[Any] = [entry.value for entry in world.store.snapshot("nodes/")]
    return {
        each.meta.name: any(c.type == "Ready" and c.is_true for c in each.status.conditions)
        for each in found
    }


@each_row("has_kubelets", [True, False])
def test_what_is_wanted_more_registers_and_turns_ready(has_kubelets: bool) -> None:
    """The target is raised at once; the Node comes after its time, and is Ready later (CA-21)."""
    saw: Saw = []

    async def do(client: Client) -> None:
        saw.append(await increase(client, "g", 2))
        for at_ms in (59_999, 60_500, 90_500):
            await client.sleep(at_ms - client.now())
            nodes = (await client.list(Node)).items
            saw.append([(n.meta.name, len(n.spec.taints), n.status.conditions[0].status)
                        for n in nodes])  # fmt: skip
            saw.append([each.state for each in await instances(client, "g")])

    settings: dict[str, Any] = {"machine": Machine} if has_kubelets else {}
    boot = Boot(register_ms=60_000, ready_ms=90_000)
    play(attrs.evolve(GROUP, boots=(boot,)), do=do, **settings)
    old = ("g-1", 0, "True")
    assert saw == [
        3,
        [old], ["running", "creating", "creating"],
        [old, ("g-2", 1, "False"), ("g-3", 1, "False")], ["running"] * 3,
        [old, ("g-2", 0, "True"), ("g-3", 0, "True")], ["running"] * 3,
    ]  # fmt: skip


def test_what_is_deleted_goes_with_its_node_and_its_pods() -> None:
    """The target falls at once; the instance is deleting, and then all is gone (CA-29)."""
    saw: Saw = []

    async def do(client: Client) -> None:
        saw.append(await delete_nodes(client, "g", ("g-1",)))
        saw.append(await instances(client, "g"))
        await client.sleep(2500)
        saw.append(await instances(client, "g"))
        saw.append((await client.list(Pod)).items)

    world = play(GROUP, pods=(Pod.of("p", node_name="g-1"),), do=do, machine=Machine)
    assert saw == [0, (Instance("g-1", "deleting"),), (), ()]
    assert nodes(world) == {}


def test_only_a_node_that_boots_is_made_ready() -> None:
    """One of which somebody has said since that it is not, is not ready."""
    unknown = Condition("Ready", "Unknown", "NodeStatusUnknown", "")

    async def do(client: Client) -> None:
        await make_ready(client, "g-1")
        await make_ready(client, "nowhere")

    world = World("cloud")
    world.serve(ApiServer)
    node = Node.of("g-1")
    world.add(attrs.evolve(node, status=attrs.evolve(node.status, conditions=(unknown,))))
    world.start(Puppet("ann", do))
    assert world.run(Calm()).among_others == "held"
    assert nodes(world) == {"g-1": False}


def test_less_can_be_wanted_without_a_deletion() -> None:
    """`decrease` lowers the target and lets every instance live."""
    saw: Saw = []

    async def do(client: Client) -> None:
        saw.append(await decrease(client, "g", 1))
        saw.append(await instances(client, "g"))
        with pytest.raises(Invalid):
            await decrease(client, "g", 1)

    play(GROUP, do=do)
    assert saw == [0, (Instance("g-1"),)]


def test_a_cloud_refuses_as_often_as_it_is_told() -> None:
    """The first calls fail without effect; the next succeed. So it is with deletions."""
    saw: Saw = []

    async def do(client: Client) -> None:
        with pytest.raises(Forbidden, match="quota exceeded"):
            await increase(client, "g", 1)
        saw.append(await increase(client, "g", 1))
        for _ in range(2):
            with pytest.raises(InternalError, match="cloud says no"):
                await delete_nodes(client, "g", ("g-1",))
        with pytest.raises(Invalid, match="may want 3"):
            await increase(client, "g", 2)

    world = play(attrs.evolve(GROUP, increase_errors=1, delete_errors=-1), do=do)
    assert saw == [2]
    group: Any = world.store.peek("nodegroups/g").value  # type: ignore[union-attr]
    assert (group.increase_errors, group.delete_errors) == (0, -1)


def test_a_cloud_may_keep_the_minimum_itself() -> None:
    """Most do not: the autoscaler looks after it."""

    async def do(client: Client) -> None:
        with pytest.raises(Forbidden, match="keeps 1"):
            await delete_nodes(client, "g", ("g-1",))

    play(attrs.evolve(GROUP, min_size=1, keeps_min=True), do=do)


def test_a_cloud_without_a_free_name_refuses() -> None:
    """What is on its way out keeps its name until nothing of it is left."""

    async def do(client: Client) -> None:
        await delete_nodes(client, "g", ("g-1",))
        with pytest.raises(Forbidden, match="2 free names and needs 3"):
            await increase(client, "g", 3)
        await client.sleep(3000)
        await increase(client, "g", 3)

    play(attrs.evolve(GROUP, spare=0), do=do)


def test_a_quota_is_over_all_groups() -> None:
    """Instances, or cpu by the templates; the call is refused."""

    async def do(client: Client) -> None:
        await increase(client, "g", 1)
        with pytest.raises(Forbidden, match="12000m cpu, 8000m is granted"):
            await increase(client, "h", 1)

    other = NodeGroup("h", max_size=3, template=TEMPLATE)
    play(GROUP, other, do=do, quota=CloudQuota(cpu_m=8000))

    async def many(client: Client) -> None:
        with pytest.raises(Forbidden, match="3 instances, 2 are granted"):
            await increase(client, "h", 2)

    play(GROUP, other, do=many, quota=CloudQuota(instances=2))


def test_what_is_out_of_stock_reports_an_error() -> None:
    """The call succeeds, and the machine says why it never comes (CA-7)."""
    saw: Saw = []

    async def do(client: Client) -> None:
        await increase(client, "g", 2)
        saw.append([each.error_code for each in await instances(client, "g")])

    world = play(attrs.evolve(GROUP, stock=2), do=do)
    assert saw == [["", "", "ZONE_RESOURCE_POOL_EXHAUSTED"]]
    assert sorted(nodes(world)) == ["g-1", "g-2"]


def test_a_machine_may_never_come_up() -> None:
    """Without an error; with one after its time; or all but the first (CA-5, CA-7)."""
    saw: Saw = []
    failing = Boot(None, error_ms=5000, error_code="STOCKOUT")

    async def do(client: Client) -> None:
        for name in ("g", "h", "i"):
            await increase(client, name, 2)
        await client.sleep(4000)
        saw.append([each.error_code for each in await instances(client, "h")])
        await client.sleep(2000)
        saw.append([each.error_code for each in await instances(client, "h")])

    def group(name: str, boot: Boot) -> NodeGroup:
        return NodeGroup(name, template=TEMPLATE, boots=(boot,))

    lost, errs, one = group("g", Boot(None)), group("h", failing), group("i", Boot(0, only=1))
    world = play(lost, errs, one, do=do)
    assert saw == [["", ""], ["STOCKOUT", "STOCKOUT"]]
    assert sorted(nodes(world)) == ["i-1"]


def test_how_a_machine_boots_may_be_picked() -> None:
    """Of several boots the Chooser picks one, the first in the calm run."""

    async def do(client: Client) -> None:
        await increase(client, "g", 1)

    group = attrs.evolve(GROUP, boots=(Boot(5000), Boot(None)))
    assert sorted(nodes(play(group, do=do))) == ["g-1", "g-2"]
    ends = {len(nodes(play(group, do=do, chooser=Uniform(seed)))) for seed in range(6)}
    assert ends == {1, 2}


def test_a_spot_instance_goes_without_being_asked() -> None:
    """`reclaim` takes it at once; the target stays."""
    saw: Saw = []

    async def do(client: Client) -> None:
        await client.ask(Operation("reclaim", "nodegroups", "g", body=("g-1",), endpoint="cloud"))
        await client.sleep(100)
        saw.append((await groups(client))[0].target)
        with pytest.raises(NotFound):
            await delete_nodes(client, "g", ("g-1",))

    world = play(GROUP, do=do)
    assert saw == [1]
    assert nodes(world) == {}


def test_names_may_rise_and_settings_be_adjusted() -> None:
    """Then no name is ever used again; an operator may change any setting."""
    saw: Saw = []

    async def do(client: Client) -> None:
        await increase(client, "g", 1)
        await delete_nodes(client, "g", ("g-new-1",))
        await client.sleep(5000)
        change = Map(max_size=5)
        await client.ask(Operation("adjust", "nodegroups", "g", body=change, endpoint="cloud"))
        await increase(client, "g", 4)
        saw.extend(each.name for each in await instances(client, "g"))
        wrong = Map(size=5)
        with pytest.raises(Invalid, match="no 'size'"):
            await client.ask(Operation("adjust", "nodegroups", "g", body=wrong, endpoint="cloud"))

    play(attrs.evolve(GROUP, naming="rising"), do=do)
    assert saw == ["g-1", "g-new-2", "g-new-3", "g-new-4", "g-new-5"]


def test_what_cannot_be_asked_is_refused() -> None:
    """An unknown group, machine or verb; a number that is none."""

    async def do(client: Client) -> None:
        with pytest.raises(NotFound, match="no node group 'x'"):
            await increase(client, "x", 1)
        with pytest.raises(Invalid, match="cannot create"):
            await client.ask(Operation("create", "nodegroups", "g", endpoint="cloud"))
        with pytest.raises(Invalid, match="expected how many"):
            await client.ask(Operation("increase", "nodegroups", "g", endpoint="cloud"))
        with pytest.raises(NotFound, match="no instance 'g-7'"):
            await client.ask(Operation("forget", "cloudinstances", "g-7", endpoint="cloud"))
        with pytest.raises(Invalid, match="not gone"):
            await client.ask(Operation("forget", "cloudinstances", "g-1", endpoint="cloud"))

    play(GROUP, do=do)


CALLS = (
    Operation("groups", "nodegroups"),
    Operation("instances", "nodegroups", "g"),
    Operation("increase", "nodegroups", "g", options=Map(by=2)),
    Operation("decrease", "nodegroups", "g", options=Map(by=1)),
    Operation("delete-nodes", "nodegroups", "g", body=("g-1",)),
    Operation("reclaim", "nodegroups", "g", body=("g-1",)),
    Operation("adjust", "nodegroups", "g", body=Map(max_size=9)),
    Operation("draw", "cloudinstances", "g-2", body=1),
    Operation("forget", "cloudinstances", "g-3"),
    Operation("get", "cloudinstances", "g-1"),
    Operation("list", "nodegroups"),
)


@each_row("naming", ["slots", "rising"])
@each_row("call", CALLS, ids=str)
def test_a_call_touches_no_more_than_it_announces(call: Operation, naming: str) -> None:
    """Or a complete search would leave out orders that matter."""
    store = Store()
    group = attrs.evolve(GROUP, naming=naming, max_size=5, target=2, made=4)
    drawn = CloudInstance("g-2", group="g", boots=(Boot(), Boot(None)))
    for item in (group, CloudInstance("g-1", group="g"), drawn):
        store.put(item.key, item)
    store.put("cloudinstances/g-3", CloudInstance("g-3", group="g", gone_ms=0))
    cloud = Cloud(store, quota=CloudQuota(instances=9))
    announced = cloud.may(call, "ann")
    store.marks = Marks()
    answer_at_once(cloud, call, "ann")
    touched = store.marks.footprint()
    # Opening a cursor that follows the Store reads the past, and finds none.
    assert touched.reads - {"history"} <= announced.reads
    kinds = {key.partition(".")[0] for key in touched.writes}
    assert kinds <= announced.writes
