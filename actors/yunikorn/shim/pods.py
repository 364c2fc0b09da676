"""Pods, as the shim reads them: their application, queue, required node and marks (YK-2)."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from actors.yunikorn.amounts import plus
from actors.yunikorn.messages import PREEMPTED, STOPPED, AllocationRequest
from testbed.objects import Map, Pod, PriorityClass, requests_of
from testbed.objects.pod import FAILED, SUCCEEDED

YUNIKORN_SCHEDULER = "yunikorn"
"""The `schedulerName` of its pods."""
DOMAIN = "yunikorn.apache.org/"
APP_ID, QUEUE, ALLOW_PREEMPTION = f"{DOMAIN}app-id", f"{DOMAIN}queue", f"{DOMAIN}allow-preemption"
OLD_APP_LABELS = ("applicationId", "spark-app-selector")
ROOT, DEFAULT_QUEUE = "root", "root.default"
ONE_POD: Map[int] = Map(pods=1)
"""What each pod takes beside its requests."""
SCHEDULING, ALLOCATED, BOUND = "Scheduling", "Allocated", "Bound"

READS = (
    "meta.annotations", "meta.created_ms", "meta.deleted_ms", "meta.labels", "meta.owners", "spec",
    "status.phase",
)  # fmt: skip
"""The fields of pods that the shim looks at."""


@attrs.define(eq=False)
class ShimTask:
    """A pod that YuniKorn schedules, as the shim knows it."""

    pod: Pod
    """As it was last seen."""
    app: str
    """Its application."""
    is_originator: bool
    """Whether it is the first pod of that."""
    state: str = SCHEDULING
    """Scheduling, Allocated, or Bound."""
    node: str = ""
    """Where it is allocated or bound."""
    why: str = STOPPED
    """The termination type to be told once it is gone."""

    @property
    def key(self) -> str:
        """The uid of its pod."""
        return self.pod.meta.uid

    @property
    def is_victim(self) -> bool:
        """Whether the core wants it back."""
        return self.why == PREEMPTED


def is_over(pod: Pod) -> bool:
    """Whether it has ended for good."""
    return pod.status.phase in (SUCCEEDED, FAILED)


def app_of(pod: Pod) -> str:
    """The application of a pod; empty if another scheduler is responsible for it."""
    if pod.spec.scheduler_name != YUNIKORN_SCHEDULER:
        return ""
    labels, notes = pod.meta.labels, pod.meta.annotations
    old = (labels.get(name) for name in OLD_APP_LABELS)
    found = (labels.get(APP_ID), notes.get(APP_ID), *old)
    return next(filter(None, found), f"yunikorn-{pod.meta.namespace}-autogen")


def queue_of(pod: Pod) -> str:
    """The full path of the queue that a pod names, or of the default one."""
    labels = pod.meta.labels
    given = labels.get(QUEUE) or labels.get("queue") or pod.meta.annotations.get(QUEUE)
    if not given:
        return DEFAULT_QUEUE
    return given if given.split(".")[0] == ROOT else f"{ROOT}.{given}"


def required_node_of(pod: Pod) -> str:
    """The node on which a DaemonSet pod must run, by its affinity; empty for any other pod."""
    affinity = pod.spec.affinity
    nodes = affinity.node_affinity if affinity is not None else None
    if nodes is None or nodes.required is None:
        return ""
    if not any(owner.kind == "DaemonSet" for owner in pod.meta.owners):
        return ""
    fields = (field for term in nodes.required.node_selector_terms for field in term.match_fields)
    return next((f.values[0] for f in fields if f.key == "metadata.name" and f.values), "")


def allows_preemption(pod: Pod, classes: Iterable[PriorityClass]) -> bool:
    """Whether a pod does not opt out: by the annotation of its priority class, or by its own, to
    which YuniKorn's admission controller copies that."""
    named = [each.meta for each in classes if each.meta.name == pod.spec.priority_class_name]
    marks = (pod.meta.annotations, *(meta.annotations for meta in named))
    return not any(each.get(ALLOW_PREEMPTION) == "false" for each in marks)


def is_labelled(pod: Pod) -> bool:
    """Whether a pod opts out by a label, as the design document has it."""
    return pod.meta.labels.get(ALLOW_PREEMPTION) == "false"


def request_for(
    pod: Pod, app: str, *, is_originator: bool = False, classes: Iterable[PriorityClass] = ()
) -> AllocationRequest:
    """What the core is told of a pod."""
    meta = pod.meta
    return AllocationRequest(
        meta.uid,
        pod.key,
        app,
        queue_of(pod) if app else "",
        plus(ONE_POD, requests_of(pod)),
        pod.spec.priority or 0,
        meta.created_ms or 0,
        pod.spec.node_name,
        required_node_of(pod),
        is_originator,
        allows_preemption(pod, classes),
        is_labelled(pod),
        tuple(owner.uid for owner in meta.owners),
        pod.spec,
    )
