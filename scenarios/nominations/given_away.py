"""A rescheduler makes room for an urgent pod, the scheduler gives it away, and so on for ever."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from actors.apiserver import ApiServer
from actors.controllers.replicaset import ReplicaSetController
from actors.kubelet import Kubelet, Runtime
from actors.scheduler import Rescheduler, Scheduler
from actors.shared.user import User
from testbed import Evidence, Found, World, always
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

SCHEDULER = "default-scheduler"
URGENT_MS, LAPS_MS = 1_000, 600_000
GRACES_S = {"quick": 3, "slow": 6}
"""How long the victims take: the room becomes free in two pieces."""


def room_is_made_once(see: Evidence) -> Found | None:
    """The Rescheduler makes room for a pod once, and the pod gets it; unless what stands there the
    second time was on its way before the nomination could be known, and so was not kept away."""
    made = [record for record in see.records if record.name == "makes room"]
    for record in made[-1:]:
        facts = record.facts
        alike = [each for each in made if each.facts["uid"] == facts["uid"]]
        if len(alike) > 1 and not came_before_nomination(see, facts, alike[0].now_ms):
            return Found(f"room was made for {facts['pod']} {len(alike)} times", reason="too many")
    return None


def came_before_nomination(see: Evidence, facts: Mapping[str, Any], first_ms: int) -> bool:
    """Whether each victim was bound before the pod was first nominated, if it was at all; or a
    scheduler had chosen a place for it by the instant in which room was first made: within one
    instant it may not have heard of the nomination."""
    found = facts["preemption"]
    victims = found["candidates"][found["chosen"]]["victims"]
    before = (record for record in see.records if record.now_ms <= first_ms)
    came = {record.facts["pod"] for record in before if record.name == "assumed"}
    for change in see.store.log("pods").changes:
        pod: Any = change.new.value if change.new is not None else None
        if pod is not None and pod.key == facts["pod"] and pod.status.nominated_node_name:
            return came.issuperset(victims)
        if pod is not None and pod.is_bound:
            came.add(pod.key)
    return False


def half_by_half(world: World, *, nominates: bool) -> None:
    """Assemble the World, without any claim."""
    world.serve(ApiServer)
    world.serve(partial(Runtime, node="n1"))
    world.add(PriorityClass("urgent", value=100), Node.of("n1", cpu_m=1000))
    for name, grace_s in GRACES_S.items():
        labels = Map(app=name)
        template = PodTemplate(Meta(labels=labels), Pod.of("", cpu_m=500, grace_s=grace_s).spec)
        spec = ReplicaSetSpec(1, selector=LabelSelector(labels), template=template)
        world.add(ReplicaSet(name, spec=spec))
    switches = Map(preemptor="rescheduler", rescheduler_nominates="on" if nominates else "off")
    world.start(Scheduler(SCHEDULER, switches=switches))
    world.start(Rescheduler("rescheduler", switches=switches), Kubelet("kubelet-n1", "n1"))
    world.start(ReplicaSetController("replicasets", switches=Map(events="off")))
    urgent = Pod.of("urgent", cpu_m=1000, priority_class_name="urgent")
    world.start(User("ann", ((URGENT_MS, urgent),)))


def given_away(world: World, *, guard: bool = False) -> None:
    """An urgent pod needs a whole node, on which two pods are that come back when they have gone.

    In each scan the Rescheduler deletes both. When the room of the first is free, the scheduler
    tries the urgent pod, for which it is too small yet, and then the pod that was created in place
    of the victim, for which it is not. Three seconds later it is the same with the other half. So
    pods die for nothing, every ten seconds, and the most important pod never runs: the race that
    the design of preemption gives as its reason against a rescheduler. Guarded, the Rescheduler
    writes the nomination as well, and the scheduler keeps each half free.

    With faults that are not allowed here it may still be given away: if a delete or the nomination
    is refused, or its news is late; and room is made again for a pod whose bind was refused.

    Cause: the Rescheduler makes room without a nomination, so the scheduler gives each half of it
      to the next pod that fits.
    Look for: the scheduler finds no node for urgent, and then binds the pod that comes in place of
      a victim.
    Source: the design "Pod Preemption in Kubernetes".
    Tags: nomination, grace-period, endless, starvation, no-timing, priority.
    """
    half_by_half(world, nominates=guard)
    world.claim(always(room_is_made_once, reads=("records", "log:pods")))
    if not guard:
        # It never ends: a comparison goes on after a Violation, and would play 100,000 turns.
        world.limit(virtual_ms_max=LAPS_MS)
        world.needs_no_race = "the scheduler cannot know for which pod the room was made"
