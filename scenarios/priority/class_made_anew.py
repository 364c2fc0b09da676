"""A PriorityClass gets another value, and pods of one class preempt each other."""

from __future__ import annotations

from typing import Any

from actors.apiserver import ApiServer
from actors.controllers.replicaset import ReplicaSetController
from actors.scheduler import Scheduler
from actors.users.commands import CreateCommand, DeleteCommand, PatchCommand
from actors.users.stream import Cue, WorkloadStream
from testbed import Evidence, World, always
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

SCHEDULER, CLASS, ANOTHER = "default-scheduler", "web", "web-important"
OLD, NEW = 10, 1000
"""The values of the class."""
DELETE_MS, CREATE_MS, SCALE_MS = 1_000, 1_100, 2_000


def nobody_preempts_its_own_class(see: Evidence) -> str | None:
    """No pod is a victim of another one of its own PriorityClass: two pods of one class are equally
    important."""
    for record in reversed(see.records):
        if record.step != see.records[-1].step:
            break
        found = record.facts.get("preemption") if record.name == "cycle" else None
        pod: Any = see.store.peek(record.facts["pod"]) if found else None
        name = pod.value.spec.priority_class_name if pod is not None else ""
        if not found or not name or not found.get("chosen"):
            continue
        for key in found["candidates"][found["chosen"]]["victims"]:
            victim: Any = see.store.peek(key)
            if victim is not None and victim.value.spec.priority_class_name == name:
                ours, theirs = pod.value.priority, victim.value.priority
                return f"{pod.key} ({ours}) preempts {key} ({theirs}), and both are of class {name}"
    return None


def class_made_anew(world: World, *, guard: bool = False) -> None:
    """A PriorityClass gets another value, and pods of one class preempt each other.

    Two replicas fill two nodes. An admin wants their class to count for more. The value of a class
    cannot be changed, so the admin deletes the class and creates it again. Nothing forbids that: a
    pod keeps the number that it was given when it was created. Then the ReplicaSet is scaled up.
    The third replica has the new number, so it preempts one of the two. The controller creates that
    one again, with the new number, and it preempts the other.

    Guarded, the admin makes a class of another name; new pods have to name it.

    Cause: a pod gets the value of its class once, at admission, and all components go by that
      number: pods from before and after the change are of one class and of two priorities.
    Look for: the two numbers that are said of one class.
    Source: the design "Priority in Kubernetes API", the docs page "Pod Priority and Preemption".
    Tags: priority, no-timing, silent.
    """
    world.serve(ApiServer)
    world.add(PriorityClass(CLASS, value=OLD))
    world.add(Node.of("n1", cpu_m=1000), Node.of("n2", cpu_m=1000))
    labels = Map(app="web")
    one = Pod.of("", cpu_m=1000, grace_s=0, priority_class_name=CLASS, scheduler_name=SCHEDULER)
    template = PodTemplate(Meta(labels=labels), one.spec)
    spec = ReplicaSetSpec(2, selector=LabelSelector(labels), template=template)
    world.add(ReplicaSet("web", spec=spec))
    anew = PriorityClass(ANOTHER if guard else CLASS, value=NEW)
    cues: tuple[Cue, ...] = (
        Cue.of(CREATE_MS, CreateCommand(anew)),
        Cue.of(SCALE_MS, PatchCommand.scale(ReplicaSet("web"), 3)),
    )
    if not guard:
        cues = (Cue.of(DELETE_MS, DeleteCommand(PriorityClass(CLASS))), *cues)
        world.needs_no_race = "its pods have two priorities, however they are timed"
    world.start(Scheduler(SCHEDULER), WorkloadStream("admin", cues))
    world.start(ReplicaSetController("replicasets", switches=Map(events="off")))
    world.claim(always(nobody_preempts_its_own_class, reads=("records", "log:pods")))
