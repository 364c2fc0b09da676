"""Small clusters, each drawn from a number: nodes, workloads, schedulers, and what people do."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.apiserver.invariants import protocol_claims
from actors.controllers.deployment.controller import DeploymentController
from actors.controllers.disruption.controller import DisruptionController
from actors.controllers.garbage import GarbageCollector
from actors.controllers.invariants import deletion_claims, workload_claims
from actors.controllers.job.controller import JobController
from actors.controllers.node_lifecycle.lifecycle import NodeLifecycle
from actors.controllers.node_lifecycle.taint_eviction import TaintEviction
from actors.controllers.pod_gc import PodGC
from actors.controllers.replicaset import ReplicaSetController
from actors.kubelet import Kubelet, Runtime, Workload
from actors.kubelet.eviction import EvictionSettings
from actors.kubelet.invariants import kubelet_claims
from actors.kubelet.pulse import Pulse, PulseSensor
from actors.scheduler import Scheduler
from actors.users.commands import (
    Command,
    DeleteCommand,
    DrainCommand,
    NoCommand,
    PatchCommand,
    PodCommand,
)
from actors.users.drain import DrainOptions
from actors.users.stream import Cue, WorkloadStream
from testbed.objects import (
    Deployment,
    Job,
    LabelSelector,
    Map,
    Meta,
    Node,
    Object,
    Pod,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PriorityClass,
    ReplicaSet,
)
from testbed.objects.deployment import DeploymentSpec
from testbed.objects.workload import JobSpec, PodTemplate, ReplicaSetSpec
from testbed.world.scenario import Scenario, of
from testbed.world.world import World

LIFE_MS = 45_000
"""How long each is played; nodes that fall silent are noticed after forty seconds."""
MEMORY = 1_000_000_000
USAGES = ("100M", "0s=100M 8s=700M", "0s=300M 15s=500M")
"""How much memory a pod takes: two that grow bring a node below the default threshold."""
PRIORITIES = {"low": 10, "high": 1000}
HEARTBEATS = ("off", "on_change", "every")


class Lots:
    """Lots drawn by one number; the same again each time."""

    def __init__(self, number: int) -> None:
        self._random = Random(number)

    def below(self, end: int) -> int:
        """A whole number from 0."""
        return self._random.getrandbits(32) % end

    def one(self, *among: Any) -> Any:
        """One of these."""
        return among[self.below(len(among))]


def drawn_cluster(number: int) -> Scenario:
    """The small cluster of that number, as a scenario."""

    def build(world: World) -> None:
        small_cluster(world, number)

    return of(build, f"small_cluster_{number}")


def small_cluster(world: World, number: int) -> None:
    """Two to four nodes, one or two workloads of each kind, and people who change them."""
    lots = Lots(number)
    world.serve(ApiServer)
    nodes = tuple(f"n{n}" for n in range(2 + lots.below(3)))
    heartbeat = lots.one(*HEARTBEATS)
    _add_nodes(world, nodes, heartbeat, lots)
    schedulers = lots.one(("default-scheduler",), ("default-scheduler", "other"))
    things = [_thing(kind, lots, schedulers) for kind in _kinds(lots)]
    classes = [PriorityClass(Meta(name), value=value) for name, value in PRIORITIES.items()]
    world.add(*classes, *things, *_budgets(things, lots))
    world.start(*(Scheduler(name) for name in schedulers))
    world.start(
        DeploymentController("deployments"), ReplicaSetController("replicasets"),
        JobController("jobs"), DisruptionController("budgets"), GarbageCollector(), PodGC(),
    )  # fmt: skip
    if heartbeat != "off":
        world.start(NodeLifecycle(), TaintEviction())
    world.start(WorkloadStream("ann", _script(things, nodes, lots)))
    world.claim(*protocol_claims(), *kubelet_claims())
    world.claim(*workload_claims(), *deletion_claims())
    world.limit(virtual_ms_max=LIFE_MS)


def _add_nodes(world: World, nodes: tuple[str, ...], heartbeat: str, lots: Lots) -> None:
    for name in nodes:
        world.add(Node.of(name, cpu_m=1000 + 300 * lots.below(2), memory=MEMORY, pods=4))
        world.serve(partial(Runtime, node=name))
        settings: dict[str, Any] = {
            "start_delay_ms": 500 * lots.below(3), "ready_delay_ms": 500 * lots.below(2),
            "eviction": lots.one(None, EvictionSettings()),
            "profile": lots.one("k8s-1.26", "k8s-modern", "seed"),
            "switches": {"heartbeat": heartbeat},
        }  # fmt: skip
        world.start(Kubelet(f"kubelet-{name}", name, **settings))
    if heartbeat == "on_change":
        world.serve(lambda store: PulseSensor(store, world.table.roles))
        world.start(Pulse("pulse"))


def _kinds(lots: Lots) -> list[str]:
    return [f"{kind}-{n}" for kind in ("set", "dep", "job") for n in range(lots.below(2) + 1)][
        : 2 + lots.below(2)
    ]


def _thing(name: str, lots: Lots, schedulers: tuple[str, ...]) -> Object:
    """A workload of one to three pods."""
    labels = Map(app=name)
    pod = Pod.of(
        "p", cpu_m=300 + 200 * lots.below(3), grace_s=1 + lots.below(5),
        scheduler_name=lots.one(*schedulers), priority_class_name=lots.one("", *PRIORITIES),
    )  # fmt: skip
    pod = pod.with_meta(annotations=Map({"usage.testbed/memory": lots.one(*USAGES)}))
    if name.startswith("job"):
        work = Workload(
            runs_ms=2000 + 1000 * lots.below(4), exit_code=lots.below(2),
            torn_down_after_ms=lots.one(0, 1500),
        )  # fmt: skip
        template = _template(pod, work, labels, restart_policy="Never")
        spec = JobSpec(parallelism=1 + lots.below(2), completions=2, template=template)
        return Job(Meta(name, "default"), spec=spec)
    work = Workload(
        stops_after_ms=lots.one(None, 500), torn_down_after_ms=lots.one(0, 1500),
        is_deaf=lots.below(4) == 0,
    )  # fmt: skip
    given: dict[str, Any] = {
        "replicas": 2 + lots.below(3), "selector": LabelSelector(labels),
        "template": _template(pod, work, labels),
    }  # fmt: skip
    if name.startswith("set"):
        return ReplicaSet(Meta(name, "default"), spec=ReplicaSetSpec(**given))
    return Deployment(Meta(name, "default"), spec=DeploymentSpec(**given))


def _template(pod: Pod, work: Workload, labels: Map[str], **spec: Any) -> PodTemplate:
    annotations = work.given_to(pod).meta.annotations
    meta = Meta(labels=labels, annotations=annotations)
    return PodTemplate(meta, attrs.evolve(pod.spec, **spec))


def _budgets(things: list[Object], lots: Lots) -> list[Object]:
    """A budget for the pods of each second workload."""
    return [
        PodDisruptionBudget(
            Meta(f"budget-{item.meta.name}", "default"),
            spec=PodDisruptionBudgetSpec(
                min_available=1, selector=LabelSelector(Map(app=item.meta.name))
            ),
        )
        for item in things
        if lots.below(2)
    ]


def _script(things: list[Object], nodes: tuple[str, ...], lots: Lots) -> tuple[Cue, ...]:
    """Four times something may be done; what it is the Chooser picks."""
    commands: list[Command] = [NoCommand()]
    for item in things:
        mine = f"app={item.meta.name}"
        commands += [PodCommand(mine), PodCommand(mine, grace_s=0)]
        if not isinstance(item, Job):
            commands += [PatchCommand.scale(item, n) for n in (0, 3)]
            commands.append(PatchCommand.roll(item, "again"))
    options = DrainOptions(force=True, disable_eviction=lots.below(4) == 0, timeout_ms=20_000)
    commands += [DrainCommand((nodes[0],), options), PatchCommand.uncordon(nodes[0])]
    commands.append(DeleteCommand(things[-1]))
    return tuple(Cue(4000 + 6000 * n + 500 * lots.below(5), tuple(commands)) for n in range(4))
