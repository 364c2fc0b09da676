"""What happens while a pod is tried is lost: there is room for it, and nothing tries it again."""

from __future__ import annotations

from actors.apiserver import ApiServer
from actors.scheduler import Scheduler
from actors.scheduler.invariants import NobodyWaitsInVain
from actors.shared.user import User
from actors.users.commands import DeleteCommand
from actors.users.stream import Cue, WorkloadStream
from testbed import World
from testbed.objects import Map, Node, Pod

SCHEDULER = "default-scheduler"
CYCLE_MS = 100
"""How long a scheduling cycle takes."""
POD_MS = 110
GONE_MS = (600, 2_500, 5_050)
"""When the pods are deleted that are in the way. The scheduler tries the pod that waits for their
room from 0.11 s, from 2 s and from 5 s on: at the first ticks after its backoff."""


def three_in_the_way(world: World, *, in_flight: str) -> None:
    """Assemble the World, without any claim."""
    world.serve(ApiServer)
    world.add(Node.of("n1", cpu_m=900), Node.of("n2", cpu_m=300))
    names = [f"old-{number}" for number in range(1, len(GONE_MS) + 1)]
    old = [Pod.of(name, cpu_m=300, grace_s=0, node_name="n1") for name in names]
    world.add(Pod.of("other", cpu_m=300, scheduler_name=SCHEDULER), *old)
    pod = Pod.of("pod", cpu_m=900, scheduler_name=SCHEDULER)
    gone = (Cue.of(at_ms, DeleteCommand(each)) for at_ms, each in zip(GONE_MS, old, strict=True))
    switches = Map(in_flight=in_flight, cycle_ms=str(CYCLE_MS))
    world.start(
        User("ann", ((POD_MS, pod),)),
        WorkloadStream("ben", tuple(gone)),
        Scheduler(SCHEDULER, switches=switches),
    )


def missed_event(world: World, *, guard: bool = False) -> None:
    """Room becomes free while a pod is tried, and nothing tries it again (kubernetes PR#120413).

    A pod needs a whole node, on which three pods end one after another. The last one is gone while
    the pod is tried.

    While a pod is tried, the queue of 1.28.0 keeps the events that come in a list. It remembers for
    the pod which event was last in the list when the pod was popped; those behind it are what the
    pod has missed. But an event leaves the list when all pods are done that were in flight when it
    came. Here that is one other pod, whose bind takes five seconds. Then nothing stands behind that
    event any more, and the pod is parked as unschedulable beside its room, until the queue is
    flushed five minutes later.

    Guarded, the list is as it was mended in 1.28: the pod has a place of its own in it. The queue
    of 1.26, which only knows in which cycle a move was last requested, does not lose the event
    either.

    Cause: the event that marks the place of a pod in the list of events has left the list.
    Look for: default-scheduler is told that old-3 is gone, and then parks pod as unschedulable.
    Source: kubernetes PR#120413, kubernetes PR#120445, kubernetes PR#118438.
    Tags: lost-wake-up, silent.
    """
    three_in_the_way(world, in_flight="event_list" if guard else "bug_event_list")
    world.claim(NobodyWaitsInVain())
