"""Life: one cluster from its first pod to a drain of a tenth of its nodes, and what that costs.

1. All workloads are created, of ten pods each; they are scheduled, and run.
2. Every workload is rolled, and once more ten minutes later.
3. A tenth of the nodes is drained.

Stages begin ten minutes of virtual time apart, so that history is compacted and heartbeats come
while nothing else happens. It is played in a process of its own, whose peak of memory is then that
of this World.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import perf_counter, process_time
from typing import Any, ClassVar

import attrs

from testbed.choosers.calm import Calm
from testbed.client.actor import Actor
from testbed.client.client import Client
from testbed.errors import HarnessBug
from testbed.objects import Deployment, Map, Meta, Node, Pod
from testbed.objects.codec import encode
from testbed.objects.deployment import DeploymentSpec
from testbed.objects.labels import LabelSelector
from testbed.objects.workload import PodTemplate
from testbed.turns.garbage import collected_between
from testbed.world.world import World

REPLICAS = 10
"""The pods of each workload."""
DRAINED = 10
"""One node in ten is drained."""
STAGES = ("create", "first_roll", "second_roll", "drain")
PERIOD_MS = 600_000
"""From the beginning of one stage to that of the next."""
POLL_MS = 5_000
"""How often the operator looks whether a stage is over."""
POD_CPU_M, POD_MEMORY = 100, 1 << 27
"""What each pod requests."""
SPARE = 2
"""How many times the pods would fit."""


@attrs.define
class LifeMeter:
    """What each stage has cost, and how much was kept at most; it stands outside the World."""

    world: World
    stages: dict[str, dict[str, float]] = attrs.field(factory=dict)
    kept_most: int = 0
    """The largest number of live objects and Changes that the Store has had at once."""
    tell: Callable[[str], None] = attrs.field(default=lambda _: None)
    """Called with each stage that is over."""
    _began: tuple[int, float, int] = (0, 0.0, 0)
    """The turns, CPU seconds and virtual milliseconds when the stage began."""

    def begin(self) -> None:
        """Note what was spent before a stage begins."""
        self._began = self._now()

    def end(self, stage: str) -> None:
        """Note what the stage has cost, which is over."""
        turns, seconds, now_ms = self._now()
        before = self._began
        spent = seconds - before[1]
        self.stages[stage] = {
            "turns": turns - before[0],
            "virtual_s": (now_ms - before[2]) // 1000,
            "cpu_s": round(spent, 2),
            "us_per_turn": round(1e6 * spent / (turns - before[0]), 1),
        }
        self.tell(stage)

    def look(self) -> None:
        """Count what the Store keeps now."""
        store = self.world.store
        self.kept_most = max(self.kept_most, len(store) + len(store.log().changes))

    def _now(self) -> tuple[int, float, int]:
        table = self.world.table
        return table.step, process_time(), table.now_ms


@attrs.frozen
class Operator(Actor):
    """Leads the cluster through the stages of its life, and looks when each is over."""

    rank: ClassVar[int] = 0

    workloads: int
    drained: tuple[str, ...]
    meter: LifeMeter = attrs.field(eq=False)

    async def run(self, client: Client) -> None:
        """One stage after another, each at its time."""
        for number, stage in enumerate(STAGES):
            await client.sleep(max(number * PERIOD_MS - client.now(), 0), stage)
            self.meter.begin()
            if stage == "drain":
                await _drain(client, self.drained)
            else:
                for each in range(self.workloads):
                    await self._roll(client, each, number)
            while not await self._is_ready(client):
                self.meter.look()
                await client.sleep(POLL_MS, f"look {stage}")
            self.meter.end(stage)

    async def _roll(self, client: Client, number: int, version: int) -> None:
        """Create a workload, or change its template, so that all its pods are replaced."""
        item = _workload(f"web-{number}")
        if not version:
            await client.create(item)
            return
        template = {"metadata": {"annotations": {"version": str(version)}}}
        await client.patch(item, {"spec": {"template": template}})

    async def _is_ready(self, client: Client) -> bool:
        """Whether every workload has the pods that it wants, all of the newest template."""
        items = (await client.list(Deployment)).items
        return all(
            item.status.observed_generation == item.meta.generation
            and item.status.updated_replicas == REPLICAS
            and item.status.replicas == item.status.available_replicas == REPLICAS
            for item in items
        )


async def _drain(client: Client, nodes: tuple[str, ...]) -> None:
    # The testbed may not import `actors`, so they are found by name, here and below.
    users = import_module("actors.users.drain")
    if not await users.drain(client, nodes, users.DrainOptions()):
        raise HarnessBug("the bench could not drain a node of its own")


def _workload(name: str) -> Deployment:
    labels = Map(app=name)
    annotations = {"workload.testbed/stops-after-ms": "1500"}
    spec = Pod.of("p", cpu_m=POD_CPU_M, memory=POD_MEMORY, grace_s=10).spec
    template = PodTemplate(Meta(labels=labels, annotations=annotations), spec)
    selector = LabelSelector(match_labels=labels)
    return Deployment(
        Meta(name, "default"),
        spec=DeploymentSpec(
            replicas=REPLICAS, selector=selector, template=template, revision_history_limit=1
        ),
    )


CONTROLLERS = (
    ("deployment.controller", "DeploymentController", "deployment-controller"),
    ("replicaset", "ReplicaSetController", "replicaset-controller"),
    ("disruption.controller", "DisruptionController", "disruption-controller"),
    ("garbage", "GarbageCollector", "garbage-collector"),
    ("pod_gc", "PodGC", "pod-gc"),
)
"""The controllers that there are in any case: module, class and name."""
NODE_CONTROLLERS = (
    ("node_lifecycle.lifecycle", "NodeLifecycle", "node-lifecycle"),
    ("node_lifecycle.taint_eviction", "TaintEviction", "taint-eviction"),
)
"""Those that judge nodes by their heartbeats."""


def assembled(nodes: int, pods: int, heartbeat: str) -> tuple[World, LifeMeter]:
    """The World, with all that keeps a cluster going."""
    world = World("bench")
    world.limit(
        turns_max=10**12, instant_turns_max=10**12, virtual_ms_max=len(STAGES) * PERIOD_MS,
        trace_bytes_max=1 << 40,
    )  # fmt: skip
    world.serve(import_module("actors.apiserver").ApiServer)
    names = [f"n{number}" for number in range(nodes)]
    _add_nodes(world, names, SPARE * pods // nodes + 1, heartbeat)
    controllers = CONTROLLERS if heartbeat == "off" else (*CONTROLLERS, *NODE_CONTROLLERS)
    for module, kind, name in controllers:
        world.start(getattr(import_module(f"actors.controllers.{module}"), kind)(name))
    meter = LifeMeter(world)
    world.start(
        import_module("actors.scheduler").Scheduler("default-scheduler"),
        import_module("actors.apiserver.housekeeping").Housekeeping(),
        Operator("operator", max(pods // REPLICAS, 1), tuple(names[: nodes // DRAINED]), meter),
    )
    return world, meter


def _add_nodes(world: World, names: list[str], room: int, heartbeat: str) -> None:
    """Nodes in three zones with room for `room` pods each, their kubelets and runtimes."""
    kubelet = import_module("actors.kubelet")
    for number, name in enumerate(names):
        labels = {"topology.kubernetes.io/zone": f"z{number % 3}"}
        size = {"cpu_m": room * POD_CPU_M, "memory": room * POD_MEMORY}
        world.add(Node.of(name, pods=room, labels=labels, **size))
        world.serve(partial(kubelet.Runtime, node=name))
        switches = {"heartbeat": heartbeat}
        world.start(
            kubelet.Kubelet(f"kubelet-{name}", name, start_delay_ms=1000, switches=switches)
        )
    if heartbeat == "on_change":
        pulse = import_module("actors.kubelet.pulse")
        world.serve(lambda store: pulse.PulseSensor(store, world.table.roles))
        world.start(pulse.Pulse("pulse"))


def played(
    nodes: int, pods: int, heartbeat: str, tell: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """What one life has cost; `tell` is called with each stage that is over."""
    # What the smallest cluster needs, the modules of all programs among it, is not counted.
    assembled(1, REPLICAS, heartbeat)
    before = _resident()
    world, meter = assembled(nodes, pods, heartbeat)
    meter.tell = tell
    with collected_between():
        began = perf_counter()
        verdict = world.run(Calm(), driver="direct")
        seconds = perf_counter() - began
    if verdict.is_violated or set(meter.stages) != set(STAGES):
        raise HarnessBug(f"the bench's own cluster has not come to its end: {verdict}")
    peak = getrusage(RUSAGE_SELF).ru_maxrss * 1024 - before
    first, second = (meter.stages[f"{nth}_roll"]["us_per_turn"] for nth in ("first", "second"))
    return {
        "turns": verdict.turns,
        "virtual_s": verdict.virtual_ms // 1000,
        "wall_s": round(seconds, 1),
        "virtual_s_per_wall_s": round(verdict.virtual_ms / 1000 / seconds, 1),
        "turns_per_s": round(verdict.turns / seconds),
        "second_roll_to_first": round(second / first, 3),
        "peak_mb": round(peak / 1e6, 1),
        "kept_most": meter.kept_most,
        "bytes_per_kept": round(peak / meter.kept_most),
        **meter.stages,
    }


def _resident() -> int:
    """The memory of this process now, in bytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096


def main() -> None:
    """Print a line for each stage of one life, and its figures in the end:
    `python -m testbed.cli.benches.life 100 1000 on_change`."""
    nodes, pods, heartbeat = sys.argv[1:]
    _print({"figures": played(int(nodes), int(pods), heartbeat, lambda s: _print({"stage": s}))})


def _print(line: dict[str, Any]) -> None:
    sys.stdout.buffer.write(encode(line) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
