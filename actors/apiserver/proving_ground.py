"""Contest: a few clients, two API servers over one Store, and little that all of them want.

Users, drainers, binders, a kubelet and a controller do what such programs do, on the same few
pods and one budget, each at one of two servers, of which the second may lag. It is what the claims
of the protocol are held to in a search, and what its mutants are hunted in.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import attrs

from actors.apiserver.invariants import protocol_claims
from actors.apiserver.server import ApiServer
from testbed import Actor, ApiError, Cache, Client, Conflict, NotFound, Operation, World
from testbed.objects import (
    Binding,
    Condition,
    DeleteOptions,
    Eviction,
    LabelSelector,
    Map,
    Meta,
    Pod,
    PodDisruptionBudget,
    PodStatus,
    Revision,
    Target,
)
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec, PodDisruptionBudgetStatus

APP = Map(app="a")
FIRST, SECOND = "api", "api-2"
LAGGING = ("pods", "poddisruptionbudgets")
AGAIN_MS = 1000
Doing = Callable[[Client], Awaitable[Any]]


@attrs.frozen
class Caller(Actor):
    """Does one thing after another; who is refused, or hears nothing, does the next."""

    todo: tuple[Doing, ...] = ()

    async def run(self, client: Client) -> None:
        for doing in self.todo:
            with suppress(ApiError):
                await doing(client)


@attrs.frozen
class PodReaper(Actor):
    """Takes away what is to go from its node, as soon as it hears of it; tries until it is told."""

    node: str = "n1"

    async def run(self, client: Client) -> None:
        todo = client.queue("todo", idle=True)

        def heard(pod: Pod) -> None:
            if pod.spec.node_name == self.node and pod.meta.is_terminating:
                todo.put(pod)

        pods = Cache(client, Pod)
        pods.on(add=heard, update=lambda _, pod: heard(pod))
        while True:
            pod = await todo.get()
            meta = pod.meta
            final = Operation(
                "delete", "pods", meta.name, meta.namespace, uid=meta.uid, options=Map(grace_s=0)
            )
            try:
                await client.ask(final)
            except (NotFound, Conflict):
                continue
            except ApiError:
                await client.sleep(AGAIN_MS, f"retry {pod.key}")
                todo.put(pod)


@attrs.frozen
class Watcher(Actor):
    """Keeps a Cache of pods, and does nothing with it."""

    async def run(self, client: Client) -> None:
        await Cache(client, Pod).synced()


def contest(
    world: World, server: type[ApiServer] = ApiServer, *, lags: tuple[str, ...] = LAGGING
) -> None:
    """Assemble it, with that server in place of the API server, and claim the whole protocol."""
    world.serve(lambda store: server(store, FIRST))
    world.serve(lambda store: server(store, SECOND, lags=lags))
    world.add(_serving("p"), _serving("q"), _serving("held", finalizers=("keep",)))
    world.add(Pod.of("new", cpu_m=100, grace_s=5), _budget())
    world.add(Pod.of("loose", cpu_m=100).with_meta(finalizers=("keep",)))
    world.start(
        Caller(
            "binder", (bind("new", "n1"), bind("new", "n2"), list_live, late(bind("loose", "n1")))
        ),
        Caller("drainer", (evict("p"), evict("q"))),
        Caller("controller", (sync_budget, list_live)),
        Caller(
            "user",
            (
                delete("p"),
                delete("p", 60),
                delete("p", 5),
                delete("held"),
                delete("loose"),
                rebuild,
            ),
        ),
        Caller(
            "labeler", (label_by_update("p"), label_by_patch("held"), touch("q"), restore("held"))
        ),
        PodReaper("kubelet"),
        at=FIRST,
    )
    world.start(
        Caller("binder-2", (bind("new", "n2"), get_live("new"), list_live)),
        Caller("drainer-2", (evict("q"), evict("p"))),
        Caller("doctor", (report("held"), label_by_patch("p"), lift("held"), lift("loose"))),
        Caller("reader", (list_any, get_live("p"), list_live, list_any, list_live)),
        Watcher("watcher"),
        at=SECOND,
    )
    world.claim(*protocol_claims())


# -- what there is --------------------------------------------------------------------------------


def _serving(name: str, **meta: Any) -> Pod:
    """A pod that runs on n1, is ready, and that the budget covers."""
    pod = Pod.of(name, cpu_m=100, node_name="n1", grace_s=30).with_meta(labels=APP, **meta)
    return attrs.evolve(pod, status=PodStatus("Running", conditions=(Condition("Ready", "True"),)))


def _budget() -> PodDisruptionBudget:
    """A budget that lets one of them go."""
    spec = PodDisruptionBudgetSpec(min_available=1, selector=LabelSelector(APP))
    status = PodDisruptionBudgetStatus(
        1, current_healthy=3, desired_healthy=2, observed_generation=1
    )
    return PodDisruptionBudget("b", spec=spec, status=status)


# -- what callers do ------------------------------------------------------------------------------


def bind(name: str, node: str) -> Doing:
    """Give a pod that node."""
    return lambda client: client.ask(_beside(name, "binding", Binding(Meta(name), Target(node))))


def evict(name: str) -> Doing:
    """Evict a pod, and once more if that was refused."""

    eviction = _beside(name, "eviction", Eviction(Meta(name), DeleteOptions()))

    async def doing(client: Client) -> None:
        try:
            await client.ask(eviction)
        except NotFound:
            return
        except ApiError:
            await client.sleep(AGAIN_MS, f"retry {name}")
            await client.ask(eviction)

    return doing


def _beside(name: str, subresource: str, body: Any) -> Operation:
    """What is posted beside a pod."""
    return Operation("create", "pods", name, "default", body, subresource=subresource)


def delete(name: str, grace_s: int | None = None) -> Doing:
    """Delete a pod, whatever it is."""
    options: Map[Any] = Map() if grace_s is None else Map(grace_s=grace_s)
    return lambda client: client.delete(Pod(Meta(name)), whatever_it_was=True, options=options)


async def rebuild(client: Client) -> None:
    """Delete `new`, and create it again, twice; between, delete the one that was first."""
    old = await client.get(Pod, "new")
    with suppress(ApiError):
        await client.delete(old)
    await delete("new", 0)(client)
    await client.create(Pod.of("new", cpu_m=100))
    with suppress(ApiError):
        await client.delete(old.with_meta(revision=Revision()))
    await delete("new")(client)
    await client.create(Pod.of("new", cpu_m=100))


def label_by_update(name: str) -> Doing:
    """Read, change, write back; twice, the second time by what was read first."""

    async def doing(client: Client) -> None:
        pod = await client.get(Pod, name)
        for value in ("1", "2"):
            await client.update(pod.with_meta(labels=pod.meta.labels.having(by=value)))

    return doing


def label_by_patch(name: str) -> Doing:
    """Set one label of a pod."""
    return lambda client: client.patch(
        Pod(Meta(name)), {"metadata": {"labels": {client.name: "here"}}}
    )


def touch(name: str) -> Doing:
    """Read a pod, and write it back as it is."""

    async def doing(client: Client) -> None:
        await client.update(await client.get(Pod, name))

    return doing


def restore(name: str) -> Doing:
    """Read a pod, and after a while write back what was read, whatever it is by then."""

    async def doing(client: Client) -> None:
        pod = await client.get(Pod, name)
        await client.sleep(AGAIN_MS // 2, f"restore {name}")
        await client.update(pod, whatever_it_was=True)

    return doing


def late(doing: Doing) -> Doing:
    """Do it after a while."""

    async def waiting(client: Client) -> None:
        await client.sleep(AGAIN_MS // 2, "late")
        await doing(client)

    return waiting


def report(name: str) -> Doing:
    """Say of a pod, among its conditions, that it was looked at."""
    tree = {"status": {"conditions": [{"type": "Seen", "status": "True"}]}}
    return lambda client: client.patch(Pod(Meta(name)), tree, how="strategic", subresource="status")


def lift(name: str) -> Doing:
    """Take away the finalizers of a pod, after a while."""

    async def doing(client: Client) -> None:
        await client.sleep(AGAIN_MS, f"look at {name}")
        await client.patch(Pod(Meta(name)), {"metadata": {"finalizers": None}})

    return doing


async def sync_budget(client: Client) -> None:
    """After a while, let one more go."""
    await client.sleep(3 * AGAIN_MS, "sync")
    budget = await client.get(PodDisruptionBudget, "b")
    status = attrs.evolve(budget.status, disruptions_allowed=1, disrupted_pods=Map())
    await client.update(attrs.evolve(budget, status=status), subresource="status")


def get_live(name: str) -> Doing:
    """A pod as it is."""
    return lambda client: client.get(Pod, name)


async def list_live(client: Client) -> None:
    """All pods as they are."""
    await client.list(Pod)


async def list_any(client: Client) -> None:
    """All pods as the server has read them, and then nothing older."""
    seen = await client.list(Pod, at=Revision("0"))
    await client.list(Pod, at=seen.revision, options=Map(match="NotOlderThan"))
