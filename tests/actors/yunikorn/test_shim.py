"""The shim: what it tells the core of pods and nodes, and what it does in Kubernetes for it."""

from __future__ import annotations

from typing import Any

import pytest

from actors.shared.verbs import bind
from actors.yunikorn.invariants import yunikorn_claims
from actors.yunikorn.shim.pods import (
    ALLOW_PREEMPTION,
    allows_preemption,
    app_of,
    queue_of,
    request_for,
    required_node_of,
)
from testbed.choosers.calm import Calm
from testbed.client.client import Client
from testbed.faults.crash import Crash
from testbed.faults.lose_reply import LoseReply
from testbed.faults.server_error import ServerError
from testbed.objects import (
    LabelSelector,
    Map,
    Meta,
    Node,
    Owner,
    Pod,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PriorityClass,
)
from testbed.races.playing import play as play_race
from testbed.races.racefile import parse
from testbed.world.scenario import of
from testbed.world.world import World
from tests.each_row import each_row
from tests.models.worlds.cores import NODE, books, daemons, node_of_y1, seen, yunikorns
from tests.shared.nodes import at, delete
from tests.shared.stage import play

X = "x-vbbhn"
"""The pod of the DaemonSet, as the server names it."""
CREATED = (40_000, daemons())
OWNER = Owner("apps/v1", "DaemonSet", "x", "u1", controller=True)


def calm(world: World) -> World:
    """The same, played calmly; every claim holds."""
    verdict = world.run(Calm(), driver="direct")
    assert verdict.is_held, str(verdict)
    return world


def victims_of(world: World) -> list[str]:
    """What the shim wanted deleted, each as often as it did."""
    records = (each for each in world.table.records if each.name == "preempts")
    return [each.facts["pod"].rpartition("/")[2] for each in records]


# -- GT-Y1 ----------------------------------------------------------------------------------------


@pytest.mark.spec("YK-6", "YK-10", "YK-22", "YK-28", "YK-29", "YK-30", "YK-31", "INV-42", "INV-43")
@each_row(
    ("profile", "switches"),
    [
        ("k8s-1.26", {}), ("k8s-modern", {}), ("seed", {}),
        ("k8s-1.26", {"strategy": "multiple,single"}),
    ],
)  # fmt: skip
def test_the_timeline_of_y1_is_as_it_is_written(profile: str, switches: dict[str, Any]) -> None:
    """GT-Y1: two victims are told to end 100 ms after the ask was reserved, with their own grace;
    the daemon pod is bound when both are gone. Each is deleted once, in every version."""
    world = calm(node_of_y1(CREATED, profile=profile, **switches))
    assert seen(world, "r", "o", "d", "x")[5:] == [
        "40100 delete r3 until 70000", "40100 delete r2 until 70000", "70100 remove r3",
        "70100 remove r2", f"70100 bind {X} n", f"70100 {X} Running",
    ]  # fmt: skip
    assert victims_of(world) == ["r3", "r2"]
    assert dict(books(world).root.preempting) == {}


@pytest.mark.spec("YK-13", "YK-25")
def test_a_timeline_without_victims_ends_with_an_event() -> None:
    """GT-Y1 with at most one victim: x keeps waiting, and people can read why."""
    world = calm(node_of_y1(CREATED, strategy="multiple", max_victims="1"))
    assert seen(world, "r", "x")[3:] == []
    events = [entry.value for entry in world.store.snapshot("events/")]
    said = [event.message for event in events if event.reason.startswith("Required")]  # type: ignore[attr-defined]
    assert said == [f"no victims on n for pods/default/{X}"]


# -- pods -----------------------------------------------------------------------------------------


@pytest.mark.spec("YK-2")
def test_what_a_pod_is_to_the_core() -> None:
    """Its application, its queue, and whether it opts out: by itself or by its priority class."""
    pod = yunikorns("a", 2)
    assert (app_of(pod), queue_of(pod)) == ("batch", "root.default")
    assert app_of(Pod.of("b", scheduler_name="default-scheduler")) == ""
    assert app_of(Pod("c", spec=pod.spec)) == "yunikorn-default-autogen"
    assert queue_of(yunikorns("d", 1, queue="team.night")) == "root.team.night"
    assert queue_of(yunikorns("d", 1, queue="root.day")) == "root.day"
    never = PriorityClass(Meta("never", annotations=Map({ALLOW_PREEMPTION: "false"})), value=1)
    classed = Pod.of("e", priority_class_name="never")
    assert (allows_preemption(classed, [never]), allows_preemption(pod, [never])) == (False, True)
    assert dict(request_for(pod, "batch").amounts) == {"pods": 1, "cpu": 2000}


@pytest.mark.spec("YK-2")
@each_row(
    ("profile", "switches", "gone"),
    [
        ("k8s-1.26", {}, "labelled"), ("k8s-modern", {}, "labelled"),
        ("seed", {"strategy": "shipped"}, "plain"),
        ("k8s-1.26", {"opt_out_label": "on"}, "plain"),
    ],
)  # fmt: skip
def test_a_label_opts_out_in_the_design_document_alone(
    profile: str, switches: dict[str, Any], gone: str
) -> None:
    """The youngest goes first, unless it opts out; the annotation does that in every version."""
    opts_out = {ALLOW_PREEMPTION: "false"}
    pods = (
        yunikorns("first", 0, 1), yunikorns("plain", 3, 10),
        yunikorns("labelled", 3, 20, **opts_out),
        yunikorns("annotated", 3, 30).with_meta(annotations=Map(opts_out)),
    )  # fmt: skip
    world = calm(node_of_y1((40_000, daemons(cpu=3)), pods=pods, profile=profile, **switches))
    assert victims_of(world) == [gone]


@pytest.mark.spec("YK-2")
def test_only_pods_of_a_daemon_set_require_a_node() -> None:
    """Another pod with the same affinity may say so and is still an ordinary one."""
    world = calm(node_of_y1((0, daemons(cpu=1)), pods=()))
    pod: Any = world.store.peek(f"pods/default/{X}")
    assert required_node_of(pod.value) == NODE
    assert required_node_of(pod.value.with_meta(owners=())) == ""
    assert required_node_of(yunikorns("a", 1).with_meta(owners=(OWNER,))) == ""


@pytest.mark.spec("YK-2")
def test_the_first_pod_of_an_application_is_its_originator() -> None:
    """Until all of its pods are gone; the next one is the first one again."""
    world = calm(
        node_of_y1((100_000, yunikorns("late", 1)), user=at(
            (1_000, lambda client: delete(client, "b", grace_s=0)),
            (2_000, lambda client: delete(client, "a", grace_s=0)),
        ), pods=(yunikorns("a", 1, 1), yunikorns("b", 1, 2)))
    )  # fmt: skip
    batch = books(world).apps["batch"]
    assert [each.request.is_originator for each in batch.allocations.values()] == [True]


@pytest.mark.spec("YK-1")
def test_pods_of_other_schedulers_are_foreign_while_they_are_bound() -> None:
    """From their bind on, until they are gone."""

    async def theirs(client: Client) -> None:
        pod = await client.create(Pod.of("theirs", cpu_m=1000, scheduler_name="another"))
        await bind(client, pod, NODE)
        await client.sleep(1000)
        assert books(world).nodes[NODE].available["cpu"] == 9000
        await delete(client, "theirs", grace_s=0)

    world = node_of_y1(pods=(), user=theirs)
    calm(world)
    assert books(world).nodes[NODE].available["cpu"] == 10_000


@pytest.mark.spec("YK-4")
def test_a_pod_that_somebody_else_has_bound_is_booked_where_it_is() -> None:
    """Its ask is over; the reservation goes with it."""

    async def impatient(client: Client) -> None:
        await client.sleep(41_000)
        await bind(client, await client.get(Pod, X), NODE)

    world = calm(node_of_y1(CREATED, user=impatient, profile="k8s-modern"))
    assert books(world).reserved() == []
    (daemon,) = books(world).apps["daemons-x"].allocations.values()
    assert daemon.node == NODE


# -- releases -------------------------------------------------------------------------------------


@pytest.mark.spec("YK-32")
def test_a_daemon_pod_that_is_created_again_finds_further_victims() -> None:
    """Those of the pod before it die all the same, and do not count for the new one."""

    async def fickle(client: Client) -> None:
        await client.sleep(50_000)
        await delete(client, X, grace_s=0)

    world = calm(node_of_y1(CREATED, user=fickle, profile="k8s-modern"))
    assert victims_of(world) == ["r3", "r2", "r1", "o1", "d1"]
    removed = [each for each in seen(world, "r", "o", "d") if "remove" in each]
    assert removed == [
        "70100 remove r3", "70100 remove r2", "80100 remove r1", "80100 remove o1",
        "80100 remove d1",
    ]  # fmt: skip


@pytest.mark.spec("YK-33", "YK-12")
@each_row(("profile", "ends"), [("k8s-modern", "waits"), ("k8s-1.26", "runs")])
def test_a_victim_whose_delete_fails_is_forgotten_by_later_versions(
    profile: str, ends: str
) -> None:
    """The ask has triggered, and waits for ever; version 1.1 releases the victim again."""
    world = node_of_y1(CREATED, profile=profile)
    world.allow(ServerError("yunikorn", code=500))
    play(world, "fault * server_error yunikorn/callbacks delete pods/default/r3")
    node = books(world).apps["daemons-x"].allocations
    assert ("runs" if node else "waits") == ends
    assert [each.facts["pod"] for each in world.table.records if each.name == "not deleted"] == [
        "pods/default/r3"
    ]


@pytest.mark.spec("YK-27")
def test_no_disruption_budget_is_asked() -> None:
    """All pods of the application must stay, and two of them are deleted."""
    world = node_of_y1(CREATED)
    spec = PodDisruptionBudgetSpec(
        min_available="100%", selector=LabelSelector(Map(applicationId="batch"))
    )
    world.add(PodDisruptionBudget("all", spec=spec))
    assert victims_of(calm(world)) == ["r3", "r2"]


PICKED = """
scenario: test_shim:contended
picks:
  - yunikorn/main reserved ask#2: pods/default/y-44r9z
"""


def contended(world: World) -> None:
    """Two DaemonSets come at once. The victim of the first is gone before that of the second."""
    pods = (yunikorns("first", 0), yunikorns("busy", 4, 5), yunikorns("keep", 6, 1, app="other"))
    wanted = (CREATED, (40_000, daemons("y")))
    node_of_y1(*wanted, pods=pods, profile="k8s-modern", world=world)


@pytest.mark.spec("YK-31", "GEN-6")
def test_which_reserved_ask_comes_first_is_a_pick() -> None:
    """So the pod that had no victim yet may take the room of the other one's."""
    calmly = calm(of(contended).world())
    assert [each for each in seen(calmly, "x", "y") if "bind" in each] == [
        f"70100 bind {X} n", "70200 bind y-44r9z n",
    ]  # fmt: skip
    picked = play_race(parse(PICKED, "picked"), of(contended))
    assert picked.verdict.is_held, str(picked.verdict)
    assert [each for each in seen(picked.world, "x", "y") if "bind" in each] == [
        "70100 bind y-44r9z n", f"70200 bind {X} n",
    ]  # fmt: skip


# -- crashes --------------------------------------------------------------------------------------


@pytest.mark.spec("YK-37")
@each_row(("who", "at_ms"), [("yunikorn", 70_100), ("yunikorn-core", 71_100)])
def test_a_new_life_begins_from_what_kubernetes_says(who: str, at_ms: int) -> None:
    """The victims of the life before are found again, and not deleted twice, since they terminate.
    That its core has crashed the shim learns when it has something to tell."""
    world = node_of_y1(CREATED, profile="k8s-modern")
    world.allow(Crash(who, restart_after_ms=500))
    play(world, "answer yunikorn/callbacks delete pods/default/r2", f"fault * crash {who}")
    assert [each for each in seen(world, "r", "x") if "Running" not in each][-3:] == [
        "70100 remove r3", "70100 remove r2", f"{at_ms} bind {X} n",
    ]  # fmt: skip


@pytest.mark.spec("YK-4")
def test_a_cluster_whose_core_is_dead_for_good_comes_to_rest() -> None:
    """The shim asks again, later and later."""
    world = node_of_y1(CREATED)
    world.allow(Crash("yunikorn-core"))
    played = play(world, "serve yunikorn/news submit pods/default/x-*", "fault * crash *-core")
    assert played.verdict.end == "quiet"
    assert seen(world, "x") == []


@pytest.mark.spec("YK-4", "YK-31")
def test_a_bind_without_an_answer_is_known_by_the_watch() -> None:
    """It is not tried again once the shim has heard that the pod is bound."""
    world = node_of_y1((0, daemons()), pods=())
    world.allow(LoseReply("yunikorn"))
    play(world, "fault * lose_reply yunikorn/bind create/binding *")
    binds = [each for each in world.table.records if each.name in ("binds", "not bound")]
    assert [each.name for each in binds] == ["binds", "not bound"]


@pytest.mark.spec("INV-43")
def test_a_node_that_comes_back_has_the_pods_that_are_bound_there() -> None:
    """Those that the API says are there, and no others."""

    async def flap(client: Client) -> None:
        await client.sleep(5000)
        node = await client.get(Node, NODE)
        await client.delete(node, whatever_it_was=True)
        await client.sleep(1000)
        assert books(world).nodes == {}
        await client.create(node.with_meta(uid="", revision=Meta().revision))

    world = node_of_y1(user=flap)
    calm(world)
    assert sorted(each.request.pod for each in books(world).nodes[NODE].allocations.values()) == [
        f"pods/default/{name}" for name in ("d1", "first", "o1", "r1", "r2", "r3")
    ]


FLAP = """
scenario: test_shim:flapping
holds:
  - hold: yunikorn bind pods/default/p
    until: 5s
"""


def flapping(world: World) -> None:
    """A node is gone and back while the first pod is about to be bound to it."""

    async def flap(client: Client) -> None:
        await client.sleep(1000)
        node = await client.get(Node, NODE)
        await client.delete(node, whatever_it_was=True)
        await client.sleep(1000)
        await client.create(node.with_meta(uid="", revision=Meta().revision))

    pod = Pod.of("p", cpu_m=1000, scheduler_name="yunikorn")
    node_of_y1((0, pod), pods=(), user=flap, world=world)
    world.claim(*yunikorn_claims())


@pytest.mark.spec("INV-43")
def test_a_pod_that_is_bound_after_its_node_came_back_is_booked() -> None:
    """Its allocation went with the node, and its bind was on its way."""
    found = play_race(parse(FLAP, "flap"), of(flapping))
    assert found.verdict.is_held, str(found.verdict)
    assert [fate.took_place for fate in found.fates] == [True]
    (allocation,) = books(found.world).nodes[NODE].allocations.values()
    assert allocation.request.pod == "pods/default/p"


@pytest.mark.spec("YK-31")
def test_a_pod_that_cannot_be_bound_is_placed_again() -> None:
    """After eight tries, in which its room is kept; the ninth is of another allocation."""
    world = node_of_y1((0, daemons()), pods=(), profile="k8s-modern")
    world.allow(ServerError("yunikorn", times_max=8))
    play(world, *["fault * server_error yunikorn/bind* create/binding *"] * 8)
    tries = [each.now_ms for each in world.table.records if each.name == "not bound"]
    assert tries == [0, 1000, 3000, 7000, 15_000, 31_000, 61_000, 91_000]
    binds = [each.now_ms for each in world.table.records if each.name == "binds"]
    assert binds == [0, 121_000]
    assert seen(world, "x")[:1] == [f"121000 bind {X} n"]


def test_a_life_says_what_its_next_actions_depend_on() -> None:
    """The pods that it knows, and what it has told; nothing of that is a time."""
    worlds = [calm(node_of_y1((40_000, daemons(cpu=cpu)))) for cpu in (4, 4, 8)]
    lives: Any = [world.table.roles["yunikorn"].life for world in worlds]
    one, same, other = (life.shown["shim"].digest(0) for life in lives)
    assert one == same != other
