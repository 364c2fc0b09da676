"""What each measure counts, in Worlds where it is known."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import attrs
import pytest

from actors.apiserver import ApiServer
from actors.cloud import Boot, NodeGroup, join_cloud
from actors.kubelet import Kubelet, Runtime
from actors.scheduler import Rescheduler, Scheduler
from actors.shared.node_groups import delete_nodes, increase
from actors.shared.verbs import bind
from testbed.choosers.calm import Calm
from testbed.client.client import Client
from testbed.objects import (
    Affinity,
    LabelSelector,
    Map,
    Meta,
    Node,
    Object,
    Pod,
    PodDisruptionBudget,
    PriorityClass,
)
from testbed.objects.affinity import PodAffinity, PodAffinityTerm
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec
from testbed.search.comparing.made_room import rooms_in
from testbed.search.comparing.measure_kinds import measure_kinds, measures_of
from testbed.search.comparing.run_history import RunHistory
from testbed.search.comparing.sample import Sample
from testbed.store.endpoint import Operation
from testbed.turns.trace import Trace
from testbed.world.world import World
from tests.each_row import each_row
from tests.models.worlds.cores import daemons, node_of_y1
from tests.shared.scheduling import NAME, PRIORITIES, pending, there
from tests.shared.stage import Doing, Puppet


@attrs.frozen
class Cloudless(Object):
    """A machine that need not say when it goes."""

    kind: ClassVar[str] = "Cloudless"
    plural: ClassVar[str] = "cloudinstances"
    is_namespaced: ClassVar[bool] = False

    gone_ms: int | None = None


SOME = pytest.mark.spec("CTL-52")


def played(
    preemptor: str,
    *things: Object,
    users: tuple[Doing, ...] = (),
    nodes: int = 1,
    kubelets: bool = True,
    **switches: Any,
) -> RunHistory:
    """The calm Run of nodes with 10 cpus each, on which that program makes room."""
    world = World("measured")
    world.serve(ApiServer)
    world.add(*(PriorityClass(f"p{value}", value=value) for value in PRIORITIES))
    names = [f"n{number}" for number in range(1, nodes + 1)]
    world.add(*(Node.of(name, cpu_m=10_000, labels={"host": name}) for name in names), *things)
    for name in names if kubelets else ():
        world.serve(partial(Runtime, node=name))
        habits = Map(preempts="for_any" if preemptor == "kubelet" else "for_critical")
        world.start(Kubelet(f"kubelet-{name}", name, switches=habits))
    given = {
        "preemptor": preemptor, "bug_disruption_status_from_preemptor": "off", **switches,
    }  # fmt: skip
    world.start(Scheduler(NAME, switches=given), Rescheduler("rescheduler", switches=given))
    for number, user in enumerate(users):
        world.start(Puppet(f"user-{number}", user))
    verdict = world.run(Calm(), driver="direct", trace=Trace({}, keep=True))
    assert verdict.is_held, str(verdict)
    return RunHistory(world)


def at(ms: int, pod: Pod) -> Doing:
    """A user that creates the pod at that time."""

    async def do(client: Client) -> None:
        await client.sleep(ms)
        await client.create(pod)

    return do


def gone(ms: int, name: str) -> Doing:
    """A user that deletes a pod at that time."""

    async def do(client: Client) -> None:
        await client.sleep(ms)
        await client.ask(Operation("delete", "pods", name, "default"))

    return do


def found(history: RunHistory, *names: str) -> tuple[int, ...]:
    """The counts of these measures."""
    return tuple(each.of(history).count for each in measures_of(names))


def stolen_world(**switches: Any) -> RunHistory:
    """Room is made in two steps for a pod that needs all of it, and a lesser one is there."""
    old = (there("a", 5, grace_s=30), there("b", 5, grace_s=5))
    users = (at(1000, pending("new", 10, 1000)), at(16_000, pending("thief", 5, 50)))
    return played("rescheduler", *old, users=users, **switches)


@SOME
def test_room_that_another_pod_takes_is_a_lost_slot() -> None:
    """Without a nomination a lesser pod takes it, and its victims have died for nothing."""
    history = stolen_world()
    assert found(history, "lost_slots", "stolen_slots") == (1, 1)
    assert found(history, "victims", "wasted_victims") == (3, 2)
    (ratio,) = measures_of(["preemptions"])
    assert ratio.of(history) == Sample(2, 1)
    assert [len(room.victims) for room in rooms_in(history)] == [2, 1]
    kept = stolen_world(rescheduler_nominates="on")
    assert found(kept, "lost_slots", "stolen_slots", "victims", "wasted_victims") == (0, 0, 2, 0)


@SOME
def test_room_that_a_better_pod_takes_is_lost_and_not_stolen() -> None:
    """It may take it (SCH-102)."""
    users = (at(1000, pending("new", 10, 50)), at(5000, pending("better", 10, 1000)))
    history = played("scheduler", there("a", 10, grace_s=9), users=users)
    assert found(history, "lost_slots", "stolen_slots") == (1, 0)


@pytest.mark.spec("SCH-104")
@each_row("preemptor", ["scheduler", "kubelet"])
def test_the_victims_of_a_pod_that_never_runs_are_wasted(preemptor: str) -> None:
    """It was deleted while it waited for them."""
    users = (at(1000, pending("new", 10, 1000)), gone(3000, "new"))
    history = played(preemptor, there("a", 5, grace_s=9), there("b", 5), users=users)
    assert found(history, "victims", "wasted_victims") == (2, 2)
    (ratio,) = measures_of(["preemptions"])
    assert ratio.of(history) == Sample(1, 0)


@pytest.mark.spec("SCH-104")
def test_without_kubelets_a_bind_is_enough() -> None:
    """Though pods may be there that run from the start."""
    users = (at(1000, pending("new", 5, 1000)),)
    history = played("scheduler", there("a", 10, grace_s=0), users=users, kubelets=False)
    assert found(history, "victims", "wasted_victims") == (1, 0)


@pytest.mark.spec("SCH-104")
def test_the_victims_of_a_pod_that_goes_elsewhere_are_wasted() -> None:
    """There was room on another node before theirs was free."""
    old = (there("a", 10, grace_s=30), there("b", 10, 1000, "n2", grace_s=1))
    users = (at(1000, pending("new", 5, 1000)), gone(2000, "b"))
    history = played("scheduler", *old, users=users, nodes=2)
    assert found(history, "victims", "wasted_victims") == (1, 1)


def scripted(*script: str, thief: int = 6, rank: int = 50, new: int = 8) -> tuple[int, int]:
    """The lost and the stolen slots of a Run in which one actor does these things, with a pod that
    room is made for, one that takes it, and one that has to go; as any program might."""
    world = World("scripted")
    world.serve(ApiServer)
    world.add(*(PriorityClass(f"p{value}", value=value) for value in PRIORITIES))
    world.add(Node.of("n1", cpu_m=10_000), Node.of("n2", cpu_m=10_000), there("old", 10, 0))
    world.add(pending("new", new, 100), pending("thief", thief, rank), pending("tiny", 1, 0))

    async def program(client: Client) -> None:
        why = client.record("mine", {"for": "pods/default/new", "preemption": {"chosen": "n1"}})
        for word in script:
            verb, name, *node = word.split()
            if verb == "bind":
                await bind(client, await client.get(Pod, name), *(node or ["n1"]))
            elif verb == "end":
                now = Map(grace_s=0)
                delete = Operation("delete", "pods", name, "default", options=now)
                await client.ask(delete, because=why if name == "old" else None)

    world.start(Puppet("program", program))
    assert world.run(Calm(), driver="direct", trace=Trace({}, keep=True)).is_held
    lost, stolen = found(RunHistory(world), "lost_slots", "stolen_slots")
    return lost, stolen


@SOME
def test_a_slot_is_lost_to_who_leaves_too_little_for_the_waiting_pod() -> None:
    """Whether the victims have gone by then or not; of equals, too, it is stolen."""
    assert scripted("end old", "bind thief") == (1, 1)
    assert scripted("bind thief", "end old") == (1, 1)
    assert scripted("end old", "bind thief", rank=100) == (1, 1)
    assert scripted("end old", "bind thief", rank=1000) == (1, 0)


@SOME
def test_a_slot_is_not_lost_to_who_comes_late_or_takes_nothing() -> None:
    """The pod has its node, or is gone; there is room for both; there never was room for it."""
    assert scripted("end old", "bind new", "bind thief") == (0, 0)
    assert scripted("end old", "bind new n2", "bind thief") == (0, 0)
    assert scripted("end old", "bind thief n2") == (0, 0)
    assert scripted("end old", "end new", "bind thief") == (0, 0)
    assert scripted("end old", "bind tiny") == (0, 0)
    assert scripted("end old", "bind thief", new=20) == (0, 0)


def times(history: RunHistory, name: str) -> tuple[int | None, ...]:
    """The times of that measure."""
    (measure,) = measures_of([name])
    return measure.of(history).times_ms


def test_times_count_from_the_creation_of_important_pods() -> None:
    """Where the kubelet makes room, a pod is bound long before it runs. One that never is has no
    time; an unimportant one, or one from before the Run, is left out."""
    users = (
        at(1000, pending("new", 8, 1000)), at(2000, pending("big", 20, 50)),
        at(1000, pending("lesser", 1)),
    )  # fmt: skip
    for preemptor, bound_ms in (("scheduler", 9000), ("kubelet", 0)):
        history = played(preemptor, there("a", 10, grace_s=9), users=users)
        assert times(history, "time_to_bind") == (bound_ms, None)
        assert times(history, "time_to_run") == (9000, None)
        assert times(history, "race_window") == (bound_ms,), "as long, another pod may come first"
    bare = played("scheduler", users=users, kubelets=False)
    assert times(bare, "time_to_bind") == (0, None)
    assert times(bare, "time_to_run") == ()
    bare.important_from = 100
    assert times(bare, "time_to_bind") == (0,)


def budget(least: int) -> PodDisruptionBudget:
    """Of the application `web`, so many are to be healthy."""
    spec = PodDisruptionBudgetSpec(min_available=least, selector=LabelSelector({"app": "web"}))
    return PodDisruptionBudget(Meta("web", "default"), spec=spec)


def web(name: str) -> Pod:
    """A healthy pod of that application."""
    return there(name, 5, grace_s=1).with_meta(labels=Map(app="web"))


def test_what_yunikorn_releases_for_one_ask_is_one_room() -> None:
    """Its shim is told of each victim apart."""
    world = node_of_y1((40_000, daemons()))
    world.run(Calm(), driver="direct", trace=Trace({}, keep=True))
    history = RunHistory(world)
    (room,) = rooms_in(history)
    assert [pod.meta.name for pod in room.victims] == ["r3", "r2"]
    assert found(history, "victims", "wasted_victims") == (2, 0)


def test_a_victim_that_is_needed_breaks_a_budget() -> None:
    """What counts are the pods that are left, not what anybody believed."""
    new = at(1000, pending("new", 5, 1000))
    for least, broken in ((1, 0), (2, 1)):
        for preemptor in ("scheduler", "kubelet"):
            history = played(preemptor, budget(least), web("a"), web("b"), users=(new,))
            assert found(history, "victims", "broken_budgets") == (1, broken)


def test_a_pod_that_runs_beside_one_it_must_be_apart_from_breaks_affinity() -> None:
    """A kubelet ends pods for resources only; the scheduler knows of both."""
    apart = Affinity(
        pod_anti_affinity=PodAffinity((PodAffinityTerm("host", LabelSelector({"app": "web"})),))
    )
    shy = pending("shy", 5, 1000)
    shy = attrs.evolve(shy, spec=attrs.evolve(shy.spec, affinity=apart))
    for preemptor, victim, broken in (("scheduler", "noisy", 0), ("kubelet", "low", 1)):
        low = there("low", 5)
        noisy = there("noisy", 5, 50).with_meta(labels=Map(app="web"))
        history = played(preemptor, low, noisy, users=(at(1000, shy),))
        (room,) = rooms_in(history)
        assert [pod.meta.name for pod in room.victims] == [victim]
        assert found(history, "broken_affinity") == (broken,)


def test_a_pod_that_its_kubelet_does_not_admit_never_runs() -> None:
    """The scheduler leaves it to the kubelet to make room, and that has another habit."""
    users = (at(1000, pending("new", 8, 1000)),)
    history = played("kubelet", there("a", 10), users=users)
    assert found(history, "never_ran") == (0,)
    world: Any = history._world
    assert world.table.roles["kubelet-n1"].switches.preempts == "for_any"
    other = World("rejecting")
    other.serve(ApiServer)
    other.add(PriorityClass("p1000", value=1000), PriorityClass("p0", value=0))
    other.add(Node.of("n1", cpu_m=10_000), there("a", 10))
    other.serve(partial(Runtime, node="n1"))
    other.start(Kubelet("kubelet-n1", "n1"), Puppet("user", users[0]))
    other.start(Scheduler(NAME, switches={"preemptor": "kubelet"}))
    other.run(Calm(), driver="direct", trace=Trace({}, keep=True))
    assert found(RunHistory(other), "never_ran") == (1,)


def test_writes_are_those_that_have_taken_effect() -> None:
    """By any program, of any kind; what assembled the World is none."""
    history = played("none")
    assert found(history, "api_writes") == (0,)
    one = played("none", users=(at(0, pending("new")),), kubelets=False)
    kinds = [(commit.who, commit.key.partition("/")[0]) for commit in one.commits]
    assert sorted(kinds) == [("alpha", "events"), ("alpha", "pods"), ("user-0", "pods")]
    assert found(one, "api_writes") == (3,)


def rented(*moves: tuple[int, str, int], boots: tuple[Boot, ...] = (Boot(5000),)) -> RunHistory:
    """The calm Run of a cloud in which one machine is there, and a user makes these moves: at a
    time, asks for that number of machines, or deletes the one of that number. It ends when all is
    done, at 300 s at least."""
    world = World("rented")
    world.serve(ApiServer)
    template = Node.of("any", cpu_m=1000)
    group = NodeGroup("g", max_size=3, target=1, template=template, delete_ms=60_000, boots=boots)
    join_cloud(world, group)

    async def do(client: Client) -> None:
        for at_ms, verb, number in moves:
            await client.sleep(at_ms - client.elapsed())
            if verb == "increase":
                await increase(client, "g", number)
            else:
                await delete_nodes(client, "g", (f"g-{number}",))
        await client.sleep(300_000 - client.elapsed())

    world.start(Puppet("user", do))
    assert world.run(Calm(), driver="direct", trace=Trace({}, keep=True)).is_held
    return RunHistory(world)


def test_machines_are_counted_when_they_are_asked_for() -> None:
    """Not those that are there from the start, though their minutes count; one that has the name
    of an earlier one is another, and one that never comes up is one."""
    minute = 60_000
    for moves, asked, minutes in (
        ((), 0, 5),
        (((minute, "increase", 2),), 2, 5 + 4 + 4),
        (((minute, "increase", 1), (2 * minute, "delete", 2)), 1, 5 + 2),
        (((minute, "delete", 1), (3 * minute, "increase", 1)), 1, 2 + 2),
    ):
        history = rented(*moves)
        assert history.end_ms == 5 * minute
        assert found(history, "machines_asked", "machine_minutes") == (asked, minutes * minute)
    never = rented((minute, "increase", 1), boots=(Boot(None),))
    assert found(never, "machines_asked", "machine_minutes") == (1, (5 + 4) * minute)
    going = rented((270_000, "delete", 1))
    assert found(going, "machines_asked", "machine_minutes") == (0, going.end_ms)


@each_row(("gone_ms", "lasts_ms"), [
    (None, 2000), (1500, 1500), (2500, 2000), (9000, 2000),
])  # fmt: skip
def test_a_machine_of_any_provider_is_one_by_its_plural(gone_ms: int | None, lasts_ms: int) -> None:
    """It is gone when it says so, or when it is deleted; what is left of it then is no machine."""
    world = World("foreign")
    world.add(Cloudless(Meta("old"), gone_ms=gone_ms))

    async def do(client: Client) -> None:
        made = await client.create(Cloudless(Meta("new")))
        await client.update(attrs.evolve(made, gone_ms=gone_ms))
        await client.sleep(2000)
        for name in ("old", "new"):
            await client.ask(Operation("delete", "cloudinstances", name))
        await client.sleep(1000)

    world.start(Puppet("user", do))
    assert world.run(Calm(), driver="direct", trace=Trace({}, keep=True)).is_held
    assert found(RunHistory(world), "machines_asked", "machine_minutes") == (1, 2 * lasts_ms)
    assert found(played("none"), "machines_asked", "machine_minutes") == (0, 0)


def test_a_file_in_the_folder_is_a_measure() -> None:
    """Each has a name, a sentence and a figure, and they stand in a stated order."""
    kinds = measure_kinds()
    assert list(kinds)[:3] == ["lost_slots", "stolen_slots", "victims"]
    for name, kind in kinds.items():
        assert kind.__module__.rpartition(".")[2] == name
        assert kind.says
        assert kind.figures
