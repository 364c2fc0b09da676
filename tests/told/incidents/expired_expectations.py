"""Expired expectations: a ReplicaSet controller waits five minutes for the news of its own creates,
and then creates the same pods once more (kubernetes/kubernetes#129795)."""

from __future__ import annotations

from actors.apiserver import ApiServer
from actors.controllers.replicaset import ReplicaSetController
from actors.users.commands import CreateCommand, PatchCommand
from actors.users.stream import Cue, WorkloadStream
from testbed import Evidence, World, always
from testbed.objects import LabelSelector, Map, Meta, Pod, PodTemplate, ReplicaSet
from testbed.objects.workload import ReplicaSetSpec
from tests.told.frame import Told

LABELS = Map(app="web")
WANTS, LATER_MS = 2, 400_000


def no_more_pods_than_wanted(see: Evidence) -> str | None:
    """There are never more pods than the set wants."""
    there = len(see.store.snapshot("pods/"))
    return f"web wants {WANTS} pods, and has {there}" if there > WANTS else None


def expired_expectations(world: World) -> None:
    """The informer of a controller is more than five minutes late."""
    world.serve(ApiServer)
    template = PodTemplate(Meta(labels=LABELS), Pod.of("", cpu_m=100, grace_s=0).spec)
    spec = ReplicaSetSpec(WANTS, selector=LabelSelector(LABELS), template=template)
    web = ReplicaSet("web", spec=spec)
    touch = PatchCommand.annotate(web, {"example.com/owner": "ann"})
    cues = (Cue.of(1_000, CreateCommand(web)), Cue.of(LATER_MS, touch))
    world.start(WorkloadStream("ann", cues))
    world.start(ReplicaSetController("replicasets", switches=Map(events="off")))
    world.claim(always(no_more_pods_than_wanted))


TRUE = Told(
    expired_expectations,
    race="""
faults:
  - lag: pods to replicasets
    at: 1s
    by: 500s
    for: 10s
""",
    actor="replicasets",
    about="pods/default/web-",
    words=("Cache", "not knowing", "believing", "had not been told", "late", "not heard", "expire"),
    did=("created",),
    never=("^ann",),
    said=(
        "replicasets created pods/default/web-cssg9 before its Cache showed the pods that it "
        "had created five minutes earlier: by then its expectations had expired."
    ),
)

ALSO = (
    TRUE.also(
        "held",
        """
holds:
  - hold: delivery of pods/default/web-* to replicasets
    until: replicasets create pods/default#3
""",
        "replicasets created pods/default/web-cssg9 before its Cache showed the pods that it had "
        "created five minutes earlier: by then its expectations had expired.",
    ),
)
