"""Crowds: small clusters drawn by their number, in which a few schedulers fight for little room."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Runtime
from actors.scheduler import Scheduler
from actors.scheduler.invariants import scheduler_claims
from testbed.client.client import Client
from testbed.errors import ApiError
from testbed.faults.break_watch import BreakWatch
from testbed.faults.crash import Crash
from testbed.faults.lag import Lag
from testbed.faults.lose_reply import LoseReply
from testbed.faults.lose_request import LoseRequest
from testbed.faults.server_error import ServerError
from testbed.objects import (
    Affinity,
    Condition,
    LabelSelector,
    Meta,
    Node,
    Pod,
    PodDisruptionBudget,
    PriorityClass,
)
from testbed.objects.affinity import PodAffinity, PodAffinityTerm
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from testbed.store.endpoint import Operation
from testbed.world.world import World
from tests.shared.scheduling import HAS_BEEN, PRIORITIES
from tests.shared.stage import Puppet

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
PROFILES = ("k8s-1.26", "k8s-1.26", "k8s-modern", "seed")
FAULTS = (
    Crash("s*", restart_after_ms=700), Lag("s*", by_ms=500, for_ms=5000), LoseReply("s*"),
    LoseRequest("s*"), ServerError("s*"), BreakWatch("s*"),
)  # fmt: skip


def crowd(number: int) -> World:
    """The one of that number."""
    draw = Random(number)
    world = World(f"crowd {number}")
    world.serve(ApiServer)
    world.add(*(PriorityClass(f"p{value}", value=value) for value in PRIORITIES))
    names = [f"n{n}" for n in range(1, draw.randint(1, 4) + 1)]
    schedulers = [f"s{n}" for n in range(1, draw.choice([1, 1, 1, 2, 3]) + 1)]
    for name in names:
        labels = {HOSTNAME: name, ZONE: draw.choice(["a", "b"])}
        world.add(Node.of(name, cpu_m=draw.choice([2000, 3000, 4000]), labels=labels))
        if draw.random() < 0.8:
            world.serve(partial(Runtime, node=name))
            world.start(Kubelet(f"kubelet-{name}", name))
    world.add(*_there(draw, names, schedulers), *_budgets(draw))
    waiting = [_pod(draw, f"w{n}", schedulers) for n in range(draw.randint(1, 3))]
    for pod in waiting:
        node = draw.choice(["", "", *names])
        world.add(attrs.evolve(pod, status=attrs.evolve(pod.status, nominated_node_name=node)))
    world.start(Puppet("user", partial(_user, list(_doings(draw, schedulers)))))
    for name in schedulers:
        world.start(Scheduler(name, profile=draw.choice(PROFILES)))
    world.claim(*scheduler_claims())
    return world


def _there(draw: Random, names: list[str], schedulers: list[str]) -> Iterator[Pod]:
    for n in range(draw.randint(0, 6)):
        pod = _pod(draw, f"t{n}", schedulers)
        conditions = tuple(Condition(each, "True", since_ms=0) for each in HAS_BEEN)
        status = attrs.evolve(
            pod.status, phase="Running", start_ms=draw.randint(-9, 0) * 1000, conditions=conditions
        )
        spec = attrs.evolve(pod.spec, node_name=draw.choice(names))
        yield attrs.evolve(pod, spec=spec, status=status)


def _pod(draw: Random, name: str, schedulers: list[str]) -> Pod:
    priority = draw.choice(PRIORITIES[:4])
    return Pod.of(
        name,
        cpu_m=draw.choice([500, 1000, 1000, 1500, 2000]),
        labels={"app": draw.choice("ab")},
        priority=priority,
        priority_class_name=f"p{priority}",
        scheduler_name=draw.choice(schedulers),
        grace_s=draw.choice([0, 1, 3, 30]),
        affinity=_affinity(draw),
    )


def _affinity(draw: Random) -> Affinity | None:
    term = PodAffinityTerm(draw.choice([HOSTNAME, ZONE]), LabelSelector({"app": draw.choice("ab")}))
    kind = draw.choice(["", "", "", "", "near", "apart"])
    if kind == "near":
        return Affinity(pod_affinity=PodAffinity((term,)))
    return Affinity(pod_anti_affinity=PodAffinity((term,))) if kind else None


def _budgets(draw: Random) -> Iterator[PodDisruptionBudget]:
    for app in "ab":
        if draw.random() < 0.4:
            yield PodDisruptionBudget(
                Meta(f"budget-{app}", "default"),
                spec=PodDisruptionBudgetSpec(min_available=1, selector=LabelSelector({"app": app})),
                status=PodDisruptionBudgetStatus(disruptions_allowed=draw.randint(0, 2)),
            )


def _doings(draw: Random, schedulers: list[str]) -> Iterator[tuple[int, Pod | str]]:
    """When what is created or deleted."""
    for n in range(draw.randint(1, 5)):
        after_ms = draw.choice([0, 0, 200, 1000, 4000])
        if draw.random() < 0.3:
            yield after_ms, f"{draw.choice('tw')}{draw.randint(0, 3)}"
        else:
            yield after_ms, _pod(draw, f"c{n}", schedulers)


async def _user(doings: list[tuple[int, Pod | str]], client: Client) -> None:
    for after_ms, what in doings:
        if after_ms:
            await client.sleep(after_ms)
        try:
            if isinstance(what, str):
                delete: Any = Operation("delete", "pods", what, "default")
                await client.ask(delete)
            else:
                await client.create(what)
        except ApiError:
            continue
