"""With preemption disabled, a critical pod waits for the least important one."""

from __future__ import annotations

from typing import Any

from actors.apiserver import ApiServer
from actors.scheduler import Scheduler
from actors.shared.user import User
from testbed import Evidence, World, quiescent
from testbed.objects import Map, Node, Pod, PriorityClass

CRITICAL = "system-cluster-critical"
CREATE_MS = 1_000


def dns_waits_and_batch_stays(see: Evidence) -> str | None:
    """The critical pod has no node, and no pod is preempted for it."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    there = [pod.key for pod in pods if pod.is_bound]
    return None if there == ["pods/default/batch"] else f"on n1 is {' and '.join(there)}"


def preemption_off(world: World) -> None:
    """Preemption is disabled: a critical pod waits for ever, and a pod of priority 0 has its place.

    Batch fills the node. Then comes dns, which the cluster depends on: its class is
    `system-cluster-critical`. It is the first in the queue, and that is of no use without room.
    Nothing else makes room for it: the kubelet preempts only for a pod that is bound to its node.

    Cause: preemption is disabled for a whole scheduler, critical pods included: by
      `disablePreemption` until 1.18, and since then by disabling the plugin DefaultPreemption.
    Look for: the message, which says nothing of preemption.
    Source: the docs page "Pod Priority and Preemption".
    Tags: priority, starvation, no-timing.
    Kind: lesson.
    """
    world.serve(ApiServer)
    world.add(PriorityClass(CRITICAL, value=2_000_000_000), Node.of("n1", cpu_m=1000))
    world.add(Pod.of("batch", cpu_m=1000, node_name="n1", grace_s=0))
    dns = Pod.of("dns", cpu_m=100, priority_class_name=CRITICAL)
    world.start(Scheduler("default-scheduler", switches=Map(disable_preemption="on")))
    world.start(User("ann", ((CREATE_MS, dns),)))
    world.claim(quiescent(dns_waits_and_batch_stays, reads=()))
