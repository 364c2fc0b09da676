"""Orphan deleted: a ReplicaSet controller scales down by its cache, and deletes a pod that was
taken out of the set just before (kubernetes/kubernetes PR#138818)."""

from __future__ import annotations

import attrs

from actors.apiserver import ApiServer
from actors.controllers.replicaset import ReplicaSetController
from testbed import Actor, Client, Evidence, World, always
from testbed.objects import LabelSelector, Map, Meta, Owner, Pod, PodTemplate, ReplicaSet
from testbed.objects.workload import ReplicaSetSpec
from tests.told.frame import Told

LABELS = Map(app="web")
OWNER = Owner("apps/v1", "ReplicaSet", "web", "web", True)


@attrs.frozen
class Debugger(Actor):
    """Takes a pod out of its set, to look into it, and then scales the set down."""

    async def run(self, client: Client) -> None:
        """After a second."""
        await client.sleep(1_000, "take out")
        await client.patch(Pod("web-1"), {"metadata": {"ownerReferences": None}})
        await client.patch(ReplicaSet("web"), {"spec": {"replicas": 1}})


def what_is_taken_out_stays(see: Evidence) -> str | None:
    """No pod is deleted that has no owner."""
    for change in see.changes:
        pod, now = change.before, change.after
        is_going = now is None or (isinstance(now, Pod) and now.meta.is_terminating)
        if isinstance(pod, Pod) and is_going and not pod.meta.owners:
            return f"{pod.key} has no owner, and was deleted"
    return None


def orphan_deleted(world: World) -> None:
    """A scale-down comes right after a pod was taken out."""
    world.serve(ApiServer)
    template = PodTemplate(Meta(labels=LABELS), Pod.of("", cpu_m=100, grace_s=0).spec)
    spec = ReplicaSetSpec(2, selector=LabelSelector(LABELS), template=template)
    world.add(ReplicaSet(Meta("web", "default", uid=OWNER.uid), spec=spec))
    for name in ("web-1", "web-2"):
        pod = Pod.of(name, cpu_m=100, grace_s=0, labels={"app": "web"})
        world.add(pod.with_meta(owners=(OWNER,)))
    quiet = Map(events="off")
    world.start(ReplicaSetController("replicasets", switches=quiet), Debugger("ann"))
    world.claim(always(what_is_taken_out_stays))


TRUE = Told(
    orphan_deleted,
    race="""
holds:
  - hold: delivery of pods/default/web-1 to replicasets
    until: replicasets delete pods/default/web-1
""",
    actor="replicasets",
    made_so="ann",
    about="pods/default/web-1",
    words=("owner",),
    did=("delet",),
    never=("^ann",),
    said=(
        "replicasets deleted pods/default/web-1, believing that ReplicaSet/web was its owner,"
        " as it listed at rv 4; false since ann took it out at rv 6."
    ),
)
