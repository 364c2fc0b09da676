"""A pod with preemptionPolicy Never waits for room, before all others, and makes none."""

from __future__ import annotations

from functools import partial
from typing import Any

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Runtime, Workload
from actors.scheduler import Scheduler
from actors.scheduler.invariants import TheMostImportantIsTriedFirst
from testbed import Evidence, World, always
from testbed.objects import Node, Pod, PriorityClass

JOB_MS = 10_000
POLICY = "Never"


def the_job_ends_by_itself(see: Evidence) -> str | None:
    """The job is not deleted, though the pod that waits for its place is more important."""
    job: Any = see.store.peek("pods/default/job")
    if job is None or job.value.meta.is_terminating:
        return "pods/default/job is deleted for pods/default/polite"
    return None


def never_preempts(world: World, *, polite: bool = True) -> None:
    """An important pod with preemptionPolicy Never waits for a job to end, and then goes first.

    A job (priority 0) has the node for ten seconds. Two pods wait for it: early (0), and polite
    (1000), of a priority class with `preemptionPolicy: Never`. Polite preempts no pod, however
    important it is. When the job is done, both are tried again, and polite first. With `polite=off`
    its class does not say so, and the job is preempted.

    Cause: the policy Never forbids a pod to preempt, and leaves it its place in the queue.
    Look for: the message of polite says why it may not preempt; that of early finds no victims.
    Source: the docs page "Pod Priority and Preemption".
    Tags: priority, no-timing.
    Kind: lesson.
    """
    world.serve(ApiServer)
    world.serve(partial(Runtime, node="n1"))
    world.add(PriorityClass("polite", value=1000, preemption_policy=POLICY if polite else ""))
    job = Pod.of("job", cpu_m=1000, node_name="n1", restart_policy="Never")
    world.add(Node.of("n1", cpu_m=1000), Workload(JOB_MS).given_to(job))
    world.add(Pod.of("early", cpu_m=1000))
    world.add(Pod.of("polite", cpu_m=1000, priority_class_name="polite"))
    world.start(Kubelet("kubelet-n1", "n1"), Scheduler("default-scheduler"))
    if not polite:
        world.needs_no_race = "nothing forbids to preempt the job"
    world.claim(always(the_job_ends_by_itself, reads=("log:pods",)))
    world.claim(TheMostImportantIsTriedFirst())
