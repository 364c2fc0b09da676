"""An important web server without limits is preempted for a lesser pod that has some."""

from __future__ import annotations

from functools import partial
from typing import Any

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Runtime
from actors.scheduler import Scheduler
from actors.shared.user import User
from testbed import Evidence, World, always
from testbed.objects import Container, Map, Meta, Node, Pod, PriorityClass, Resources
from testbed.objects.pod import FAILED
from testbed.objects.quantity import milli, whole

SCHEDULER = "default-scheduler"
BATCH_MS = 1_000


def the_web_server_stays(see: Evidence) -> str | None:
    """The most important pod there is is not preempted for another."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    web = next((pod for pod in pods if pod.meta.name == "web"), None)
    if web is None or web.meta.is_terminating or web.status.phase == FAILED:
        others = ", ".join(f"{pod.meta.name}: {pod.priority}" for pod in pods if pod is not web)
        return f"web, of priority 1000, is preempted; the others are {others}"
    return None


def web_server(world: World, *, guard: bool = False) -> None:
    """By QoS class first, an important web server is preempted for a lesser pod with limits.

    The web server asks for what it needs, and sets no limits, so that it may use more: it is
    Burstable. A batch pod of low priority has limits, which makes it Guaranteed. So the web server
    is preempted, and can never come back as long as the other runs: the design of preemption
    rejects that order for this reason. Guarded, the priority counts first.

    Cause: victims are ordered by QoS class before priority, so a Guaranteed pod outranks any
      Burstable one.
    Look for: web, of priority 1000, is deleted to make room for batch, of priority 1.
    Source: the design "Pod Preemption in Kubernetes".
    Tags: no-timing, priority.
    """
    world.serve(ApiServer)
    world.serve(partial(Runtime, node="n1"))
    world.add(Node.of("n1", cpu_m=1000, memory=2**30))
    world.add(PriorityClass(Meta("high"), value=1000), PriorityClass(Meta("low"), value=1))
    web = Pod.of("web", cpu_m=600, node_name="n1", grace_s=5, priority_class_name="high")
    amounts = Map({"cpu": milli(600), "memory": whole(2**20)})
    limited = Container("c", resources=Resources(amounts, amounts))
    batch = Pod.of("batch", containers=(limited,), priority_class_name="low")
    world.add(web)
    world.start(Kubelet("kubelet-n1", "n1"), User("ann", ((BATCH_MS, batch),)))
    primary = "priority" if guard else "qos"
    world.start(Scheduler(SCHEDULER, switches=Map(victim_primary=primary)))
    world.claim(always(the_web_server_stays))
    if not guard:
        world.needs_no_race = "by that order the web server is the victim, however things are timed"
