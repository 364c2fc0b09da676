"""YuniKorn makes room on a node for a DaemonSet pod, and the default scheduler binds into it."""

from __future__ import annotations

from functools import partial
from typing import Any

from actors.apiserver import ApiServer
from actors.controllers.daemonset import DaemonSetController
from actors.kubelet import Kubelet, Runtime
from actors.scheduler import Scheduler
from actors.shared.user import User
from actors.yunikorn import YuniKornCore, YuniKornShim
from testbed import Evidence, World, always
from testbed.objects import (
    DaemonSet,
    DaemonSetSpec,
    LabelSelector,
    Map,
    Meta,
    Node,
    Pod,
    PodTemplate,
    requests_of,
    room_of,
)

NODE, OTHER, YUNIKORN = "n1", "default-scheduler", "yunikorn"
GRACE_S = 10
"""How long the victim takes to end."""
DAEMON_MS, LATE_MS = 1_000, 10_500
"""When the two are created: the late pod shortly before the room is free."""


def agent() -> DaemonSet:
    """A DaemonSet, such as an agent for logs; YuniKorn schedules its pods."""
    labels = Map(app="agent")
    spec = Pod.of("", cpu_m=2000, scheduler_name=YUNIKORN).spec
    template = PodTemplate(Meta(labels=labels), spec)
    return DaemonSet("agent", spec=DaemonSetSpec(selector=LabelSelector(labels), template=template))


def no_victim_dies_for_a_rival(see: Evidence) -> str | None:
    """Where pods were preempted for a DaemonSet pod, no other pod of no higher priority takes the
    room, so that this no longer fits; and no kubelet rejects it there."""
    entry: Any = see.store.peek(f"nodes/{NODE}")
    pods: list[Any] = [each.value for each in see.store.snapshot("pods/")]
    victims = [each.facts["pod"] for each in see.records if each.name == "preempts"]
    for daemon in [pod for pod in pods if pod.meta.labels.get("app") == "agent"] if victims else []:
        if daemon.status.reason.startswith("OutOf"):
            return f"{' and '.join(victims)} died for {daemon.key}, and {NODE} rejects it"
        here = [pod for pod in pods if pod.spec.node_name == NODE and not pod.is_over]
        free_m = room_of(entry.value)["cpu"] - sum(requests_of(pod)["cpu"] for pod in here)
        if daemon.is_bound or requests_of(daemon)["cpu"] <= free_m:
            continue
        for pod in here:
            if pod.key not in victims and pod.priority <= daemon.priority:
                return f"{' and '.join(victims)} died for {daemon.key}, and {pod.key} is there now"
    return None


def daemonset_preemption(world: World, *, guard: bool = False) -> None:
    """A reservation of YuniKorn is known to its core alone. Another scheduler sees a free node.

    So the victim dies for nothing, and the DaemonSet pod waits on: a DaemonSet pod has one node
    where it can be (kubernetes#140984 has a pod that waited for eleven days). Guarded, all pods
    are YuniKorn's, as its admission controller makes them: nothing but the reserved ask gets a node
    that is reserved.

    Cause: YuniKorn's core keeps a reservation in its memory, and no object tells other schedulers
      for which pod the room is.
    Look for: the default scheduler binds `late` to n1, where batch was preempted for the agent.
    Source: the YuniKorn design "DaemonSet preemption".
    Tags: several-schedulers, nomination, grace-period.
    """
    world.serve(ApiServer)
    world.serve(YuniKornCore)
    world.serve(partial(Runtime, node=NODE))
    victim = Pod.of("batch", cpu_m=4000, grace_s=GRACE_S, node_name=NODE, scheduler_name=YUNIKORN)
    world.add(Node.of(NODE, cpu_m=4000), victim)
    late = Pod.of("late", cpu_m=3000, scheduler_name=YUNIKORN if guard else OTHER)
    world.start(User("ann", ((DAEMON_MS, agent()),)), User("ben", ((LATE_MS, late),)))
    world.start(Kubelet(f"kubelet-{NODE}", NODE), DaemonSetController("daemonsets"))
    world.start(Scheduler(OTHER), YuniKornShim())
    world.claim(always(no_victim_dies_for_a_rival))
