"""The room that was made for a pod goes to a more important one, as it should."""

from __future__ import annotations

from functools import partial
from typing import Any

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Runtime
from actors.scheduler import Scheduler
from actors.scheduler.invariants import NominationsAreKept, PodsGoWhereTheyFit
from actors.scheduler.invariants.cycles import Cycles
from actors.shared.user import User
from testbed import Evidence, World, always
from testbed.faults.lag import Lag
from testbed.faults.lose_request import LoseRequest
from testbed.objects import Node, Pod, PriorityClass, requests_of, room_of

SCHEDULER = "default-scheduler"
NODES = ("n1", "n2")
URGENT_MS, LATE_MS, CRITICAL_MS = 1_000, 5_000, 10_000
"""When the three pods are created that find no room."""


class Nominated:
    """Where each pod is nominated by the records of the scheduler: once a node is chosen for it, or
    nothing helps it, its nomination is void before the server knows. Each record is read once."""

    def __init__(self) -> None:
        self._read = 0
        self._nodes: dict[str, str] = {}
        self._before: dict[str, dict[str, str]] = {}

    def look(self, see: Evidence) -> None:
        """Read the records that have come since the last look."""
        for record in see.records[self._read :]:
            if record.name == "assumed":
                self._before[record.facts["pod"]] = dict(self._nodes)
                self._nodes[record.facts["pod"]] = ""
            elif record.name == "cycle" and "nominated" in record.facts:
                self._nodes[record.facts["pod"]] = record.facts["nominated"]
        self._read = len(see.records)

    def when_chosen(self, taker: Pod, pod: Pod) -> str:
        """Where a pod was nominated when the taker's node was chosen; empty: nowhere."""
        return self._before.get(taker.key, {}).get(pod.key, "")


def room_goes_to_the_more_important(nominated: Nominated, see: Evidence) -> str | None:
    """A pod that is bound leaves room on its node for each more important one that waits for it
    there: beside the pods that stay, those that terminate aside."""
    nominated.look(see)
    changes = [change for change in see.changes if is_bind(change.before, change.after)]
    bound: list[Any] = [change.after for change in changes]
    pods: list[Any] = [e.value for e in see.store.snapshot("pods/")] if bound else []
    for taker in bound:
        name = taker.spec.node_name
        node: Any = see.store.peek(f"nodes/{name}")
        here = [pod for pod in pods if pod.spec.node_name == name and not pod.is_over]
        stay = [asked_m(pod) for pod in here if not pod.meta.is_terminating]
        free_m = room_of(node.value)["cpu"] - sum(stay)
        for pod in pods:
            is_less = pod.is_bound or pod.priority <= taker.priority or asked_m(pod) <= free_m
            shown = pod.status.nominated_node_name
            if not is_less and shown == name == nominated.when_chosen(taker, pod):
                return f"room was made on {name} for {pod.key}, and {taker.key} has taken it"
    return None


def asked_m(pod: Pod) -> int:
    """The cpu that a pod asks for."""
    return requests_of(pod).get("cpu", 0)


def is_bind(old: Any, new: Any) -> bool:
    """Whether a pod has just got its node."""
    return isinstance(old, Pod) and isinstance(new, Pod) and new.is_bound and not old.is_bound


def lawful_theft(world: World) -> None:
    """As Kubernetes intends, a more important pod takes the room made for another; no claim fires.

    The urgent pod displaces a batch pod on n1, which takes 30 s to end. A small pod comes, for
    which half of n1 is free: it must wait, since that half is kept for the urgent pod. A critical
    pod comes: it takes n1 over. The scheduler clears the nomination of the urgent pod, which then
    makes room on n2. The page of the documentation says so: the scheduler may give the node "to the
    new higher priority Pod".

    So a claim that room goes only to the pod that it was made for cries wolf here. These compare
    priorities. The news of the scheduler may be late, and its requests may be lost: a bind that has
    failed, or a nomination that could not be written or cleared, is no theft either.

    Cause: a nomination keeps room from less important pods only, by design.
    Look for: the nomination of pods/default/urgent to n1, which is cleared when
      pods/default/critical is nominated there, and its second one, to n2.
    Source: the docs page "Pod Priority and Preemption"; kubernetes PR#55933.
    Tags: nomination, priority, grace-period, stale-cache.
    Kind: control.
    """
    world.serve(ApiServer)
    for name, value in (("some", 10), ("urgent", 100), ("critical", 200)):
        world.add(PriorityClass(name, value=value))
    for node in NODES:
        world.add(Node.of(node, cpu_m=1000))
        world.serve(partial(Runtime, node=node))
        world.start(Kubelet(f"kubelet-{node}", node))
    batch = Pod.of("batch", cpu_m=500, grace_s=30, node_name="n1")
    web = Pod.of("web", cpu_m=1000, grace_s=5, node_name="n2", priority_class_name="some")
    world.add(batch, web)
    urgent = Pod.of("urgent", cpu_m=1000, priority_class_name="urgent")
    late = Pod.of("late", cpu_m=500)
    critical = Pod.of("critical", cpu_m=1000, priority_class_name="critical")
    creates = ((URGENT_MS, urgent), (LATE_MS, late), (CRITICAL_MS, critical))
    world.start(User("ann", creates), Scheduler(SCHEDULER))
    world.allow(Lag(SCHEDULER), LoseRequest(SCHEDULER))
    cycles = Cycles()
    world.claim(always(partial(room_goes_to_the_more_important, Nominated())))
    world.claim(PodsGoWhereTheyFit(cycles), NominationsAreKept(cycles))
