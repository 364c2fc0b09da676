"""A bind outlives the scheduler that sent it, and takes a place that is given away by then."""

from __future__ import annotations

from actors.apiserver import ApiServer
from actors.scheduler import Scheduler
from actors.shared.crash_over import CrashOver
from actors.shared.overfull import overfull
from actors.shared.user import User
from testbed import Evidence, World, always
from testbed.objects import Map, Node, Pod, PriorityClass

SCHEDULER, NODE = "default-scheduler", "n1"
FIRST_MS, URGENT_MS = 1_000, 2_000
SLOW_MS, DOWN_MS = 10_000, 2_000
"""How long a bind takes at the first API server, and how long the scheduler is down: less."""


def no_node_is_overfull(see: Evidence) -> str | None:
    """The node has enough cpu for the pods that are bound to it and not over."""
    return overfull(see, NODE)


def bound_after_restart(world: World, *, guard: bool = False) -> None:
    """A bind that was sent before a crash takes effect after the restart, and overfills the node.

    There are two API servers, and at one of them a bind takes ten seconds. The scheduler sends it
    the bind of the first pod, and crashes. Two seconds later its next life begins at the other one.
    It lists, and for all that is stored the node is free: that a bind is under way is written
    nowhere, and what the dead life had assumed is forgotten. So an urgent pod is bound there. Then
    the old bind takes effect, for it is a bind of a pod that has no node, and an API server looks
    at nothing else. The kubelet has to reject one of the two.

    Guarded, the API server looks at the node as well, in the transaction of the bind
    (`bind_checks_room: on`), as a shared-state scheduler does: the old bind is refused. Schedulers
    that elect a leader can be fenced instead, as in `leader_overlap`.

    Cause: a request outlives the program that sent it, and the API server binds a pod without a
      look at the room of its node.
    Look for: the bind that is sent before the crash, and takes effect after that of the urgent pod.
    Source: the article "QoS, Node allocatable and the Kubernetes Scheduler".
    Tags: restart, lost-reply, stale-cache, check-then-act.
    """
    switches = Map(bind_checks_room="on" if guard else "off")
    world.serve(lambda store: ApiServer(store, "api-1", switches=switches))
    world.serve(lambda store: ApiServer(store, "api-2", switches=switches))
    world.latency("bind pods", at="api-1", serve_ms=SLOW_MS)
    world.add(PriorityClass("urgent", value=100, preemption_policy="Never"))
    world.add(Node.of(NODE, cpu_m=1000))
    world.start(Scheduler(SCHEDULER), at=("api-1", "api-2"))
    first = Pod.of("first", cpu_m=800, scheduler_name=SCHEDULER)
    urgent = Pod.of("urgent", cpu_m=800, scheduler_name=SCHEDULER, priority_class_name="urgent")
    world.start(User("ann", ((FIRST_MS, first), (URGENT_MS, urgent))), at="api-2")
    over = CrashOver(
        SCHEDULER, over="create/binding pods/*", is_served=False, restart_after_ms=DOWN_MS
    )
    world.allow(over)
    reads = ("log:pods.spec", "log:pods.status.phase", "log:nodes.status")
    world.claim(always(no_node_is_overfull, reads=reads))
