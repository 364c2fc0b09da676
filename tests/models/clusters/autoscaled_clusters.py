"""Autoscaled clusters, each drawn from a number: node groups, what goes wrong with their machines,
workloads that grow and shrink, and a cluster autoscaler in a hurry.

In those with an even number programs crash and calls fail, and what the autoscaler owes to pods on
nodes that it deletes is claimed, too. In the others everything may strike, so it may have heard of
nothing for long.
"""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.apiserver.invariants import protocol_claims
from actors.autoscaler import Autoscaler, AutoscalerSettings
from actors.autoscaler.invariants import departure_claims, growth_claims
from actors.cloud import Boot, CloudQuota, NodeGroup, join_cloud
from actors.controllers.disruption.controller import DisruptionController
from actors.controllers.replicaset import ReplicaSetController
from actors.kubelet import Machine
from actors.kubelet.invariants import kubelet_claims
from actors.scheduler import Scheduler
from actors.shared.node_groups import CLOUD
from actors.shared.user import User
from actors.users.commands import Command, NoCommand, PatchCommand, PodCommand
from actors.users.stream import Cue, WorkloadStream
from testbed.client.actor import Actor
from testbed.client.client import Client
from testbed.errors import ApiError
from testbed.objects import (
    LabelSelector,
    Map,
    Meta,
    Node,
    Object,
    Pod,
    PriorityClass,
    ReplicaSet,
)
from testbed.objects.workload import PodTemplate, ReplicaSetSpec
from testbed.store.endpoint import Operation
from testbed.world.scenario import Scenario, of
from testbed.world.world import World
from tests.models.clusters.small_clusters import Lots, budget_for

LIFE_MS, TURNS_MAX = 240_000, 12_000
PRIORITIES = {"spare": -20, "low": 0, "high": 1000}
"""Pods of the first class give way to everything."""
APART = Map(pool="apart")
CPU_M = 1000
BOOTS: tuple[tuple[Boot, ...], ...] = (
    (Boot(15_000),),
    (Boot(5_000, 12_000), Boot(40_000)),
    (Boot(8_000), Boot(None)),
    (Boot(8_000), Boot(8_000, stays_unready=True)),
    (Boot(10_000), Boot(None, error_ms=5_000)),
)  # fmt: skip
"""How machines come up: well, or of two ways one."""
REFUSED = (0, 0, 1, 2)
QUIET = Map(events="off")


@attrs.frozen
class Operator(Actor):
    """Whoever runs the cloud: takes a machine back, or changes how large a group may be."""

    groups: tuple[str, ...]

    async def run(self, client: Client) -> None:
        for number, at_ms in enumerate((35_000, 60_000, 50_000), 1):
            await client.sleep(at_ms, f"change {number}")
            what = client.pick(f"change {number}", ["nothing", "reclaim", "smaller", "larger"])
            if what == "nothing" or not self.groups:
                continue
            group = self.groups[(number - 1) % len(self.groups)]
            try:
                await client.ask(_change(what, group))
            except ApiError:
                continue


def _change(what: str, group: str) -> Operation:
    if what == "reclaim":
        body: Any = (f"{group}-1",)
        return Operation("reclaim", "nodegroups", group, body=body, endpoint=CLOUD)
    body = {"max_size": 1 if what == "smaller" else 4}
    return Operation("adjust", "nodegroups", group, body=body, endpoint=CLOUD)


def autoscaled_cluster(number: int) -> Scenario:
    """The cluster of that number, as a scenario."""

    def build(world: World) -> None:
        assemble(world, number)

    return of(build, f"autoscaled_cluster_{number}")


def is_told_in_time(number: int) -> bool:
    """Whether its autoscaler hears of all that happens before long."""
    return number % 2 == 0


def assemble(world: World, number: int) -> None:
    """One to three groups, one to three ReplicaSets, single pods, and people who change them."""
    lots = Lots(number)
    has_kubelets = lots.below(2) == 0
    groups = [_group(name, lots) for name in ("g", "h", "k")[: 1 + lots.below(3)]]
    quota = CloudQuota(instances=2 + lots.below(4)) if lots.below(4) == 0 else None
    world.serve(ApiServer)
    join_cloud(world, *groups, machine=Machine if has_kubelets else None, quota=quota)
    sets = [_set(f"set-{n}", lots) for n in range(1 + lots.below(3))]
    budgets = [budget_for(item) for item in sets if lots.below(3) == 0]
    classes = [PriorityClass(Meta(name), value=value) for name, value in PRIORITIES.items()]
    world.add(*classes, *sets, *budgets)
    world.start(ReplicaSetController("replicasets", switches=QUIET))
    if budgets:
        world.start(DisruptionController(switches=QUIET))
    sound = Map(bug_disruption_status_from_preemptor="off")
    profile = lots.one("k8s-1.26", "k8s-modern", "seed")
    world.start(Scheduler("default-scheduler", profile=profile, switches=sound))
    settings = attrs.evolve(_settings(lots), parallel_drain=number % 3 == 0)
    switches = Map(events="off", status="off", has_instance=lots.one("off", "on"))
    world.start(Autoscaler(settings=settings, profile=profile, switches=switches))
    world.start(WorkloadStream("ann", _script(sets, lots)), User("ben", _pods(lots)))
    world.start(Operator("operator", tuple(group.name for group in groups)))
    world.claim(*protocol_claims(), *growth_claims())
    if has_kubelets:
        world.claim(*kubelet_claims())
    if is_told_in_time(number) and profile != "seed":
        world.claim(*departure_claims(settings))
    world.limit(turns_max=TURNS_MAX, virtual_ms_max=LIFE_MS)


def _settings(lots: Lots) -> AutoscalerSettings:
    return AutoscalerSettings(
        unneeded_time_ms=lots.one(20_000, 40_000), unready_time_ms=60_000,
        delay_after_add_ms=lots.one(0, 20_000), unremovable_recheck_ms=lots.one(10_000, 60_000),
        initial_backoff_ms=20_000, max_backoff_ms=60_000, max_node_provision_time_ms=60_000,
        max_nodes_total=lots.one(0, 0, 4), max_pod_eviction_time_ms=30_000,
        balance_similar_node_groups=lots.below(2) == 0,
        enforce_node_group_min_size=lots.below(4) == 0,
    )  # fmt: skip


def _group(name: str, lots: Lots) -> NodeGroup:
    least = lots.below(2)
    is_apart = name == "k"
    labels = APART if is_apart else Map()
    return NodeGroup(
        name, min_size=least, max_size=3, target=least + lots.below(2),
        template=Node.of("any", cpu_m=CPU_M * (1 + lots.below(2)), labels=labels),
        boots=lots.one(*BOOTS), stock=lots.one(None, None, 2),
        increase_errors=lots.one(*REFUSED), delete_errors=lots.one(*REFUSED),
    )  # fmt: skip


def _set(name: str, lots: Lots) -> ReplicaSet:
    labels = Map(app=name)
    spec = Pod.of(
        "p", cpu_m=200 + 200 * lots.below(4), grace_s=1 + lots.below(20),
        priority_class_name=lots.one("", *PRIORITIES),
        node_selector=lots.one(Map(), Map(), Map(), APART),
    ).spec  # fmt: skip
    template = PodTemplate(Meta(labels=labels), spec)
    wanted = ReplicaSetSpec(1 + lots.below(4), selector=LabelSelector(labels), template=template)
    return ReplicaSet(Meta(name, "default"), spec=wanted)


def _pods(lots: Lots) -> tuple[tuple[int, Object], ...]:
    """Single pods, some of which preempt others."""
    return tuple(
        (
            5_000 + 30_000 * number + 1_000 * lots.below(10),
            Pod.of(f"p{number}", cpu_m=300 + 300 * lots.below(3), grace_s=5,
                   priority_class_name=lots.one("", *PRIORITIES)),
        )
        for number in range(lots.below(4))
    )  # fmt: skip


def _script(sets: list[ReplicaSet], lots: Lots) -> tuple[Cue, ...]:
    """Four times something may be done; what it is the Chooser picks."""
    commands: list[Command] = [NoCommand()]
    for item in sets:
        commands += [PatchCommand.scale(item, n) for n in (0, 1, 5)]
        commands.append(PodCommand(f"app={item.meta.name}"))
    return tuple(Cue(12_000 + 35_000 * n + 500 * lots.below(9), tuple(commands)) for n in range(4))
