"""Proving ground: a World in which every verb of the API server races with every other.

Two API servers stand before one Store, and the second may lag. Binders, drainers, users, a
controller and a kubelet, each a fixed script, write the same few pods and one budget through them.
The claims of the protocol are searched here for a breach: by the ApiServer as it is, which must
hold all of them, and by each of its mutants, which must break one.
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
Act = Callable[[Client], Awaitable[Any]]
"""One thing that a script does."""


@attrs.frozen
class Script(Actor):
    """Does one thing after another, also when one is refused or gets no answer."""

    acts: tuple[Act, ...] = ()

    async def run(self, client: Client) -> None:
        for act in self.acts:
            with suppress(ApiError):
                await act(client)


@attrs.frozen
class FinalDeleter(Actor):
    """Deletes each terminating pod of its node for good, as a kubelet does when nothing of it runs
    any more; retries until it is answered."""

    node: str = "n1"

    async def run(self, client: Client) -> None:
        todo = client.queue("todo", idle=True)

        def changed(pod: Pod) -> None:
            if pod.spec.node_name == self.node and pod.meta.is_terminating:
                todo.put(pod)

        pods = Cache(client, Pod)
        pods.on(add=changed, update=lambda _, pod: changed(pod))
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
class PodWatcher(Actor):
    """Keeps a Cache of pods, so that there is a watch for the claims to look at."""

    async def run(self, client: Client) -> None:
        await Cache(client, Pod).synced()


def competing_clients(
    world: World, server: type[ApiServer] = ApiServer, *, lags: tuple[str, ...] = LAGGING
) -> None:
    """Assemble the World, with `server` for both API servers, and claim the whole protocol."""
    world.serve(lambda store: server(store, FIRST))
    world.serve(lambda store: server(store, SECOND, lags=lags))
    world.add(_serving("p"), _serving("q"), _serving("held", finalizers=("keep",)))
    world.add(Pod.of("new", cpu_m=100, grace_s=5), _budget())
    world.add(Pod.of("loose", cpu_m=100).with_meta(finalizers=("keep",)))
    world.start(
        Script(
            "binder", (bind("new", "n1"), bind("new", "n2"), list_live, late(bind("loose", "n1")))
        ),
        Script("drainer", (evict("p"), evict("q"))),
        Script("controller", (sync_budget, list_live)),
        Script(
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
        Script(
            "labeler", (label_by_update("p"), label_by_patch("held"), touch("q"), restore("held"))
        ),
        FinalDeleter("kubelet"),
        at=FIRST,
    )
    world.start(
        Script("binder-2", (bind("new", "n2"), get_live("new"), list_live)),
        Script("drainer-2", (evict("q"), evict("p"))),
        Script("doctor", (report("held"), label_by_patch("p"), lift("held"), lift("loose"))),
        Script("reader", (list_any, get_live("p"), list_live, list_any, list_live)),
        PodWatcher("watcher"),
        at=SECOND,
    )
    world.claim(*protocol_claims())


# -- the objects --------------------------------------------------------------------------------


def _serving(name: str, **meta: Any) -> Pod:
    """A pod that runs on n1, is ready, and is covered by the budget."""
    pod = Pod.of(name, cpu_m=100, node_name="n1", grace_s=30).with_meta(labels=APP, **meta)
    return attrs.evolve(pod, status=PodStatus("Running", conditions=(Condition("Ready", "True"),)))


def _budget() -> PodDisruptionBudget:
    """A budget that allows one disruption."""
    spec = PodDisruptionBudgetSpec(min_available=1, selector=LabelSelector(APP))
    status = PodDisruptionBudgetStatus(
        1, current_healthy=3, desired_healthy=2, observed_generation=1
    )
    return PodDisruptionBudget("b", spec=spec, status=status)


# -- what scripts do ------------------------------------------------------------------------------


def bind(name: str, node: str) -> Act:
    """Bind a pod to a node."""
    return lambda client: client.ask(_beside(name, "binding", Binding(Meta(name), Target(node))))


def evict(name: str) -> Act:
    """Evict a pod; try once more if that was refused."""

    eviction = _beside(name, "eviction", Eviction(Meta(name), DeleteOptions()))

    async def act(client: Client) -> None:
        try:
            await client.ask(eviction)
        except NotFound:
            return
        except ApiError:
            await client.sleep(AGAIN_MS, f"retry {name}")
            await client.ask(eviction)

    return act


def _beside(name: str, subresource: str, body: Any) -> Operation:
    """The creation of a subresource of a pod."""
    return Operation("create", "pods", name, "default", body, subresource=subresource)


def delete(name: str, grace_s: int | None = None) -> Act:
    """Delete a pod without preconditions."""
    options: Map[Any] = Map() if grace_s is None else Map(grace_s=grace_s)
    return lambda client: client.delete(Pod(Meta(name)), whatever_it_was=True, options=options)


async def rebuild(client: Client) -> None:
    """Delete and recreate `new`, twice; in between, delete the first one by its uid."""
    old = await client.get(Pod, "new")
    with suppress(ApiError):
        await client.delete(old)
    await delete("new", 0)(client)
    await client.create(Pod.of("new", cpu_m=100))
    with suppress(ApiError):
        await client.delete(old.with_meta(revision=Revision()))
    await delete("new")(client)
    await client.create(Pod.of("new", cpu_m=100))


def label_by_update(name: str) -> Act:
    """Read a pod, and update it twice from what was read; the second update must be refused."""

    async def act(client: Client) -> None:
        pod = await client.get(Pod, name)
        for value in ("1", "2"):
            await client.update(pod.with_meta(labels=pod.meta.labels.having(by=value)))

    return act


def label_by_patch(name: str) -> Act:
    """Set one label of a pod."""
    return lambda client: client.patch(
        Pod(Meta(name)), {"metadata": {"labels": {client.name: "here"}}}
    )


def touch(name: str) -> Act:
    """Read a pod, and write it back as it is."""

    async def act(client: Client) -> None:
        await client.update(await client.get(Pod, name))

    return act


def restore(name: str) -> Act:
    """Read a pod, and later write back what was read, whatever the pod is like by then."""

    async def act(client: Client) -> None:
        pod = await client.get(Pod, name)
        await client.sleep(AGAIN_MS // 2, f"restore {name}")
        await client.update(pod, whatever_it_was=True)

    return act


def late(act: Act) -> Act:
    """Do it half a second later."""

    async def waiting(client: Client) -> None:
        await client.sleep(AGAIN_MS // 2, "late")
        await act(client)

    return waiting


def report(name: str) -> Act:
    """Patch a condition into the status of a pod."""
    tree = {"status": {"conditions": [{"type": "Seen", "status": "True"}]}}
    return lambda client: client.patch(Pod(Meta(name)), tree, how="strategic", subresource="status")


def lift(name: str) -> Act:
    """Remove the finalizers of a pod, a second later."""

    async def act(client: Client) -> None:
        await client.sleep(AGAIN_MS, f"look at {name}")
        await client.patch(Pod(Meta(name)), {"metadata": {"finalizers": None}})

    return act


async def sync_budget(client: Client) -> None:
    """Three seconds later, allow one more disruption, as the controller of budgets does."""
    await client.sleep(3 * AGAIN_MS, "sync")
    budget = await client.get(PodDisruptionBudget, "b")
    status = attrs.evolve(budget.status, disruptions_allowed=1, disrupted_pods=Map())
    await client.update(attrs.evolve(budget, status=status), subresource="status")


def get_live(name: str) -> Act:
    """Get a pod from the Store."""
    return lambda client: client.get(Pod, name)


async def list_live(client: Client) -> None:
    """List all pods of the Store."""
    await client.list(Pod)


async def list_any(client: Client) -> None:
    """List the pods that the server has cached, and then again, asking for nothing older."""
    seen = await client.list(Pod, at=Revision("0"))
    await client.list(Pod, at=seen.revision, options=Map(match="NotOlderThan"))
