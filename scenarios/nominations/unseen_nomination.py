"""A scheduler does not see its own nomination yet, and gives the room away in its next cycle."""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import Any

from actors.apiserver import ApiServer
from actors.scheduler import Scheduler
from actors.scheduler.invariants.cycles import schedulers
from testbed import Evidence, World, always
from testbed.objects import Map, Node, Pod, PriorityClass, requests_of, room_of
from testbed.turns.trace import Record

SCHEDULER = "default-scheduler"
SMALL = (("small-1", 1000), ("small-2", 1000))


class Tries:
    """The cycles of all schedulers so far: the last one of each pod. Each record is read once."""

    def __init__(self) -> None:
        self._read = 0
        self._last: dict[tuple[str, str], Record | None] = {}
        self._tried: dict[str, str] = {}
        """The uid of the pod that each scheduler tried last."""

    def look(self, see: Evidence) -> None:
        """Read the records that have come since the last look."""
        for record in see.records[self._read :]:
            who = record.path.partition("/")[0]
            if record.name == "cycle":
                self._tried[who] = record.facts["uid"]
                self._last[who, record.facts["uid"]] = record
            elif record.name == "preemption broken off" and who in self._tried:
                self._last[who, self._tried[who]] = None
        self._read = len(see.records)

    def last(self, who: str, pod: Pod) -> Record | None:
        """The last cycle in which that scheduler tried that pod; None if there is none, or if it
        broke off the preemption that it had decided on."""
        return self._last.get((who, pod.meta.uid))


def room_is_kept(tries: Tries, see: Evidence) -> str | None:
    """A scheduler that has made room for a pod gives no place there to one that is not more
    important, so that the first no longer fits: its nomination counts from the decision on, not
    from the news of its own patch. Nothing is claimed if it could not make the room."""
    tries.look(see)
    for change in see.changes:
        old, pod = change.before, change.after
        if not (isinstance(pod, Pod) and pod.is_bound) or (isinstance(old, Pod) and old.is_bound):
            continue
        node = pod.spec.node_name
        for who, books, _ in schedulers(see):
            chose = tries.last(who, pod)
            if chose is None or chose.facts.get("node") != node:
                continue
            for queued in chain(*books.beliefs.queue.waiting.values()):
                first, made = queued.pod, tries.last(who, queued.pod)
                if made is None or made.number > chose.number or first.priority < pod.priority:
                    continue
                # After a crash it knows only what it was told, and counts attempts from the start.
                is_kept = made.facts.get("nominated") == node
                is_known = made.facts["attempt"] == queued.attempts
                if is_kept and is_known and has_taken(see, pod, first):
                    return f"room was made on {node} for {first.key}, and {pod.key} has taken it"
    return None


def has_taken(see: Evidence, pod: Pod, first: Pod) -> bool:
    """Whether the first pod would fit where the other one is now, but for that one."""
    node: Any = see.store.peek(f"nodes/{pod.spec.node_name}")
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    there = [each for each in pods if each.spec.node_name == pod.spec.node_name]
    stays = [each for each in there if not each.is_over and not each.meta.is_terminating]
    if node is None:
        return False
    free_m = room_of(node.value)["cpu"] - sum(map(cpu_of, stays))
    return free_m < cpu_of(first) <= free_m + cpu_of(pod)


def cpu_of(pod: Pod) -> int:
    """The cpu that a pod asks for."""
    return requests_of(pod).get("cpu", 0)


def unseen_nomination(world: World, *, guard: bool = False) -> None:
    """A scheduler gives away the room that it has made a moment before (kubernetes#72124).

    Three pods of one priority wait. The first needs all of the node, so the scheduler deletes the
    victim and patches the nomination. Its next cycle comes before its watch shows that patch: the
    victim is gone, nobody is nominated, and the second pod is bound. The nomination is seen now,
    and keeps away the third pod, which would fit; but the first one fits no more, and may not
    preempt its equal. Three of four cores stay free until the queue is flushed.

    Guarded, the nomination is in memory before the patch is sent, and the next cycle counts it.

    Cause: the nominator learns of the scheduler's own nomination only from the pod informer.
    Look for: the cycle of small-1 between the patch of large and the news of that patch.
    Source: kubernetes#72124, kubernetes PR#72259.
    Tags: nomination, stale-cache, lost-wake-up, priority.
    """
    world.serve(ApiServer)
    world.add(PriorityClass("medium", value=10), Node.of("n1", cpu_m=4000))
    world.add(Pod.of("victim", cpu_m=4000, node_name="n1", grace_s=0))
    # The scheduler lists the pods in the order of their names, and tries them in that order.
    for name, cpu_m in (("large", 4000), *SMALL):
        world.add(Pod.of(name, cpu_m=cpu_m, priority_class_name="medium"))
    told = Map(nomination_counts="at_once" if guard else "when_seen")
    world.start(Scheduler(SCHEDULER, switches=told))
    world.claim(always(partial(room_is_kept, Tries())))
