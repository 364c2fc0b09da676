"""Urgent pods come to a full cluster, and one program or another makes room for them."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import attrs

from actors.apiserver import ApiServer
from actors.controllers.disruption.controller import DisruptionController
from actors.controllers.replicaset import ReplicaSetController
from actors.kubelet import Kubelet, Runtime
from actors.kubelet.invariants import kubelet_claims
from actors.scheduler import Rescheduler, Scheduler
from actors.shared.retries import make
from actors.users.commands import PatchCommand
from testbed import Actor, Client, Evidence, World, always, eventually
from testbed.errors import ScenarioError, UnknownName
from testbed.objects import (
    Affinity,
    LabelSelector,
    Map,
    Meta,
    Node,
    Pod,
    PodDisruptionBudget,
    PodTemplate,
    PriorityClass,
    ReplicaSet,
    ReplicaSetSpec,
    requests_of,
    room_of,
)
from testbed.objects.affinity import PodAffinity, PodAffinityTerm
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec
from testbed.objects.node import HOSTNAME

PREEMPTORS = ("scheduler", "rescheduler", "kubelet", "none")
PRIORITIES = {"urgent": 1000, "web": 100, "job": 100, "noisy": 10, "batch": 0}
ONE, OTHER = "alpha", "beta"
GAPS_MS = (2000, 500, 5000, 12_000)
"""From one urgent pod to the next."""
SIZES_M = (1000, 2000)
EVENING_MS = 120_000
"""When all others go, so that there is room for the urgent pods; a pod that fits nowhere is tried
again after minutes."""
LESSER = ("batch", "job", "noisy", "web")
APART = Affinity(
    pod_anti_affinity=PodAffinity((PodAffinityTerm(HOSTNAME, LabelSelector({"app": "noisy"})),))
)


@attrs.frozen
class Arrivals(Actor):
    """Creates urgent pods, each of a ReplicaSet. When each comes, how large it is, and whether
    it must be apart from noisy ones, is picked. The picks are the same for any preemptor."""

    rank: ClassVar[int] = 0

    pods: int

    async def run(self, client: Client) -> None:
        for number in range(1, self.pods + 1):
            gap_ms = client.pick(f"gap {number}", GAPS_MS)
            cpu_m = client.pick(f"size {number}", SIZES_M)
            kind = client.pick(f"kind {number}", ("plain", "quiet"))
            await client.sleep(gap_ms, f"urgent-{number}")
            apart = APART if kind == "quiet" else None
            await make(client, workload(f"urgent-{number}", 1, cpu_m, 5, ONE, apart))
        await client.sleep(EVENING_MS - client.elapsed(), "evening")
        for name in LESSER:
            await PatchCommand.scale(ReplicaSet(name), 0).give(client)


def workload(
    name: str,
    replicas: int,
    cpu_m: int,
    grace_s: int,
    scheduler: str,
    apart: Affinity | None = None,
) -> ReplicaSet:
    """Pods that come back when they have gone, of the priority that their name says."""
    labels, rank = Map(app=name), name.partition("-")[0]
    pod = Pod.of(
        "", cpu_m=cpu_m, grace_s=grace_s, priority_class_name=rank, scheduler_name=scheduler,
        affinity=apart,
    )  # fmt: skip
    spec = ReplicaSetSpec(
        replicas,
        selector=LabelSelector(labels),
        template=PodTemplate(Meta(labels=labels), pod.spec),
    )
    return ReplicaSet(name, spec=spec)


def only_lesser_pods_go(see: Evidence) -> str | None:
    """Any program that preempts deletes a pod only for one of higher priority."""
    request = see.served
    if request is None or not request.because or request.operation.verb != "delete":
        return None
    facts = see.records[request.because - 1].facts
    entry: Any = see.store.peek(str(facts.get("pod")))
    for change in see.changes:
        victim: Any = change.before
        if entry and isinstance(victim, Pod) and victim.priority >= entry.value.priority:
            return f"{victim.key} is preempted for {entry.key}, which is no more important"
    return None


def no_nominated_room_is_taken(see: Evidence) -> str | None:
    """A pod is bound to a node only if it leaves room for each more important pod that is nominated
    there, which had room before."""
    for change in see.changes:
        new: Any = change.after
        old: Any = change.before
        was_bound = not isinstance(old, Pod) or old.is_bound
        if isinstance(new, Pod) and new.is_bound and not was_bound and (loser := _loser(see, new)):
            return f"room was made on {new.spec.node_name} for {loser}, and {new.key} takes it"
    return None


def _loser(see: Evidence, thief: Pod) -> str:
    """A pod for which this one leaves no room on its node; empty: there is none."""
    name = thief.spec.node_name
    node: Any = see.store.peek(f"nodes/{name}")
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    here = [pod for pod in pods if pod.spec.node_name == name and not pod.is_over]
    staying = [pod for pod in here if not pod.meta.is_terminating and pod.key != thief.key]
    free_m = room_of(node.value)["cpu"] - sum(_cpu_m(pod) for pod in staying)
    for pod in pods:
        waits = not pod.is_bound and pod.status.nominated_node_name == name
        has_lost = free_m - _cpu_m(thief) < _cpu_m(pod) <= free_m
        if waits and has_lost and pod.priority > thief.priority:
            return str(pod.key)
    return ""


def _cpu_m(pod: Pod) -> int:
    return requests_of(pod).get("cpu", 0)


def every_urgent_pod_runs(see: Evidence) -> str | None:
    """In the evening at the latest there is room for every urgent workload."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    running = {pod.meta.labels["app"] for pod in pods if pod.status.phase == "Running"}
    for entry in see.store.snapshot("replicasets/"):
        name = entry.value.meta.name  # type: ignore[attr-defined]
        if name.startswith("urgent-") and name not in running:
            return f"{name} does not run"
    return None


def full_of_lesser_pods(world: World, nodes: int, lesser: str) -> None:
    """Add the workloads that fill the nodes, the priorities, and the budget of the web pods."""
    world.add(*(PriorityClass(name, value=value) for name, value in PRIORITIES.items()))
    world.add(
        workload("batch", 2 * nodes, 1000, 20, lesser), workload("job", nodes, 1000, 10, lesser),
        workload("noisy", nodes, 200, 2, lesser), workload("web", nodes, 800, 5, lesser),
    )  # fmt: skip
    spec = PodDisruptionBudgetSpec(min_available=nodes - 1, selector=LabelSelector({"app": "web"}))
    world.add(PodDisruptionBudget("web", spec=spec))


def who_preempts(
    world: World,
    *,
    guard: bool = False,
    preemptor: str = "scheduler",
    nodes: int = 3,
    urgent: int = 6,
) -> None:
    """Urgent pods come to a full cluster, and one program or another makes room for them.

    On each node there is room for two batch pods, a job and a web pod, which a budget protects and
    which is as important as the job, and a noisy one, from which some urgent pods must be apart.
    All come back when they have gone, so others always wait. `preemptor` says which program makes
    room. Unguarded, another scheduler has all pods but the urgent ones: it knows of no nominations,
    and gives the room to its own. Guarded, one scheduler has them all.

    Cause: a scheduler goes by the nominations of its own pods alone, so beta sees the room that was
      made for an urgent pod as free.
    Look for: beta binds a pod to the node to which an urgent one is nominated.
    Source: kubernetes#130429; the design "Pod Preemption in Kubernetes".
    Tags: several-schedulers, nomination, grace-period, no-timing, priority.
    """
    if preemptor not in PREEMPTORS:
        raise UnknownName("preemptor", preemptor, PREEMPTORS, see="testbed switches scheduler")
    if not 1 <= urgent <= 2 * nodes:
        raise ScenarioError(
            f"nodes={nodes}, urgent={urgent}: expected from one to two urgent pods for each node.\n"
            "Next: --switch nodes=3 --switch urgent=6"
        )
    lesser = ONE if guard else OTHER
    world.serve(ApiServer)
    full_of_lesser_pods(world, nodes, lesser)
    for name in (f"n{number}" for number in range(1, nodes + 1)):
        world.add(Node.of(name, cpu_m=4000, labels={HOSTNAME: name}))
        world.serve(partial(Runtime, node=name))
        preempts = "for_any" if preemptor == "kubelet" else "for_critical"
        world.start(Kubelet(f"kubelet-{name}", name, switches=Map(preempts=preempts)))
    given = Map(preemptor=preemptor, bug_disruption_status_from_preemptor="off")
    world.start(*(Scheduler(name, switches=given) for name in dict.fromkeys((ONE, lesser))))
    world.start(Rescheduler("rescheduler", switches=given), Arrivals("ann", urgent))
    quiet = Map(events="off")
    world.start(ReplicaSetController("replicasets", switches=quiet))
    world.start(DisruptionController(switches=quiet))
    world.latency("watch *", deliver_ms=10)
    world.claim(*kubelet_claims(), always(only_lesser_pods_go), eventually(every_urgent_pod_runs))
    world.claim(always(no_nominated_room_is_taken))
    if not guard:
        world.needs_no_race = "the other scheduler never hears of a nomination"
