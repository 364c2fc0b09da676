"""bench autoscale: passes per second of a cluster autoscaler, with few nodes and with many."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from time import perf_counter
from typing import Any

from testbed.choosers.calm import Calm
from testbed.cli.benches import cycles
from testbed.errors import ScenarioError
from testbed.objects import Condition, Map, Meta, Node, Owner, Pod
from testbed.objects.pod import RUNNING, PodStatus
from testbed.turns.trace import Trace
from testbed.world.world import World

NODES = (100, 300, 1_000)
PODS = 500
GROUPS, KINDS = 20, 20
"""How many node groups there are; how many workloads the pending pods are of."""
HERE, IDLE_EVERY = 10, 50
"""How many pods run on a node; of how many nodes one is nearly idle."""
PASSES_MS = (10_000, 20_000, 30_000)
"""The first pass asks for nodes; the others look which ones can go."""
UNSCHEDULABLE = Condition("PodScheduled", "False", "Unschedulable", since_ms=0)


def length(nodes: Sequence[int] = NODES, rounds: int = cycles.ROUNDS, **_: Any) -> int:
    """The number of Worlds to play, for the progress bar."""
    return rounds * len(nodes)


def measure(
    nodes: Sequence[int] = NODES, pods: int = PODS, rounds: int = cycles.ROUNDS, done: Any = int
) -> dict[str, Any]:
    """Three passes each: all nodes of all groups, ten pods on each, and pods that find no room."""
    if min(nodes) < GROUPS:
        raise ScenarioError(
            f"--nodes {min(nodes)}: expected at least one for each of the {GROUPS} groups.\n"
            f"Next: testbed bench autoscale --nodes {GROUPS}"
        )
    return cycles.measure(fill, nodes, pods, rounds, done, played, "pass")


def fill(world: World, nodes: int, pods: int) -> None:
    """Groups of nodes with pods on them, and pods that no scheduler could place."""
    cloud = import_module("actors.cloud")
    template = Node.of("any", cpu_m=4000, memory=2**33)
    lost = (cloud.Boot(register_ms=None),)
    sizes = [nodes // GROUPS + (number < nodes % GROUPS) for number in range(GROUPS)]
    group = cloud.NodeGroup
    cloud.join_cloud(world, *[
        group(f"g{n}", max_size=2 * size + 500, target=size, template=template, boots=lost)
        for n, size in enumerate(sizes)
    ])  # fmt: skip
    names = [f"g{n}-{number}" for n, size in enumerate(sizes) for number in range(1, size + 1)]
    for number, name in enumerate(names):
        for nth in range(1 if number % IDLE_EVERY == 0 else HERE):
            world.add(_pod(f"run-{number}-{nth}", 350, f"w{nth}", name))
    for number in range(pods):
        world.add(_pod(f"wait-{number}", 1000, f"p{number % KINDS}", ""))


def _pod(name: str, cpu_m: int, owner: str, node: str) -> Pod:
    """A pod of that owner, running or waiting."""
    pod = Pod.of(name, cpu_m=cpu_m, memory=2**28, node_name=node)
    meta = Meta(
        name, "default", owners=(Owner("apps/v1", "ReplicaSet", owner, owner, controller=True),)
    )
    waits = PodStatus(conditions=(UNSCHEDULABLE,))
    status = PodStatus(phase=RUNNING, start_ms=0) if node else waits
    return Pod(meta, spec=pod.spec, status=status)


def played(fill: cycles.Fill, nodes: int, pods: int) -> tuple[float, float]:
    """Passes per second of one World: by the time within them, and by the whole time."""
    world, stopwatch = World("bench"), cycles.Stopwatch()
    world.limit(
        turns_max=cycles.TURNS_MAX, instant_turns_max=cycles.TURNS_MAX,
        virtual_ms_max=PASSES_MS[-1] + 1, trace_bytes_max=1 << 40,
    )  # fmt: skip
    world.serve(import_module("actors.apiserver").ApiServer)
    fill(world, nodes, pods)
    module = import_module("actors.autoscaler.autoscaler")

    class TimedPasses(module.AutoscalerLoop):  # type: ignore[misc, name-defined]
        """A loop of which the passes are timed."""

        async def make_pass(self) -> None:
            """Time and count one pass."""
            stopwatch.decided += 1
            await cycles.Timed(stopwatch, super().make_pass())

    class TimedAutoscaler(module.Autoscaler):  # type: ignore[misc, name-defined]
        """An autoscaler with that loop."""

        loop = TimedPasses

    # No request may fail while a pass is timed: a status would be patched that is not there yet.
    settings = import_module("actors.autoscaler").AutoscalerSettings(passes_ms=PASSES_MS)
    world.start(
        TimedAutoscaler(settings=settings, switches=Map(expander="least-waste", status="off"))
    )
    began = perf_counter()
    world.run(Calm(), trace=Trace({}, keep=True))
    seconds = perf_counter() - began
    return stopwatch.decided / stopwatch.seconds, stopwatch.decided / seconds
