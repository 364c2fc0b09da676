"""Bustle: a few full nodes, many pods that want to be there, and all that may follow.

The claims about schedulers are checked in it, and their mutants are hunted in it: everything that a
claim looks at happens in it, in the calm run or in few deviations.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import attrs

from actors.apiserver.server import ApiServer
from actors.controllers.recreator import Recreator
from actors.scheduler.invariants import scheduler_claims
from actors.scheduler.plugins import Rejected
from actors.scheduler.scheduler import Scheduler
from actors.shared.user import User
from testbed import Actor, ApiError, Cache, Client, Operation, World
from testbed.objects import (
    Affinity,
    LabelSelector,
    Map,
    Meta,
    Node,
    Pod,
    PodDisruptionBudget,
    PriorityClass,
    Taint,
)
from testbed.objects.affinity import PodAffinity, PodAffinityTerm
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from testbed.objects.node import HOSTNAME

NAME = "alpha"
PRIORITIES = (0, 50, 100, 1000)


@attrs.frozen
class PodTerminator(Actor):
    """Stands for all kubelets: deletes bound, terminating pods when their grace period is over."""

    async def run(self, client: Client) -> None:
        todo, seen = client.queue("todo", idle=True), set[str]()

        def noticed(pod: Pod) -> None:
            if pod.is_bound and pod.meta.is_terminating and pod.meta.uid not in seen:
                seen.add(pod.meta.uid)
                todo.put(pod)

        Cache(client, Pod).on(add=noticed, update=lambda _, pod: noticed(pod))
        while True:
            pod = await todo.get()
            client.spawn(f"reap-{pod.meta.name}", partial(self.remove, client), pod)

    async def remove(self, client: Client, pod: Pod) -> None:
        """Wait for its grace period, then delete it at once; retry until it is gone."""
        await client.sleep((pod.meta.grace_s or 0) * 1000, f"grace {pod.key}")
        meta = pod.meta
        now = Map(grace_s=0)
        with_uid = Operation("delete", "pods", meta.name, meta.namespace, uid=meta.uid, options=now)
        while True:
            try:
                await client.ask(with_uid)
            except ApiError as error:
                if error.reason in ("NotFound", "Conflict"):
                    return
                await client.sleep(1000, f"retry {pod.key}")
                continue
            return


@attrs.frozen
class FickleUser(Actor):
    """A user that deletes a pod, creates one, replaces it by another of its name, and lets a third
    pod succeed."""

    async def run(self, client: Client) -> None:
        await client.sleep(1000)
        await self.do(client, Operation("delete", "pods", "low-2", "default"))
        await self.do(client, Operation("create", "pods", "twin", "default", body=pending("twin")))
        await self.do(client, Operation("delete", "pods", "twin", "default"))
        await self.do(client, Operation("create", "pods", "twin", "default", body=pending("twin")))
        over = {"status": {"phase": "Succeeded"}}
        await self.do(
            client,
            Operation("patch", "pods", "mid", "default", subresource="status", body=Map(over)),
        )

    async def do(self, client: Client, operation: Operation) -> None:
        """Ask for the operation, and ignore errors."""
        try:
            await client.ask(operation)
        except ApiError:
            return


class RejectOnce:
    """A PreBind plugin that rejects the pod `moody` once, so that a bind fails."""

    name = "Moody"  # as it stands in the message of the failure, and so in traces

    def __init__(self) -> None:
        self.has_rejected = False

    async def pre_bind(self, client: Client, pod: Pod, node: str) -> Rejected | None:
        """Reject once."""
        if pod.meta.name != "moody" or self.has_rejected:
            return None
        self.has_rejected = True
        return Rejected("not now", is_error=True)


def contended_nodes(
    world: World,
    scheduler: type[Scheduler] = Scheduler,
    plugins: tuple[Callable[[], Any], ...] = (),
    **settings: Any,
) -> None:
    """Assemble it with that scheduler, and claim all that is claimed of one."""
    world.serve(ApiServer)
    world.add(*(PriorityClass(f"p{value}", value=value) for value in PRIORITIES))
    world.add(
        Node.of("n1", cpu_m=4000, labels={HOSTNAME: "n1"}),
        Node.of("n2", cpu_m=4000, labels={HOSTNAME: "n2"}),
        Node.of("n3", cpu_m=4000, labels={HOSTNAME: "n3"}, taints=(Taint("t", "", "NoSchedule"),)),
        Node.of("n4", cpu_m=2500, labels={HOSTNAME: "n4"}),
    )
    world.add(
        running("low-1", "n1", 2000, 50, labels={"app": "guarded"}),
        running("mid", "n1", 1000, 100, grace_s=5),
        running("low-2", "n1", 1000, 50),
        running("loner", "n2", 1000, 100, affinity=apart_from("shy")),
        running("filler", "n2", 3000, 100, grace_s=5),
        running("elder", "n4", 1000, 50),
        running("younger", "n4", 750, 0),
        running("youngest", "n4", 750, 0, grace_s=5),
        _budget("guarded"),
    )
    hopeful = pending("hopeful", 3000, 50, preemption_policy="Never")
    world.add(
        pending("also"),
        pending("big", 3000, 1000),
        attrs.evolve(hopeful, status=attrs.evolve(hopeful.status, nominated_node_name="n2")),
        pending("moody"),
        pending("never", 4000, 1000, preemption_policy="Never"),
        pending("peer", 1000, 50),
        pending("pushy", 1500, 100, node_selector=Map({HOSTNAME: "n4"})),
        pending("shy", labels={"app": "shy"}, node_selector=Map({HOSTNAME: "n2"})),
        pending("small", 500),
        pending("touchy", node_selector=Map({HOSTNAME: "n3"})),
    )
    world.start(
        PodTerminator("kubelet"),
        FickleUser("user"),
        scheduler(NAME, plugins=(RejectOnce, *plugins), **settings),
    )
    world.claim(*scheduler_claims())


def one_place(
    world: World,
    scheduler: type[Scheduler] = Scheduler,
    priority: int = 100,
    comes: tuple[tuple[int, Pod], ...] = (),
    *,
    again: bool = False,
    **settings: Any,
) -> None:
    """A full node, and a pod of that priority that needs all of it, while the two that have it have
    none. `comes` is what a user creates, and when. With `again`, whatever goes is created again."""
    world.serve(ApiServer)
    world.add(*(PriorityClass(f"p{value}", value=value) for value in PRIORITIES))
    world.add(Node.of("n1", cpu_m=1000))
    vip = pending("vip", 1000, priority)
    if again:
        world.start(Recreator("low", pending("low", 500), 2), Recreator("vips", vip))
        world.limit(until_ms=60_000)
    else:
        world.add(running("quick", "n1", 500, 0, grace_s=2), vip)
        world.add(running("slow", "n1", 500, 0, grace_s=8))
    world.start(User("user", comes), PodTerminator("kubelet"), scheduler(NAME, **settings))
    world.claim(*scheduler_claims())


def pending(name: str, cpu_m: int = 0, priority: int = 0, **spec: Any) -> Pod:
    """A pod without a node that requests that cpu."""
    usual = {"scheduler_name": NAME, "priority_class_name": f"p{priority}", "priority": priority}
    return Pod.of(name, cpu_m=cpu_m, **{**usual, "grace_s": 1, **spec})


def running(name: str, node: str, cpu_m: int, priority: int, **spec: Any) -> Pod:
    """A pod that runs on that node."""
    pod = pending(name, cpu_m, priority, node_name=node, **spec)
    return attrs.evolve(pod, status=attrs.evolve(pod.status, phase="Running", start_ms=0))


def apart_from(app: str) -> Affinity:
    """Anti-affinity to the pods of that application, on one node."""
    term = PodAffinityTerm(HOSTNAME, LabelSelector({"app": app}))
    return Affinity(pod_anti_affinity=PodAffinity((term,)))


def _budget(app: str) -> PodDisruptionBudget:
    """A budget that allows no disruption of that application."""
    return PodDisruptionBudget(
        Meta(app, "default"),
        spec=PodDisruptionBudgetSpec(min_available=1, selector=LabelSelector({"app": app})),
        status=PodDisruptionBudgetStatus(disruptions_allowed=0),
    )


SMALL = ((3000, pending("small", 500)),)
"""A pod that wants the half of the place that is free already."""
GUEST = ((3000, pending("guest", 500, 1000, node_name="n1")),)
"""A pod that comes there by no scheduler, and is more important."""
