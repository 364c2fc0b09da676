"""By rule: a scheduler takes the first pod for its victim and not the least important; a kubelet
ends that pod, as every kubelet would."""

from __future__ import annotations

from functools import partial

import attrs

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Runtime
from actors.shared.user import User
from testbed import Actor, Cache, Client, Evidence, World, always
from testbed.objects import Node, Pod, PriorityClass
from tests.told.frame import Told


@attrs.frozen
class Preemptor(Actor):
    """Makes room for an urgent pod: it deletes the first pod on the node; with `guard` the least
    important."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Once a second, until it has a victim."""
        pods = Cache(client, Pod)
        await pods.synced()
        while True:
            await client.sleep(1_000, "look")
            victims = [pod for pod in pods.all() if pod.is_bound]
            if pods.get("urgent") is not None:
                by_rank = sorted(victims, key=lambda pod: pod.priority)
                await client.delete((by_rank if self.guard else victims)[0], whatever_it_was=True)
                return


def the_least_important_goes(see: Evidence) -> str | None:
    """No pod goes while a less important one stays."""
    pods = [entry.value for entry in see.store.snapshot("pods/")]
    for change in see.changes:
        gone = change.before
        if change.after is None and isinstance(gone, Pod):
            for pod in pods:
                if isinstance(pod, Pod) and pod.is_bound and pod.priority < gone.priority:
                    return f"{gone.key} is gone, and the less important {pod.key} has stayed"
    return None


def by_rule(world: World, *, guard: bool = False) -> None:
    """A pod is preempted while a less important one runs beside it."""
    world.serve(ApiServer)
    world.serve(partial(Runtime, node="n1"))
    world.add(Node.of("n1", cpu_m=2000), PriorityClass("high", value=100))
    for name, priority in (("v1", 50), ("v2", 0)):
        world.add(Pod.of(name, cpu_m=1000, node_name="n1", grace_s=5, priority=priority))
    world.start(Kubelet("kubelet", "n1"), Preemptor("scheduler", guard))
    urgent = Pod.of("urgent", cpu_m=1000, priority_class_name="high")
    world.start(User("ben", ((2_200, urgent),)))
    world.claim(always(the_least_important_goes))


TRUE = Told(
    by_rule,
    actor="scheduler",
    about="pods/default/v1",
    words=("guard", "rule", "priority", "important", "asked", "order", "urgent", "first"),
    did=("delet", "preempt", "evict"),
    never=("^kubelet deleted",),
    said=(
        "scheduler marked pods/default/v1 for deletion since it is the first on n1, though "
        "pods/default/v2 is less important; guarded, it goes by priority."
    ),
)
