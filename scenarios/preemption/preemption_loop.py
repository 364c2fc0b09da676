"""Two schedulers and one place: room is made for an important pod, and filled, without end."""

from __future__ import annotations

from functools import partial

from actors.apiserver import ApiServer
from actors.controllers.replicaset import ReplicaSetController
from actors.kubelet import Kubelet, Runtime
from actors.scheduler import Scheduler
from actors.shared.user import User
from actors.shared.who_comes_again import who_comes_again
from testbed import World, no_lasso
from testbed.errors import ScenarioError
from testbed.objects import (
    LabelSelector,
    Map,
    Meta,
    Node,
    Pod,
    PodTemplate,
    PriorityClass,
    ReplicaSet,
    ReplicaSetSpec,
)

ONE, TWO, NODE = "scheduler-1", "scheduler-2", "n1"
IMPORTANT_MS, LAPS_MS = 1_500, 300_000
GRACE_S = 5
"""How long a victim takes to end: less than the longest backoff, which is ten seconds."""


def preemption_loop(world: World, *, guard: bool = False, grace_s: int = GRACE_S) -> None:
    """A scheduler preempts for a pod, and another fills the room, without end (kubernetes#130429).

    The node is at its limit of pods. Scheduler 1 makes room for an important pod, at the cost of a
    pod of a ReplicaSet that scheduler 2 places. The ReplicaSet creates another one at once, and
    when the victim is gone, scheduler 2 binds that to the node: the nomination of the important pod
    is in the API, and no scheduler reads those of another's pods. Meanwhile the important pod waits
    out its backoff, of up to ten seconds, and then preempts again. In the issue it was pending for
    two days, and more than 8,000 pods died for it.

    How fair must a Run be to end? If scheduler 2 is late by the rest of the backoff, once, the
    important pod gets its place. If a victim takes longer than the backoff (`--switch
    grace_s=20`), both hear at once that it has gone: then it goes on only as long as scheduler 2 is
    first every time, and any Run in which scheduler 1 is ever first is finite. Guarded, scheduler 2
    knows the nominations of all pods (`nominations: all`), and that ends it in every Run.

    Cause: a scheduler may preempt the pods of another one, but only its own pods heed the
      nomination: the nominator holds no pods of other schedulers.
    Look for: the bind of scheduler 2 while the important pod is nominated to that node.
    Source: kubernetes#130429.
    Tags: several-schedulers, nomination, endless, starvation, priority.
    """
    if grace_s < 1:
        raise ScenarioError(f"grace_s={grace_s}: expected 1 or more")
    world.serve(ApiServer)
    world.serve(partial(Runtime, node=NODE))
    world.add(PriorityClass("high", value=100), Node.of(NODE, cpu_m=4000, pods=1))
    labels = Map(app="batch")
    small = Pod.of("", cpu_m=100, grace_s=grace_s, scheduler_name=TWO)
    template = PodTemplate(Meta(labels=labels), small.spec)
    spec = ReplicaSetSpec(1, selector=LabelSelector(labels), template=template)
    world.add(ReplicaSet("batch", spec=spec))
    switches = Map(nominations="all" if guard else "own")
    world.start(Scheduler(ONE), Scheduler(TWO, switches=switches))
    world.start(Kubelet(f"kubelet-{NODE}", NODE))
    world.start(ReplicaSetController("replicasets", switches=Map(events="off")))
    important = Pod.of("important", cpu_m=100, priority_class_name="high", scheduler_name=ONE)
    world.start(User("ann", ((IMPORTANT_MS, important),)))
    world.claim(no_lasso(abstraction=who_comes_again, named_anew=["pods"]))
    if not guard:
        # A comparison goes on after a Violation, and some Runs are endless without a lap.
        world.limit(virtual_ms_max=LAPS_MS)
        world.needs_no_race = "scheduler 2 does not know for whom the room was made"
