"""A cluster to schedule in: API server, nodes, pods, schedulers; and what was seen of them."""

from __future__ import annotations

from functools import partial
from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Runtime
from actors.scheduler import Scheduler
from testbed.client.client import Client
from testbed.objects import Condition, Map, Node, Object, Pod, PriorityClass
from testbed.store.endpoint import Operation
from testbed.turns.trace import Step
from testbed.world.world import World
from tests.shared.stage import Doing, Puppet

NAME = "alpha"
PRIORITIES = (0, 50, 100, 1000, 2000)
HAS_BEEN = ("Initialized", "Ready", "ContainersReady", "PodScheduled")


def cluster(*things: Object, nodes: int = 1, user: Doing | None = None, **settings: Any) -> World:
    """A World of `n1`, `n2`, … with 10 cpus each and no kubelets, and a scheduler `alpha`."""
    world = World("cluster")
    world.serve(ApiServer)
    world.add(*(PriorityClass(f"p{value}", value=value) for value in PRIORITIES))
    world.add(*(Node.of(f"n{n}", cpu_m=10_000) for n in range(1, nodes + 1)), *things)
    if user is not None:
        world.start(Puppet("user", user))
    world.start(Scheduler(NAME, **settings))
    return world


def with_kubelets(world: World, *nodes: str) -> World:
    """The same, and pods run on these nodes."""
    for node in nodes:
        world.serve(partial(Runtime, node=node))
        world.start(Kubelet(f"kubelet-{node}", node))
    return world


def pending(name: str, cpu: int = 1, priority: int = 0, **spec: Any) -> Pod:
    """A pod of alpha's that asks for so many cpus, and has no node."""
    usual = {"scheduler_name": NAME, "priority_class_name": f"p{priority}", "priority": priority}
    return Pod.of(name, cpu_m=1000 * cpu, **{**usual, "grace_s": 30, **spec})


def there(name: str, cpu: int = 1, priority: int = 0, node: str = "n1", **spec: Any) -> Pod:
    """A pod that runs on a node, and has done so since before anything moves."""
    pod = pending(name, cpu, priority, node_name=node, **spec)
    conditions = tuple(Condition(each, "True", since_ms=0) for each in HAS_BEEN)
    status = attrs.evolve(pod.status, phase="Running", start_ms=0, conditions=conditions)
    return attrs.evolve(pod, status=status)


# -- what a user does -----------------------------------------------------------------------------


async def delete(client: Client, name: str, **options: Any) -> None:
    """Delete a pod, with these options."""
    await client.ask(Operation("delete", "pods", name, "default", options=Map(options)))


def later(pod: Pod, at_ms: int) -> Doing:
    """Create that pod at that time."""

    async def user(client: Client) -> None:
        await client.sleep(at_ms)
        await client.create(pod)

    return user


# -- what was seen --------------------------------------------------------------------------------


def pod_of(world: World, name: str) -> Any:
    """A pod as it is in the Store; None if it is not."""
    entry = world.store.peek(f"pods/default/{name}")
    return None if entry is None else entry.value


def node_of(world: World, name: str) -> str:
    """Where a pod is bound to."""
    return str(pod_of(world, name).spec.node_name)


def attempts(world: World, name: str = "") -> list[str]:
    """When a pod, or each, was tried, and what came of it."""
    told = []
    for record in world.table.records:
        if record.name == "cycle" and name in record.facts["pod"]:
            facts = record.facts
            pod = facts["pod"].rpartition("/")[2]
            outcome = facts.get("node") or facts.get("message")
            told.append(f"{record.now_ms} {pod}#{facts['attempt']} {outcome}")
    return told


def records(world: World, name: str) -> list[dict[str, Any]]:
    """What was recorded under that name."""
    return [record.facts for record in world.table.records if record.name == name]


def writes(steps: list[Step], who: str = NAME) -> list[str]:
    """What a scheduler has written, in the order in which it took effect; but for Events."""
    told = []
    for step in steps:
        operation = step.operation
        if step.kind != "serve" or operation is None or not step.option.path.startswith(who):
            continue
        if operation.verb in ("create", "patch", "delete", "update") and operation.plural == "pods":
            told.append(f"{operation.asked} {operation.name}")
    return told


def events(world: World) -> list[str]:
    """Every Event, as people read it."""
    items: list[Any] = [entry.value for entry in world.store.snapshot("events/")]
    return [f"{each.involved.name} {each.reason}: {each.message}" for each in items]


def books(world: World, name: str = NAME) -> Any:
    """What a scheduler knows."""
    life = world.table.roles[name].life
    assert life is not None
    return life.shown["scheduler"]
