"""A pod waits for room that is kept for another pod, and is not told that it is kept no longer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import attrs

from actors.apiserver import ApiServer
from actors.scheduler import Scheduler
from actors.scheduler.invariants.cycles import schedulers
from actors.shared.retries import make
from testbed import Actor, Cache, Client, Evidence, World, quiescent
from testbed.objects import Map, Node, Pod, PriorityClass, requests_of, room_of

SCHEDULER = "default-scheduler"
GI = 2**30
PRIORITIES = {"low": 1, "medium": 2, "high": 3}
SIZES_GI = {"p1": 10, "p2": 25, "p3": 20}
NODE_GI = 32
RETRY_MS = 1_000
"""The first backoff; and less than the five minutes after which a pod is tried again without any
event."""


@attrs.frozen
class Tester(Actor):
    """Does the steps of the report: p2 preempts p1, p3 is bound, and p1 is created again."""

    rank: ClassVar[int] = 0
    gap_ms: int = 0

    async def run(self, client: Client) -> None:
        news = client.queue("news", idle=True)
        pods = Cache(client, Pod)
        pods.on(add=news.put, update=lambda _, new: news.put(new), delete=news.put)
        await pods.synced()
        await client.sleep(1000, "begin")
        await make(client, pod("p2", "medium"))
        while pods.get("p1") is not None:
            await news.get()
        await make(client, pod("p3", "high"))
        while (p3 := pods.get("p3")) is None or not p3.is_bound:
            await news.get()
        if self.gap_ms:
            await client.sleep(self.gap_ms, "gap")
        await make(client, pod("p1", "low"))


def pod(name: str, priority: str, **spec: Any) -> Pod:
    """One of the three pods of the report."""
    return Pod.of(name, memory=SIZES_GI[name] * GI, priority_class_name=priority, grace_s=0, **spec)


def who_had_to_wait_is_tried_again(see: Evidence) -> str | None:
    """At rest, no pod is unschedulable that would fit beside the pods on a node, if what kept it
    away was a nomination that has ended."""
    pods: dict[str, Any] = {entry.key: entry.value for entry in see.store.snapshot("pods/")}
    for who, books, _ in schedulers(see):
        waiting = [pods[key] for key in books.beliefs.queue.places["unschedulable"] if key in pods]
        for first, name in nominations_lost(see):
            node: Any = see.store.peek(f"nodes/{name}")
            there = [pod for pod in pods.values() if pod.spec.node_name == name]
            room = 0 if node is None else room_of(node.value)["memory"]
            for pod in waiting:
                if pod.key != first and memory_of(pod) <= room - sum(map(memory_of, there)):
                    again = f"{who} does not try {pod.key} again, which would fit on {name}"
                    return f"{again}: {first} is not nominated there any more"
    return None


def nominations_lost(see: Evidence) -> Iterator[tuple[str, str]]:
    """The pods of which a nomination was cleared, the last first, each with its node."""
    for change in reversed(see.store.log("pods").changes):
        old, new = change.before, change.after
        if not isinstance(old, Pod) or not isinstance(new, Pod) or new.is_bound:
            continue
        node = old.status.nominated_node_name
        if node and not new.status.nominated_node_name:
            yield new.key, node


def memory_of(pod: Pod) -> int:
    """The memory that a pod asks for."""
    return requests_of(pod).get("memory", 0)


def stale_nomination(world: World, *, guard: bool = False, gap_ms: int = 0) -> None:
    """A pod waits five minutes for room that is no longer kept for any pod (kubernetes#126700).

    A node has 32Gi. P2 (25Gi, medium) preempts p1 (10Gi, low). Before p2 is tried again, p3 (20Gi,
    high) comes and is bound, and p1 is created again. It would fit beside p3, but room is kept for
    p2, and p1 is refused. A second later p2 is tried, does not fit, and is nominated no more. That
    is no event for others: p1 waits for the flush of the queue. With `gap_ms=2000`, p1 comes when
    the nomination has been cleared, and is bound at once.

    Guarded, the end of a nomination is an event for pods that are not more important.

    Cause: no event requeues the pods that were refused for a nomination when it is cleared.
    Look for: p1 is refused, then p2 loses its nomination, and then p1 is not tried again.
    Source: kubernetes#106780, kubernetes#126700, kubernetes PR#129058.
    Tags: nomination, lost-wake-up, priority.
    """
    world.serve(ApiServer)
    for name, value in PRIORITIES.items():
        world.add(PriorityClass(name, value=value))
    world.add(Node.of("n1", memory=NODE_GI * GI), pod("p1", "low", node_name="n1"))
    told = Map(requeue_others_on_nnn_clear="on" if guard else "off")
    world.start(Scheduler(SCHEDULER, switches=told), Tester("ann", gap_ms))
    if not guard and gap_ms < RETRY_MS:
        world.needs_no_race = "p1 comes again before p2 is tried again, if nobody is late"
    world.claim(quiescent(who_had_to_wait_is_tried_again))
