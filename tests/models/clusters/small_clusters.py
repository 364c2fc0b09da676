"""Small clusters, each drawn from a number: nodes, workloads, schedulers, and what people do.

Those with an even number come to rest by themselves, unless something goes on without end: so that
claims about rest are judged. In the others heartbeats, the pulse and the descheduler never rest,
pods outgrow their nodes again and again, and time ends them.
"""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.apiserver.invariants import protocol_claims
from actors.controllers.daemonset import DaemonSetController
from actors.controllers.deployment.controller import DeploymentController
from actors.controllers.descheduler.descheduler import Descheduler
from actors.controllers.disruption.controller import DisruptionController
from actors.controllers.frame.control_loop import KeyedController
from actors.controllers.garbage import GarbageCollector
from actors.controllers.invariants import deletion_claims, workload_claims
from actors.controllers.job.controller import JobController
from actors.controllers.node_lifecycle.lifecycle import NodeLifecycle
from actors.controllers.node_lifecycle.taint_eviction import TaintEviction
from actors.controllers.pod_gc import PodGC
from actors.controllers.replicaset import ReplicaSetController
from actors.controllers.statefulset import StatefulSetController
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
    DaemonSet,
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
    StatefulSet,
)
from testbed.objects.deployment import DeploymentSpec, StatefulSetSpec
from testbed.objects.workload import DaemonSetSpec, JobSpec, PodTemplate, ReplicaSetSpec
from testbed.world.scenario import Scenario, of
from testbed.world.world import World

LIFE_MS = 45_000
"""How long those are played that time ends; nodes that fall silent are noticed after forty seconds.
"""
REST_MS = 3_600_000
"""When these end if they do not come to rest."""
TURNS_MAX = 20_000
"""Most Runs have less than a tenth as many turns."""
CREATE_MS = 500
"""How long it takes to create a pod: who creates again what is rejected does not do so in no time.
"""
MEMORY = 1_000_000_000
USAGES = ("100M", "0s=100M 8s=700M", "0s=300M 15s=500M")
"""How much memory a pod takes: two that grow bring a node below the default threshold."""
PRIORITIES = {"low": 10, "high": 1000}
HEARTBEATS = ("off", "on_change", "every")
CONTROLLERS: dict[str, tuple[type[KeyedController], ...]] = {
    "set": (ReplicaSetController,),
    "dep": (ReplicaSetController, DeploymentController),
    "job": (JobController,),
    "daemon": (DaemonSetController,),
    "stateful": (StatefulSetController,),
}
"""By kind of workload, who keeps it."""
PASS_MS = 10_000
"""The time between two passes of the descheduler."""


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


def comes_to_rest(number: int) -> bool:
    """Whether nothing in the cluster of that number goes on for ever, as a rule."""
    return number % 2 == 0


def small_cluster(world: World, number: int) -> None:
    """Two to four nodes, two or three workloads of any kinds, and people who change them."""
    lots, rests = Lots(number), comes_to_rest(number)
    world.serve(ApiServer)
    nodes = tuple(f"n{n}" for n in range(2 + lots.below(3)))
    heartbeat = lots.one(*HEARTBEATS[: 2 if rests else 3])
    _add_nodes(world, nodes, heartbeat, lots)
    schedulers = lots.one(("default-scheduler",), ("default-scheduler", "other"))
    kinds = [lots.one(*CONTROLLERS) for _ in range(2 + lots.below(2))]
    things = [_thing(f"{kind}-{n}", lots, schedulers, rests) for n, kind in enumerate(kinds)]
    classes = [PriorityClass(Meta(name), value=value) for name, value in PRIORITIES.items()]
    budgets = [budget_for(item) for item in things if lots.below(2)]
    world.add(*classes, *things, *budgets)
    _start_schedulers(world, schedulers, lots)
    _start_controllers(world, kinds, heartbeat, lots)
    if budgets:
        world.start(DisruptionController())
    if heartbeat == "on_change" and not rests:
        world.serve(lambda store: PulseSensor(store, world.table.roles))
        world.start(Pulse("pulse"))
    if lots.below(2) and not rests:
        world.start(Descheduler(interval_ms=PASS_MS))
    world.start(WorkloadStream("ann", _script(things, nodes, lots)))
    world.claim(*protocol_claims(), *kubelet_claims())
    world.claim(*workload_claims(), *deletion_claims())
    world.latency("create pods", serve_ms=CREATE_MS)
    world.limit(turns_max=TURNS_MAX)
    if rests:
        world.limit(virtual_ms_max=REST_MS)
    else:
        world.limit(virtual_ms_max=LIFE_MS)


def _start_schedulers(world: World, names: tuple[str, ...], lots: Lots) -> None:
    """Without the fault of 1.26 by which a victim that is over may be Pending again (SCH-97)."""
    profile = lots.one("k8s-1.26", "k8s-modern", "seed")
    sound = Map(bug_disruption_status_from_preemptor="off")
    world.start(*(Scheduler(name, profile=profile, switches=sound) for name in names))


def _start_controllers(world: World, kinds: list[str], heartbeat: str, lots: Lots) -> None:
    """Those that these workloads need, with Events in one of four clusters."""
    given: Any = {"switches": Map(events=lots.one("off", "off", "off", "on"))}
    needed = dict.fromkeys(each for kind in kinds for each in CONTROLLERS[kind])
    world.start(*(each(each.__name__, **given) for each in needed))
    world.start(GarbageCollector(), PodGC(**given))
    if heartbeat != "off":
        world.start(NodeLifecycle(**given), TaintEviction(**given))


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


def _thing(name: str, lots: Lots, schedulers: tuple[str, ...], rests: bool) -> Object:
    """A workload of one to four pods. Where all is to come to rest, only pods of a Job grow: others
    would be evicted for ever. And two schedulers know no priorities there: what one has made room
    for, the other takes, and that for ever, too."""
    priorities = ("", *PRIORITIES) if not rests or len(schedulers) == 1 else ("",)
    kind, labels = name.partition("-")[0], Map(app=name)
    pod = Pod.of(
        "p", cpu_m=300 + 200 * lots.below(3), grace_s=1 + lots.below(5),
        scheduler_name=lots.one(*schedulers), priority_class_name=lots.one(*priorities),
    )  # fmt: skip
    usage = lots.one(*USAGES) if kind == "job" or not rests else USAGES[0]
    pod = pod.with_meta(annotations=Map({"usage.testbed/memory": usage}))
    if kind == "job":
        work = Workload(
            runs_ms=2000 + 1000 * lots.below(4), exit_code=lots.below(2),
            torn_down_after_ms=lots.one(0, 1500),
        )  # fmt: skip
        template = _template(pod, work, labels, restart_policy="Never")
        job = JobSpec(1 + lots.below(2), 2, backoff_limit=lots.below(3), template=template)
        return Job(Meta(name, "default"), spec=job)
    work = Workload(
        stops_after_ms=lots.one(None, 500), torn_down_after_ms=lots.one(0, 1500),
        is_deaf=lots.below(4) == 0,
    )  # fmt: skip
    given: dict[str, Any] = {
        "selector": LabelSelector(labels), "template": _template(pod, work, labels),
    }  # fmt: skip
    if kind == "daemon":
        return DaemonSet(Meta(name, "default"), spec=DaemonSetSpec(**given))
    given["replicas"] = 2 + lots.below(3)
    if kind == "set":
        return ReplicaSet(Meta(name, "default"), spec=ReplicaSetSpec(**given))
    if kind == "dep":
        return Deployment(Meta(name, "default"), spec=DeploymentSpec(**given))
    policy = lots.one("OrderedReady", "Parallel")
    spec = StatefulSetSpec(pod_management_policy=policy, **given)
    return StatefulSet(Meta(name, "default"), spec=spec)


def _template(pod: Pod, work: Workload, labels: Map[str], **spec: Any) -> PodTemplate:
    annotations = work.given_to(pod).meta.annotations
    meta = Meta(labels=labels, annotations=annotations)
    return PodTemplate(meta, attrs.evolve(pod.spec, **spec))


def budget_for(item: Object) -> PodDisruptionBudget:
    """A budget that keeps one pod of the workload."""
    selector = LabelSelector(Map(app=item.meta.name))
    spec = PodDisruptionBudgetSpec(min_available=1, selector=selector)
    return PodDisruptionBudget(Meta(f"budget-{item.meta.name}", "default"), spec=spec)


def _script(things: list[Object], nodes: tuple[str, ...], lots: Lots) -> tuple[Cue, ...]:
    """Four times something may be done; what it is the Chooser picks."""
    commands: list[Command] = [NoCommand()]
    for item in things:
        mine = f"app={item.meta.name}"
        commands += [PodCommand(mine), PodCommand(mine, grace_s=0)]
        if not isinstance(item, DaemonSet | Job):
            commands += [PatchCommand.scale(item, n) for n in (0, 3)]
        if not isinstance(item, Job):
            commands.append(PatchCommand.roll(item, "again"))
    options = DrainOptions(
        force=True, ignore_daemonsets=True, disable_eviction=lots.below(4) == 0, timeout_ms=20_000
    )
    commands += [DrainCommand((nodes[0],), options), PatchCommand.uncordon(nodes[0])]
    commands.append(DeleteCommand(things[-1]))
    return tuple(Cue(4000 + 6000 * n + 500 * lots.below(5), tuple(commands)) for n in range(4))
