"""By order of another: a scheduler chooses a victim by an old label, and a kubelet ends that pod,
as every kubelet would."""

from __future__ import annotations

from functools import partial

import attrs

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Runtime
from actors.shared.user import User
from testbed import Actor, ApiError, Cache, Client, Conflict, Evidence, World, always
from testbed.objects import Node, Pod
from tests.told.frame import Told

KEEP = "example.com/keep"


@attrs.frozen
class Preemptor(Actor):
    """Makes room for an urgent pod: it deletes one that is not to be kept, by its informer. With
    `guard` it deletes only the pod that it has seen."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Once a second, until it has a victim."""
        pods = Cache(client, Pod)
        await pods.synced()
        while True:
            await client.sleep(1_000, "look")
            urgent, victims = pods.get("urgent"), []
            if urgent is not None and not urgent.is_bound:
                victims = [p for p in pods.all() if p.is_bound and KEEP not in p.meta.labels]
            for victim in victims[:1]:
                try:
                    await client.delete(victim, whatever_it_was=not self.guard)
                    return
                except Conflict:
                    continue


class Ann(Actor):
    """Says that v1 is to be kept."""

    async def run(self, client: Client) -> None:
        """After two seconds."""
        await client.sleep(2_500, "label")
        try:
            await client.patch(Pod("v1"), {"metadata": {"labels": {KEEP: "yes"}}})
        except ApiError:
            return


def what_is_kept_stays(see: Evidence) -> str | None:
    """No pod goes that was to be kept."""
    for change in see.changes:
        gone = change.before
        if change.after is None and isinstance(gone, Pod) and KEEP in gone.meta.labels:
            return f"{change.key} is gone, and was to be kept"
    return None


def by_order_of(world: World, *, guard: bool = False) -> None:
    """A pod is preempted that was to be kept."""
    world.serve(ApiServer)
    world.serve(partial(Runtime, node="n1"))
    world.add(Node.of("n1", cpu_m=2000))
    world.add(*(Pod.of(name, cpu_m=1000, node_name="n1", grace_s=5) for name in ("v1", "v2")))
    world.start(Kubelet("kubelet", "n1"), Preemptor("scheduler", guard), Ann("ann"))
    world.start(User("ben", ((2_200, Pod.of("urgent", cpu_m=1000)),)))
    world.claim(always(what_is_kept_stays))


TRUE = Told(
    by_order_of,
    race="""
holds:
  - hold: delivery of pods/default/v1 to scheduler
    until: scheduler delete pods/default/v1
""",
    actor="scheduler",
    made_so="ann",
    about="pods/default/v1",
    words=("keep", "label"),
    did=("delet", "preempt", "evict"),
    never=("kubelet deleted",),
    said=(
        "scheduler deleted pods/default/v1, believing that it had no label example.com/keep, "
        "as it listed at rv 6; false since ann set that at rv 8; kubelet only carried that "
        "out."
    ),
)
