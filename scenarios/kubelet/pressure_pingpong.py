"""A node of 2 GB: what its kubelet evicts for memory, its scheduler places there again.

It is the example in the proposal of pod priority and preemption, the other way round: the pod that
uses more than it requests has the higher priority. A kubelet that ranks pods by priority first, as
the proposal says, evicts the other one, which requests the whole node and stays within a thousandth
of it. Its controller creates it again, and for a scheduler, which counts requests, the node is
empty. That never ends. The kubelet of Kubernetes evicts the pod that exceeds its request, whatever
its priority. Nor does it go on if the scheduler avoids a node that has just evicted such a pod:
`--switch scheduler.avoid_node_after_eviction_ms=600000 --switch scheduler.avoid_how=exclude`.
"""

from __future__ import annotations

from actors.apiserver import ApiServer
from actors.controllers.node_lifecycle.lifecycle import NodeLifecycle
from actors.controllers.pod_gc import PodGC
from actors.controllers.recreator import Recreator
from actors.kubelet import EvictionSettings, Kubelet, Runtime, Threshold
from actors.kubelet.switches import SEED_PCT, SHIPPED
from actors.scheduler import Scheduler
from actors.shared.who_comes_again import who_comes_again
from testbed import World, no_lasso
from testbed.objects import Map, Meta, Node, Pod, PriorityClass

MB = 10**6
LAPS_MS = 400_000
"""A lap of 30 s is suspected after 69 s, and played three times more."""
NODE = "n1"
EVERY_MS = 9000
"""How often the kubelet looks. With the second that it takes to clean up, a pod lasts ten seconds:
so its laps keep step with the ticks of the scheduler, of which one comes every thirty."""
SETTINGS = EvictionSettings((Threshold.of("memory.available", "50M"),), EVERY_MS)
GROWS = "0s=600M 4s=900M 8s=1001M"
"""What the pod uses that requests the whole node."""


def using(name: str, priority: int, usage: str, memory: int | None = None) -> Pod:
    """A pod that uses memory as told, whatever it requests."""
    pod = Pod.of(name, memory=memory, grace_s=30, priority_class_name=f"priority-{priority}")
    notes, labels = Map({"usage.testbed/memory": usage}), Map({"pod-template-hash": name})
    return pod.with_meta(annotations=notes, labels=labels)


def two_gigabytes(world: World, rank: str) -> None:
    """Assemble a node of 2 GB, its kubelet, and all that places and replaces pods."""
    world.serve(ApiServer)
    world.serve(lambda store: Runtime(store, NODE))
    world.add(Node.of(NODE, cpu_m=4000, memory=2000 * MB))
    given = Map(evict_rank=rank, hard_evict_grace="documented_zero", heartbeat="on_change")
    world.start(
        Kubelet(f"kubelet-{NODE}", NODE, eviction=SETTINGS, switches=given),
        NodeLifecycle("node-lifecycle", period_ms=1000),
        PodGC("pod-gc", period_ms=1000, terminated_max=1),
        Scheduler("default-scheduler"),
    )  # fmt: skip


def pressure_pingpong(world: World, *, guard: bool = False) -> None:
    """The kubelet evicts what the scheduler places again; guarded, it evicts who uses too much.

    Cause: the kubelet evicts by priority and usage, and the scheduler places by requests alone, so
      what was evicted fits the same node again.
    Look for: a pod of `whole` is evicted from n1, and the next one is bound to n1, every 30
      seconds.
    Source: the design "Pod Preemption in Kubernetes".
    Tags: endless, two-views, no-timing, priority, pressure, eviction.
    """
    two_gigabytes(world, SHIPPED if guard else SEED_PCT)
    for priority in (200, 2000):
        world.add(PriorityClass(Meta(f"priority-{priority}"), value=priority))
    # Nothing creates the greedy pod again: while its node is short, a kubelet rejects any pod that
    # requests nothing, and who creates it at once would do so without end, at one instant.
    world.add(using("greedy", 2000, "1000M"))
    world.start(Recreator("whole", using("whole", 200, GROWS, memory=2000 * MB), guard=True))
    world.claim(no_lasso(abstraction=who_comes_again, named_anew=["pods"]))
    if not guard:
        world.limit(virtual_ms_max=LAPS_MS)
        world.needs_no_race = "what the kubelet evicts fits the node again, however they are timed"
