"""New leader: a scheduler that becomes leader binds by a cache in which the last bind of the old
leader is missing (kubernetes/kubernetes#137308)."""

from __future__ import annotations

from typing import Any

from actors.apiserver import ApiServer
from actors.scheduler import Scheduler
from actors.shared.user import User
from testbed import Evidence, World, always
from testbed.faults.crash import Crash
from testbed.objects import Node, Pod, PriorityClass
from tests.told.frame import Told


def the_node_is_not_overcommitted(see: Evidence) -> str | None:
    """The pods of the node ask for no more than it has."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    bound = [pod.key for pod in pods if pod.is_bound]
    if len(bound) > 1:
        return f"n1 has 1000m cpu, and {' and '.join(bound)} ask for 1600m"
    return None


def new_leader(world: World) -> None:
    """A leader binds and dies; the next one has not been told of that bind when it begins."""
    world.serve(ApiServer)
    world.add(Node.of("n1", cpu_m=1000))
    for name in ("alpha-1", "alpha-2"):
        world.start(Scheduler(name, pods_of="alpha", elects=True))
    world.add(PriorityClass("urgent", value=10, preemption_policy="Never"))
    first = Pod.of("a", cpu_m=800, scheduler_name="alpha")
    second = Pod.of("b", cpu_m=800, scheduler_name="alpha", priority_class_name="urgent")
    world.start(User("ann", ((1_000, first), (1_200, second))))
    world.latency("bind pods", serve_ms=500)
    world.claim(always(the_node_is_not_overcommitted))
    world.allow(Crash("alpha-1"))
    world.limit(until_ms=30_000)


TRUE = Told(
    new_leader,
    race="""
holds:
  - hold: delivery of pods/default/a#2 to alpha-2
    until: alpha-2 bind pods/default/b
faults:
  - crash: alpha-1
    after: alpha-1 bind pods/default/a
""",
    actor="alpha-2",
    made_so="alpha-1",
    about="pods/default/b",
    did=("bound",),
    words=("pods/default/a",),
    never=("patched the status", "condition"),
    said=(
        "alpha-2 bound pods/default/b to n1, believing that pods/default/a was on no node, as"
        " it was told at rv 5; false since alpha-1 bound it to n1 at rv 9."
    ),
)

ALSO = (
    TRUE.also(
        "stalled",
        """
holds:
  - hold: delivery of pods/default/a#2 to alpha-2
    until: alpha-2 bind pods/default/b
faults:
  - stall: alpha-1
    after: alpha-1 bind pods/default/a
    by: 60s
""",
        "alpha-2 bound pods/default/b to n1, believing that pods/default/a was on no node, as it "
        "was told at rv 5; false since alpha-1 bound it to n1 at rv 9.",
    ),
)
