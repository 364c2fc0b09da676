"""One scheduler gives one place away again and again, and never twice at once."""

from __future__ import annotations

from functools import partial
from typing import Any

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Runtime, Workload
from actors.scheduler import Scheduler
from actors.shared.overfull import overfull
from actors.users.commands import CreateCommand, DeleteCommand
from actors.users.stream import Cue, WorkloadStream
from testbed import Evidence, World, always
from testbed.faults.lag import Lag
from testbed.faults.lose_request import LoseRequest
from testbed.objects import Node, Pod

NODE, KUBELET, SCHEDULER, USER = "n1", "kubelet-n1", "default-scheduler", "ann"
ASKED_M = 600
"""Two such pods do not fit the node."""
GRACE_S = 4
"""How long the first pod takes to end, once it is deleted."""
TASK = Workload(runs_ms=2_000, torn_down_after_ms=500)
"""The second ends by itself, and its node is busy with it for a while afterwards."""


def bound_pods_fit(see: Evidence) -> str | None:
    """The pods that are bound to the node and not over fit it. Here no bind takes effect of which
    the scheduler is told that it has failed."""
    return overfull(see, NODE)


def no_pod_is_rejected(see: Evidence) -> str | None:
    """A pod that is bound to a node fits it: no kubelet rejects it."""
    for change in see.changes:
        pod: Any = change.after
        if isinstance(pod, Pod) and pod.status.reason.startswith("OutOf"):
            return f"{pod.spec.node_name} rejects {pod.key}: {pod.status.message}"
    return None


def one_scheduler(world: World) -> None:
    """Pods come and go on a full node; one scheduler never overcommits it, however late its news.

    The first pod is deleted, and takes four seconds to end; another one comes meanwhile. A task
    takes its place, ends, and is torn down half a second later; the third pod takes its place. Each
    waits until the API server shows that the one before is gone or over, and the kubelet shows that
    last: so late news only makes the scheduler wait longer. What it has decided itself it counts at
    once, as assumed.

    News may be late, and requests may be lost: a bind that never arrived has not taken effect, as
    the scheduler is told. A bind of which only the reply is lost is another matter, and so is a
    second scheduler: both overcommit nodes.

    Cause: a scheduler that alone binds to a node has in its cache all that takes room there: what
      it is not told yet is only that room became free.
    Look for: how each pod is bound after the last patch or delete that kubelet-n1 sends of the pod
      before.
    Source: kubernetes#106884, kubernetes PR#108366.
    Tags: grace-period, stale-cache.
    Kind: control.
    """
    world.serve(ApiServer)
    world.serve(partial(Runtime, node=NODE))
    world.add(Node.of(NODE, cpu_m=1000))
    first = Pod.of("first", cpu_m=ASKED_M, grace_s=GRACE_S)
    task = TASK.given_to(Pod.of("task", cpu_m=ASKED_M, restart_policy="Never"))
    third = Pod.of("third", cpu_m=ASKED_M)
    cues = (
        Cue.of(0, CreateCommand(first)), Cue.of(500, CreateCommand(task)),
        Cue.of(2_000, DeleteCommand(first)), Cue.of(3_000, CreateCommand(third)),
    )  # fmt: skip
    world.start(WorkloadStream(USER, cues))
    world.start(Kubelet(KUBELET, NODE), Scheduler(SCHEDULER))
    world.allow(Lag(SCHEDULER), Lag(KUBELET))
    world.allow(*map(LoseRequest, (SCHEDULER, KUBELET, USER)))
    reads = ("log:pods.spec", "log:pods.status.phase", "log:nodes.status")
    world.claim(always(bound_pods_fit, reads=reads), always(no_pod_is_rejected))
