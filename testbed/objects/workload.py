"""ReplicaSet, Job, DaemonSet: what pods to make from a template, and how many."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed.objects.condition import Condition
from testbed.objects.labels import LabelSelector
from testbed.objects.meta import Meta, Object, wire
from testbed.objects.pod import PodSpec


@attrs.frozen
class PodTemplate:
    """The labels, annotations, finalizers and spec of new pods."""

    meta: Meta = attrs.field(factory=Meta, metadata=wire("metadata"))
    spec: PodSpec = attrs.field(factory=PodSpec)


@attrs.frozen
class ReplicaSetSpec:
    """The desired state of a ReplicaSet (CTL-3)."""

    replicas: int | None = None
    """The desired number of pods; None means one."""
    min_ready_s: int = attrs.field(default=0, metadata=wire("minReadySeconds"))
    """How long a pod must be ready before it counts as available."""
    selector: LabelSelector | None = None
    """Which pods are its own."""
    template: PodTemplate = PodTemplate()


@attrs.frozen
class ReplicaSetStatus:
    """The counts of its controller."""

    replicas: int = attrs.field(default=0, metadata=wire(always=True))
    fully_labeled_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    observed_generation: int = 0
    conditions: tuple[Condition, ...] = ()


@attrs.frozen
class ReplicaSet(Object):
    """Keeps a number of pods of one template running."""

    kind: ClassVar[str] = "ReplicaSet"
    plural: ClassVar[str] = "replicasets"
    api_version: ClassVar[str] = "apps/v1"

    spec: ReplicaSetSpec = ReplicaSetSpec()
    status: ReplicaSetStatus = ReplicaSetStatus()


@attrs.frozen
class JobSpec:
    """The desired state of a Job."""

    parallelism: int | None = None
    """How many pods run at once."""
    completions: int | None = None
    """How many pods must succeed for the Job to be complete."""
    active_deadline_s: int | None = attrs.field(
        default=None, metadata=wire("activeDeadlineSeconds")
    )
    backoff_limit: int | None = None
    """How many pods may fail before the Job fails."""
    selector: LabelSelector | None = None
    template: PodTemplate = PodTemplate()
    suspend: bool = False
    """Whether it runs no pods for now."""
    ttl_s: int | None = attrs.field(default=None, metadata=wire("ttlSecondsAfterFinished"))
    """How long it is kept after it has finished."""


@attrs.frozen
class UncountedPods:
    """The uids of pods that have ended and are not counted yet."""

    succeeded: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


@attrs.frozen
class JobStatus:
    """The observed state of a Job."""

    conditions: tuple[Condition, ...] = ()
    """Complete, Failed, Suspended, FailureTarget."""
    start_ms: int | None = attrs.field(default=None, metadata=wire("startTime", "time"))
    completion_ms: int | None = attrs.field(default=None, metadata=wire("completionTime", "time"))
    active: int = 0
    succeeded: int = 0
    failed: int = 0
    ready: int | None = None
    uncounted: UncountedPods | None = attrs.field(
        default=None, metadata=wire("uncountedTerminatedPods")
    )


@attrs.frozen
class Job(Object):
    """Runs pods of one template until a number of them have succeeded."""

    kind: ClassVar[str] = "Job"
    plural: ClassVar[str] = "jobs"
    api_version: ClassVar[str] = "batch/v1"

    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()


@attrs.frozen
class RollingUpdate:
    """How many pods may be unavailable or surplus while pods are replaced."""

    max_unavailable: int | str | None = None
    max_surge: int | str | None = None


@attrs.frozen
class UpdateStrategy:
    """How pods are replaced after their template has changed."""

    type: str = ""
    """RollingUpdate or OnDelete."""
    rolling_update: RollingUpdate | None = None


@attrs.frozen
class DaemonSetSpec:
    """The desired state of a DaemonSet."""

    selector: LabelSelector | None = None
    template: PodTemplate = PodTemplate()
    update_strategy: UpdateStrategy = UpdateStrategy()
    min_ready_s: int = attrs.field(default=0, metadata=wire("minReadySeconds"))
    revision_history_limit: int | None = None


@attrs.frozen
class DaemonSetStatus:
    """The counts of its controller: of nodes that should run its pod, and of those that do."""

    current_number_scheduled: int = attrs.field(default=0, metadata=wire(always=True))
    number_misscheduled: int = attrs.field(default=0, metadata=wire(always=True))
    desired_number_scheduled: int = attrs.field(default=0, metadata=wire(always=True))
    number_ready: int = attrs.field(default=0, metadata=wire(always=True))
    observed_generation: int = 0
    updated_number_scheduled: int = 0
    number_available: int = 0
    number_unavailable: int = 0
    conditions: tuple[Condition, ...] = ()


@attrs.frozen
class DaemonSet(Object):
    """Runs one pod of a template on each node that allows it."""

    kind: ClassVar[str] = "DaemonSet"
    plural: ClassVar[str] = "daemonsets"
    api_version: ClassVar[str] = "apps/v1"

    spec: DaemonSetSpec = DaemonSetSpec()
    status: DaemonSetStatus = DaemonSetStatus()
