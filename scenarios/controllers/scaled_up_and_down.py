"""A ReplicaSet is scaled up and down faster than its controller hears of the pods."""

from __future__ import annotations

from actors.apiserver import ApiServer
from actors.controllers.invariants import DesiredCountsAreReached, PodsAreCreatedOnce
from actors.controllers.replicaset import ReplicaSetController
from actors.scheduler import Scheduler
from actors.users.commands import CreateCommand, PatchCommand
from actors.users.stream import Cue, WorkloadStream
from testbed import World
from testbed.faults.lag import Lag
from testbed.faults.lose_request import LoseRequest
from testbed.objects import LabelSelector, Map, Meta, Node, Pod, PodTemplate, ReplicaSet
from testbed.objects.workload import ReplicaSetSpec

LABELS = Map(app="web")
CONTROLLER, SCHEDULER, USER = "replicasets", "default-scheduler", "ann"
SIZES = ((1_000, 3), (2_000, 1), (2_500, 2))
"""When it is scaled, and to how many pods; it begins with one."""


def scaled_up_and_down(world: World) -> None:
    """A user scales a ReplicaSet to 3 pods, to 1 and to 2; there are never more than 3.

    Each command wakes the controller, and so does each status that it writes itself. By then its
    watch of pods may not have shown what it has created or deleted. Without expectations it would
    count too few pods, and create some again. With them it neither creates nor deletes for a
    ReplicaSet until it has heard of all that it did before, and what the user wants meanwhile is
    not lost: the news itself wakes it.

    News may be late, and requests may be lost: a create that never arrived is expected no longer.
    In the end there are as many pods as the user wants.

    Cause: the controller counts by its cache, and notes beside it what the cache must still show.
    Look for: how replicasets creates or deletes pods only after it was told of all those that it
      had created or deleted before.
    Source: the expectations of the file controller_utils.go of Kubernetes.
    Tags: stale-cache, check-then-act.
    Kind: control.
    """
    template = PodTemplate(Meta(labels=LABELS), Pod.of("", cpu_m=100, grace_s=0).spec)
    web = ReplicaSet(
        "web", spec=ReplicaSetSpec(1, selector=LabelSelector(LABELS), template=template)
    )
    world.serve(ApiServer)
    world.add(Node.of("n1", cpu_m=1000))
    scales = (Cue.of(at_ms, PatchCommand.scale(web, size)) for at_ms, size in SIZES)
    world.start(WorkloadStream(USER, (Cue.of(0, CreateCommand(web)), *scales)))
    world.start(ReplicaSetController(CONTROLLER, switches=Map(events="off")))
    world.start(Scheduler(SCHEDULER))
    world.allow(Lag(CONTROLLER), *map(LoseRequest, (CONTROLLER, USER)))
    # Expectations expire after five minutes: news that is later than that is no news for them.
    world.limit(lateness_ms=60_000)
    world.claim(PodsAreCreatedOnce(), DesiredCountsAreReached())
