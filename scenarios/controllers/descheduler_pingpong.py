"""The descheduler evicts a duplicate, and the scheduler puts it back to where it was, for ever."""

from __future__ import annotations

from actors.apiserver import ApiServer
from actors.controllers.descheduler.descheduler import Descheduler
from actors.controllers.descheduler.policy import DUPLICATES, DeschedulerPolicy
from actors.controllers.replicaset import ReplicaSetController
from actors.scheduler import Scheduler
from actors.shared.who_comes_again import who_comes_again
from testbed import World, no_lasso
from testbed.objects import (
    LabelSelector,
    Map,
    Meta,
    Node,
    Pod,
    PodTemplate,
    ReplicaSet,
    ReplicaSetSpec,
)

SCHEDULER = "default-scheduler"
LABELS = Map(app="web")
INTERVAL_MS = 60_000
"""A pass of the descheduler; a pod that fits nowhere is retried for ever, minutes apart."""


def descheduler_pingpong(world: World, *, guard: bool = False) -> None:
    """Two pods of one ReplicaSet share a node, and the other node is full.

    RemoveDuplicates takes that node for a place all the same: it looks at taints and node affinity,
    and not at room (descheduler#1237, closed with the advice to turn on `nodeFit`, which is off by
    default). So it evicts one of the two in each pass, and there is but one node where the next can
    go. Guarded, `nodeFit` is on: a pod that fits nowhere else stays.

    Cause: RemoveDuplicates takes a node for a place by its taints and node affinity, and the
      scheduler goes by its room as well.
    Look for: for each pod that is evicted from n1 as a duplicate the next one is bound to n1.
    Source: descheduler#1237.
    Tags: endless, two-views, no-timing, eviction.
    """
    world.serve(ApiServer)
    world.add(Node.of("n1", cpu_m=1000), Node.of("n2", cpu_m=1000))
    world.add(Pod.of("big", cpu_m=900, node_name="n2"))
    template = PodTemplate(Meta(labels=LABELS), Pod.of("", cpu_m=400, grace_s=0).spec)
    spec = ReplicaSetSpec(2, selector=LabelSelector(LABELS), template=template)
    world.add(ReplicaSet("web", spec=spec))
    policy = DeschedulerPolicy((DUPLICATES,), node_fit=guard)
    quiet = Map(events="off")
    world.start(Scheduler(SCHEDULER), ReplicaSetController("controller", switches=quiet))
    world.start(Descheduler(policy=policy, interval_ms=INTERVAL_MS, switches=quiet))
    world.claim(no_lasso(abstraction=who_comes_again, named_anew=["pods"]))
    if not guard:
        world.needs_no_race = "each undoes what the other does, however they are timed"
