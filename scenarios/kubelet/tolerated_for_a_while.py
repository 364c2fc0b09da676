"""A pod tolerates a NoExecute taint for 10 s: it is bound, evicted, and bound there again."""

from __future__ import annotations

from functools import partial

from actors.apiserver import ApiServer
from actors.controllers.node_lifecycle.taint_eviction import TaintEviction
from actors.controllers.replicaset import ReplicaSetController
from actors.kubelet import Kubelet, Runtime
from actors.scheduler import Scheduler
from actors.shared.user import User
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
    Taint,
    Toleration,
)
from testbed.objects.affinity import NO_EXECUTE, NO_SCHEDULE

KEY = "hello"
TOLERATED_S = 10
"""For how long a pod tolerates the taint."""
CPU_M = {"n1": 4000, "n2": 1000}
"""The tainted node is the larger: of two empty nodes the scheduler prefers it."""
WEB_MS = 1_000
LAPS_MS = 150_000
"""Three evictions are a lap, since a timer of the scheduler comes every 30 s. It is suspected after
51 s, and played three times more."""


def web() -> ReplicaSet:
    """A workload of one pod that tolerates the taint for a while."""
    labels = Map(app="web")
    toleration = Toleration(KEY, "Exists", effect=NO_EXECUTE, toleration_seconds=TOLERATED_S)
    spec = Pod.of("", cpu_m=500, grace_s=0, tolerations=(toleration,)).spec
    template = PodTemplate(Meta(labels=labels), spec)
    return ReplicaSet("web", spec=ReplicaSetSpec(1, selector=LabelSelector(labels),
                                                 template=template))  # fmt: skip


def tolerated_for_a_while(world: World, *, guard: bool = False) -> None:
    """A pod that tolerates a taint for 10 s is bound and evicted, for ever (kubernetes#117520).

    A node has a NoExecute taint, and the pods of a ReplicaSet tolerate it for ten seconds. For the
    scheduler that is tolerated, whatever the time: it binds the pod there. The taint manager
    deletes it when the ten seconds are over. The ReplicaSet creates it again, and since that node
    has most room, it is bound there again, although another one would keep it.

    Guarded, the node has a NoSchedule taint of the same key beside that, as nodes that are not
    ready have. It keeps away what comes, and the time counts only for what was there.

    Cause: the scheduler does not look at tolerationSeconds, by which the taint manager evicts.
    Look for: a pod that is bound to n1 ten seconds after the one before it, and nobody who is late.
    Source: kubernetes#117520, kubernetes#92170.
    Tags: two-views, eviction, endless, no-timing.
    """
    world.serve(ApiServer)
    effects = (NO_EXECUTE, NO_SCHEDULE) if guard else (NO_EXECUTE,)
    for name, cpu_m in CPU_M.items():
        taints = tuple(Taint(KEY, effect=effect) for effect in effects) if name == "n1" else ()
        world.serve(partial(Runtime, node=name))
        world.add(Node.of(name, cpu_m=cpu_m, taints=taints))
        world.start(Kubelet(f"kubelet-{name}", name))
    world.start(
        User("ann", ((WEB_MS, web()),)),
        Scheduler("default-scheduler"),
        TaintEviction(switches=Map(events="off")),
        ReplicaSetController("replicasets", switches=Map(events="off")),
    )
    world.claim(no_lasso(abstraction=who_comes_again, named_anew=["pods"]))
    if not guard:
        # It never ends: a comparison goes on after a Violation.
        world.limit(virtual_ms_max=LAPS_MS)
        world.needs_no_race = "one reads for how long a taint is tolerated, and the other does not"
