"""Fresh incidents: variants of what has happened in clusters, as a newcomer would write them.

The cause of each was written down before its story was read; `tests/story/test_fresh_causes.py`
holds the stories against it. In each the last that writes is right, and the cause lies before it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.controllers.recreator import Recreator
from actors.kubelet import Kubelet, Runtime
from actors.scheduler import Scheduler as WholeScheduler
from actors.shared.verbs import bind, evict
from scenarios.slots.double_bind import Scheduler
from testbed import (
    ApiError,
    Cache,
    Client,
    Evidence,
    World,
    always,
    no_lasso,
    quiescent,
)
from testbed.faults.crash import Crash
from testbed.objects import (
    Condition,
    Map,
    Meta,
    Node,
    Note,
    Pod,
    PodDisruptionBudget,
    PriorityClass,
)
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from testbed.objects.labels import LabelSelector
from tests.models.incidents import note, notes_of
from tests.shared.stage import Puppet

# -- what was refused was refused rightly ---------------------------------------------------------


def no_pod_failed(see: Evidence) -> str | None:
    """No pod ended Failed."""
    for entry in see.store.snapshot("pods/"):
        pod: Any = entry.value
        if pod.status.phase == "Failed":
            return f"{pod.key} ended Failed: {pod.status.reason}"
    return None


async def shrink_node(client: Client) -> None:
    """Take half of the node away: another program needs it."""
    await client.sleep(1000, "decide")
    node = await client.get(Node, "n1")
    less = attrs.evolve(node.status, allocatable=Map(cpu="500m", pods="110"))
    await client.update(attrs.evolve(node, status=less), subresource="status")


async def pod_for_shrunk_node(client: Client) -> None:
    """Create a pod at the time at which the node shrinks."""
    await client.sleep(1000, "decide")
    await client.create(Pod.of("c", cpu_m=800, scheduler_name="alpha"))


def shrunk_node(world: World) -> None:
    """A node shrinks while a pod is bound to it, and the kubelet refuses the pod.

    TRUTH: alpha bound pods/default/c to n1 believing in the old allocatable, which admin changed.
    """
    world.serve(ApiServer)
    world.serve(partial(Runtime, node="n1"))
    world.add(Node.of("n1", cpu_m=1000))
    world.start(Scheduler("alpha"), Kubelet("kubelet-n1", "n1"))
    world.start(Puppet("admin", shrink_node), Puppet("ann", pod_for_shrunk_node))
    world.claim(quiescent(no_pod_failed))


# -- two rules that disagree ----------------------------------------------------------------------


def keeps(wants: str, own: str) -> Callable[[Client], Any]:
    """Set `replicas` to what is wanted, and note in a field of its own when it has looked."""

    async def keep(client: Client) -> None:
        webs, seen = Cache(client, Note), client.queue("seen", idle=True)
        webs.on(add=seen.put, update=lambda _, new: seen.put(new))
        while True:
            web = await seen.get()
            await client.sleep(1000)
            if web.data["replicas"] != wants:
                turn = "odd" if web.data[own] != "odd" else "even"
                with suppress(ApiError):
                    await client.update(web.saying(**{own: turn, "replicas": wants}))

    return keep


async def deschedule(client: Client) -> None:
    """Evict whatever runs on n1: it costs more than the other node."""
    pods, seen = Cache(client, Pod), client.queue("seen", idle=True)
    pods.on(add=seen.put, update=lambda _, new: seen.put(new))
    while True:
        pod = await seen.get()
        if pod.is_bound and pod.spec.node_name == "n1" and not pod.meta.is_terminating:
            with suppress(ApiError):
                await evict(client, pod)


def descheduled(world: World) -> None:
    """A descheduler evicts what the scheduler binds to n1, where its owner's new pod goes again.

    TRUTH: descheduler evicts pods from n1, and default-scheduler binds each new one to n1 again.
    """
    world.serve(ApiServer)
    world.add(Node.of("n1", cpu_m=1000))
    template = Pod.of("web", cpu_m=800, grace_s=0, scheduler_name="default-scheduler")
    world.start(Recreator("web", template))
    world.start(WholeScheduler("default-scheduler"), Puppet("descheduler", deschedule))
    world.claim(no_lasso(named_anew=["pods"]))
    world.needs_no_race = "what one evicts the other binds again"


# -- half done ------------------------------------------------------------------------------------

KEEPER = "testbed.example/keeper"


async def keep_and_release(client: Client) -> None:
    """Whatever is to be deleted is cleaned up first, and then let go: its finalizer is removed."""
    notes, seen = Cache(client, Note), client.queue("seen", idle=True)
    notes.on(add=seen.put, update=lambda _, new: seen.put(new))
    while True:
        item = await seen.get()
        if item.meta.is_terminating and KEEPER in item.meta.finalizers and not item.data["cleaned"]:
            with suppress(ApiError):
                item = await client.update(item.saying(cleaned="yes"))
                await client.update(item.with_meta(finalizers=()))


async def delete_volume(client: Client) -> None:
    """Delete the volume."""
    await client.sleep(1000)
    with suppress(ApiError):
        await client.delete(note("volume"), whatever_it_was=True)


def what_is_deleted_goes(see: Evidence) -> str | None:
    """Nothing that was deleted stays for ever."""
    for name, item in notes_of(see).items():
        if item.meta.is_terminating:
            return f"notes/default/{name} was deleted, and stays"
    return None


# -- a latency that the scenario states ------------------------------------------------------------


def no_node_is_too_full(see: Evidence) -> str | None:
    """The cpu that is asked for is there."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    here = [pod for pod in pods if pod.spec.node_name == "n1"]
    if len(here) > 1:
        return f"n1 has 1000m cpu, and {' and '.join(pod.key for pod in here)} ask for 1600m"
    return None


def slow_bind(world: World) -> None:
    """A bind takes 35 seconds until it takes effect; another scheduler binds meanwhile.

    TRUTH: alpha bound pods/default/c on old news, since its bind took 35,000 ms, as stated.
    """
    world.serve(ApiServer)
    world.add(Node.of("n1", cpu_m=1000))
    world.add(Pod.of("c", cpu_m=800, scheduler_name="alpha"))
    world.start(Scheduler("alpha"), Scheduler("beta"))

    async def comes_later(client: Client) -> None:
        await client.sleep(10_000, "decide")
        await client.create(Pod.of("d", cpu_m=800, scheduler_name="beta"))

    world.start(Puppet("ann", comes_later))
    world.latency("bind pods", actor="alpha", serve_ms=35_000)
    world.claim(always(no_node_is_too_full))


async def bind_by_cache(client: Client) -> None:
    """After ten seconds, bind the pod to the node, if the Cache shows no other pod there."""
    pods = Cache(client, Pod)
    await pods.synced()
    await client.sleep(10_000, "decide")
    if not any(pod.is_bound for pod in pods.all()):
        await bind(client, Pod.of("d"), "n1")


def slow_watch(world: World) -> None:
    """The watch of pods of one of two binders is 40 seconds late.

    TRUTH: beta bound pods/default/d not knowing that alpha had bound c: its watch of pods is 40,000
    ms late, as stated.
    """
    world.serve(ApiServer)
    world.add(Node.of("n1", cpu_m=1000), Pod.of("d", cpu_m=800))
    world.add(Pod.of("c", cpu_m=800, scheduler_name="alpha"))
    world.start(Scheduler("alpha"), Puppet("beta", bind_by_cache))
    world.latency("watch pods", actor="beta", deliver_ms=40_000)
    world.claim(always(no_node_is_too_full))
    world.needs_no_race = "the watch is too late in every Run"


# -- budgets --------------------------------------------------------------------------------------

WEB = {"app": "web"}


def web(name: str, node: str = "n1", **more: Any) -> Pod:
    """A pod of the application, which runs."""
    pod = Pod.of(name, cpu_m=500, labels=WEB, node_name=node, grace_s=0, **more)
    ready = tuple(Condition(each, "True", since_ms=0) for each in ("Ready", "PodScheduled"))
    status = attrs.evolve(pod.status, phase="Running", start_ms=0, conditions=ready)
    return attrs.evolve(pod, status=status)


def budget(allowed: int, healthy: int, least: int) -> PodDisruptionBudget:
    """A budget for the application."""
    spec = PodDisruptionBudgetSpec(min_available=least, selector=LabelSelector(Map(WEB)))
    status = PodDisruptionBudgetStatus(
        disruptions_allowed=allowed,
        current_healthy=healthy,
        desired_healthy=least,
        expected_pods=healthy,
    )
    return PodDisruptionBudget(Meta("web"), spec=spec, status=status)


def evicts(pod: str) -> Callable[[Client], Any]:
    """Evict that pod."""

    async def run(client: Client) -> None:
        await client.sleep(2000, "drain")
        with suppress(ApiError):
            await evict(client, Pod.of(pod))

    return run


async def lose_a_pod(client: Client) -> None:
    """A node is lost, and its pod with it; nobody asks a budget for that."""
    with suppress(ApiError):
        await client.delete(Pod.of("web-1"), whatever_it_was=True)


async def count_budget(client: Client) -> None:
    """The disruption controller: after a change of pods, works out what is allowed."""
    pods, seen = Cache(client, Pod), client.queue("seen", idle=True)
    pods.on(add=seen.put, delete=seen.put)
    while True:
        await seen.get()
        await client.sleep(500, "sync")
        there = await client.get(PodDisruptionBudget, "web")
        here = len(pods.all())
        status = attrs.evolve(
            there.status, current_healthy=here, disruptions_allowed=max(0, here - 1)
        )
        with suppress(ApiError):
            await client.update(attrs.evolve(there, status=status), subresource="status")


def one_web_is_up(see: Evidence) -> str | None:
    """One pod of the application is there."""
    return None if see.store.snapshot("pods/default/web-") else "no web pod is left"


def stale_budget(world: World) -> None:
    """An eviction is allowed by a budget that does not count yet that a pod was lost.

    TRUTH: drainer evicted pods/default/web-2, on a budget that still counted web-1, which
    node-lost had deleted.
    """
    world.serve(ApiServer)
    world.add(web("web-1"), web("web-2"), budget(1, 2, 1))
    world.start(Puppet("disruption", count_budget))
    world.start(Puppet("drainer", evicts("web-2")), Puppet("node-lost", lose_a_pod))
    world.claim(always(one_web_is_up))


async def close_budget(client: Client) -> None:
    """From now on the budget allows nothing."""
    there = await client.get(PodDisruptionBudget, "web")
    status = attrs.evolve(there.status, disruptions_allowed=0)
    with suppress(ApiError):
        await client.update(attrs.evolve(there, status=status), subresource="status")


def budgets_are_kept(see: Evidence) -> str | None:
    """No pod is deleted while its budget allows nothing."""
    there: Any = see.store.peek("poddisruptionbudgets/default/web")
    for change in see.changes:
        is_gone = change.new is None and change.key.startswith("pods/default/web-")
        if is_gone and there.value.status.disruptions_allowed == 0:
            return f"{change.key} is gone, and {there.key} allowed no disruption"
    return None


def best_effort(world: World) -> None:
    """A preemptor deletes pods whatever their budget allows: to it, a budget is a wish.

    TRUTH: alpha deleted a web pod though the budget allows nothing, for a delete asks no budget;
    that disruption changed the budget meanwhile plays no part: alpha would have done the same.
    """
    world.serve(ApiServer)
    world.add(Node.of("n1", cpu_m=1000), PriorityClass("high", value=100))
    world.add(web("web-1"), web("web-2"), budget(1, 2, 2))
    world.add(Pod.of("urgent", cpu_m=500, scheduler_name="alpha", priority_class_name="high"))
    world.start(WholeScheduler("alpha"), Puppet("disruption", close_budget))
    world.claim(always(budgets_are_kept))
    world.needs_no_race = "a delete asks no budget"


# -- two servers ----------------------------------------------------------------------------------


async def attach(client: Client) -> None:
    """Attach the volume to the node that it is meant for, and again whenever that changes."""
    volumes, seen = Cache(client, Note), client.queue("seen", idle=True)
    volumes.on(update=lambda _, new: seen.put(new))
    await volumes.synced()
    while True:
        if (volume := volumes.get("volume", "default")) is not None:
            client.record("attached", node=volume.data["node"])
        await seen.get()


async def move_volume(client: Client) -> None:
    """The volume goes to another node."""
    await client.sleep(1000, "move")
    volume = await client.get(Note, "volume")
    await client.update(volume.saying(node="node-b"))


def no_step_back(see: Evidence) -> str | None:
    """A volume that was moved is not attached where it was before."""
    nodes = [record.facts["node"] for record in see.records if record.name == "attached"]
    if nodes[-2:] == ["node-b", "node-a"]:
        return "notes/default/volume was attached to node-a after node-b"
    return None


def second_server(world: World) -> None:
    """A controller restarts, and speaks to a server that is behind: it goes back in time.

    TRUTH: attacher attached the volume to node-a again, for it listed it at api-2, which did not
    show yet that mover had moved it.
    """
    world.serve(lambda store: ApiServer(store, "api-1"))
    world.serve(lambda store: ApiServer(store, "api-2", lags=("notes",)))
    world.add(note("volume", node="node-a"))
    world.start(Puppet("attacher", attach), at=("api-1", "api-2"))
    world.start(Puppet("mover", move_volume))
    world.allow(Crash("attacher", restart_after_ms=500))
    world.claim(always(no_step_back))
