"""Bound elsewhere: a plugin binds a pod to another node than its scheduler has chosen. Room was
made there for a third pod, but the claim that is told of is about the choice."""

from __future__ import annotations

from functools import partial
from typing import Any

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Runtime
from actors.scheduler import Scheduler
from actors.scheduler.invariants.writes_follow_decisions import DeedsAreDecided
from actors.scheduler.plugins import Bind
from actors.shared.user import User
from actors.shared.verbs import bind
from scenarios.slots.stolen_slot import no_room_is_stolen
from testbed import Client, World, always
from testbed.objects import Node, Pod, PriorityClass
from tests.told.frame import Told


class ToTheSecond(Bind):
    """Binds to n2, whatever was chosen."""

    name = "ToTheSecond"

    async def bind(self, client: Client, pod: Pod, node: str) -> Any:
        """Take no notice of the node."""
        return await bind(client, pod, "n2")


def bound_elsewhere(world: World, *, guard: bool = False) -> None:
    """A pod is bound where it was not to go; guarded, without the plugin."""
    world.serve(ApiServer)
    world.add(PriorityClass("high", value=100))
    world.add(Node.of("n1", cpu_m=1000), Node.of("n2", cpu_m=1500))
    world.add(Pod.of("victim", cpu_m=1500, node_name="n2", grace_s=30))
    for name in ("n1", "n2"):
        world.serve(partial(Runtime, node=name))
        world.start(Kubelet(f"kubelet-{name}", name))
    urgent = Pod.of("urgent", cpu_m=1500, priority_class_name="high", scheduler_name="alpha")
    late = Pod.of("late", cpu_m=500, scheduler_name="beta")
    world.start(User("ann", ((1_000, urgent),)), User("ben", ((3_000, late),)))
    plugins = () if guard else (ToTheSecond,)
    world.start(Scheduler("alpha"), Scheduler("beta", plugins=plugins))
    world.claim(DeedsAreDecided(), always(no_room_is_stolen))


TRUE = Told(
    bound_elsewhere,
    actor="beta",
    about="pods/default/late",
    words=("n1", "decided", "chose", "chosen", "plugin"),
    did=("bound",),
    never=("into the room", "alpha had set aside", "^ben", "^alpha"),
    claim="deeds_are_decided",
    said=(
        "beta bound pods/default/late to n2, though it had chosen n1 for it: its plugin "
        "ToTheSecond binds every pod to n2."
    ),
)
