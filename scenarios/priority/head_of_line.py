"""Important pods that fit nowhere are at the head of the queue again before others have a turn."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import Any, ClassVar

import attrs

from actors.apiserver import ApiServer
from actors.scheduler import Scheduler
from actors.scheduler.invariants.cycles import Cycles
from actors.shared.user import User
from testbed import Actor, ApiError, Client, Evidence, Invariant, World
from testbed.invariant import RECORD
from testbed.objects import Condition, Map, Node, Pod, PriorityClass
from testbed.objects.calendar import whole_second
from testbed.objects.condition import TRUE
from testbed.objects.form import to_tree
from testbed.turns.trace import Step

NODES = ("n1", "n2", "n3")
SCHEDULER = "default-scheduler"
READY = Condition("Ready", TRUE, "KubeletReady", "kubelet is posting ready status")
IMPORTANT = 3
"""How many important pods there are. They select a label that no node has."""
CYCLE_MS, BEAT_MS = 400, 1000
"""How long a scheduling cycle takes, and how often a node writes its status. In a large cluster a
node does so a hundred times a second, and a cycle takes some milliseconds; this is as much slower.
What counts is that all the important pods together take longer than it is to the next heartbeat."""
SMALL_MS, BEATS = 2_000, 20
TRIES_MAX = 10


def ready(name: str) -> Node:
    """A node that its kubelet has called ready."""
    node = Node.of(name, cpu_m=1000)
    return attrs.evolve(node, status=attrs.evolve(node.status, conditions=(READY,)))


@attrs.frozen
class Heartbeats(Actor):
    """Stands for the kubelets of a large cluster: again and again one of the nodes writes in its
    status that it is alive, as it did before there were Leases."""

    rank: ClassVar[int] = 2

    beats: int

    async def run(self, client: Client) -> None:
        for number in range(1, self.beats + 1):
            await client.sleep(BEAT_MS, "beat")
            beat = attrs.evolve(READY, heartbeat_ms=whole_second(client.now()))
            change = {"status": {"conditions": [to_tree(beat)]}}
            node = Node(NODES[number % len(NODES)])
            with suppress(ApiError):
                await client.patch(node, change, how="strategic", subresource="status")


class NobodyIsPassedOver(Invariant):
    """No pod is tried again and again while another one, which waits, has not been tried once."""

    name = "nobody_is_passed_over"
    looks_at: ClassVar[frozenset[str]] = frozenset({RECORD})
    reads = frozenset({"records", "log:pods.spec"})

    def __init__(self) -> None:
        self._cycles = Cycles()
        self._tried: set[str] = set()
        self._times: dict[str, Counter[str]] = {}
        """By pod that has not been tried: how often each other one was, since it came."""

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        for cycle in self._cycles.of(evidence):
            again = cycle.pod.key
            self._tried.add(again)
            self._times.pop(again, None)
            pods: list[Any] = [entry.value for entry in evidence.store.snapshot("pods/")]
            for pod in pods:
                if pod.is_bound or pod.key in self._tried:
                    continue
                times = self._times.setdefault(pod.key, Counter())
                times[again] += 1
                if times[again] > TRIES_MAX:
                    said = f"{again} was tried {times[again]} times since {pod.key} came"
                    return f"{said}, which never was"
        return None


def head_of_line(world: World, *, guard: bool = False) -> None:
    """Pods that fit nowhere keep a small one from being tried at all (kubernetes#71486).

    The scheduling queue of 1.12 has no backoff. Whenever a node writes its status, and be it only a
    heartbeat, all unschedulable pods become active again; and a pod in whose cycle that happens
    stays active. Three important pods fit on no node. Before the last of them has been tried there
    is the next heartbeat, and all stand before the small pod again, for which each node has room.

    Guarded, it has the backoff of 1.26. While the important pods pause, the small one is tried.

    Cause: an event makes pods active that have just failed, and those go by priority alone.
    Look for: cycles for important-1 to important-3 in turn, and none for small.
    Source: kubernetes#71486, kubernetes#86373, kubernetes PR#57057.
    Tags: priority, starvation, no-timing.
    """
    world.serve(ApiServer)
    world.add(PriorityClass("important", value=100))
    world.add(*map(ready, NODES))
    for number in range(1, IMPORTANT + 1):
        world.add(Pod.of(f"important-{number}", cpu_m=100, scheduler_name=SCHEDULER,
                         priority=100, node_selector=Map(disk="ssd")))  # fmt: skip
    switches = Map(
        requeue_scope="everything", node_events="all", backs_off="on" if guard else "off",
        cycle_ms=str(CYCLE_MS),
    )  # fmt: skip
    world.start(
        User("ann", ((SMALL_MS, Pod.of("small", cpu_m=100, scheduler_name=SCHEDULER)),)),
        Heartbeats("heartbeats", BEATS),
        Scheduler(SCHEDULER, switches=switches),
    )
    world.claim(NobodyIsPassedOver())
    if not guard:
        world.needs_no_race = "the important pods take longer than it is from one event to the next"
