"""Two schedulers fight for one place; each takes the other's pods for less important."""

from __future__ import annotations

from actors.apiserver import ApiServer
from actors.controllers.recreator import Recreator
from actors.scheduler import Scheduler
from actors.shared.who_comes_again import who_comes_again
from testbed import World, no_lasso
from testbed.objects import Map, Node, Pod


def hostile_schedulers(world: World, *, guard: bool = False) -> None:
    """One place, and two workloads whose schedulers fight for it; guarded, both go by priority.

    Cause: each scheduler preempts the pods of the other, whatever their priority, and goes by no
      nomination but its own.
    Look for: alpha makes room for the same pod again and again, and each time beta binds another
      one into it.
    Source: the design "Pod Preemption in Kubernetes"; kubernetes#130429.
    Tags: several-schedulers, nomination, endless, two-views, no-timing, priority.
    """
    world.serve(ApiServer)
    world.add(Node.of("n1", cpu_m=1000))
    for workload, name in (("web", "alpha"), ("batch", "beta")):
        template = Pod.of(workload, cpu_m=1000, grace_s=0, scheduler_name=name)
        world.start(Recreator(workload, template))
        world.start(Scheduler(name, switches=Map(hostile="off" if guard else "on")))
    world.claim(no_lasso(abstraction=who_comes_again, named_anew=["pods"]))
    if not guard:
        world.needs_no_race = "what one evicts the other places again, however they are timed"
