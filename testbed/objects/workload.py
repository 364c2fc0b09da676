"""ReplicaSet, Job, DaemonSet: what makes pods of a template, and how many of them."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed.objects.condition import Condition
from testbed.objects.labels import LabelSelector
from testbed.objects.meta import Meta, Object, wire
from testbed.objects.pod import PodSpec


@attrs.frozen
class PodTemplate:
    """What the pods that are made are like: their labels, annotations, finalizers, and spec."""

    meta: Meta = attrs.field(factory=Meta, metadata=wire("metadata"))
    spec: PodSpec = attrs.field(factory=PodSpec)


@attrs.frozen
class ReplicaSetSpec:
    """What its owner asked for (CTL-3)."""

    replicas: int | None = None
    """So many pods at any time; None means one."""
    min_ready_s: int = attrs.field(default=0, metadata=wire("minReadySeconds"))
    """How long a pod is to be ready before it counts as available."""
    selector: LabelSelector | None = None
    """Which pods are its own."""
    template: PodTemplate = PodTemplate()


@attrs.frozen
class ReplicaSetStatus:
    """What its controller has counted."""

    replicas: int = attrs.field(default=0, metadata=wire(always=True))
    fully_labeled_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    observed_generation: int = 0
    conditions: tuple[Condition, ...] = ()


@attrs.frozen
class ReplicaSet(Object):
    """So many pods like one another, at any time."""

    kind: ClassVar[str] = "ReplicaSet"
    plural: ClassVar[str] = "replicasets"
    api_version: ClassVar[str] = "apps/v1"

    spec: ReplicaSetSpec = ReplicaSetSpec()
    status: ReplicaSetStatus = ReplicaSetStatus()


@attrs.frozen
class JobSpec:
    """What its owner asked for."""

    parallelism: int | None = None
    """So many pods at once."""
    completions: int | None = None
    """So many pods that succeed, and it is done."""
    active_deadline_s: int | None = attrs.field(
        default=None, metadata=wire("activeDeadlineSeconds")
    )
    backoff_limit: int | None = None
    """So many failures, and it has failed."""
    selector: LabelSelector | None = None
    template: PodTemplate = PodTemplate()
    suspend: bool = False
    """Whether it is to run no pods for now."""
    ttl_s: int | None = attrs.field(default=None, metadata=wire("ttlSecondsAfterFinished"))
    """How long it is kept when it is over."""


@attrs.frozen
class UncountedPods:
    """Pods that have ended, by uid, and are not yet in the counts."""

    succeeded: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


@attrs.frozen
class JobStatus:
    """How it fares."""

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
    """Pods that run until so many of them have succeeded."""

    kind: ClassVar[str] = "Job"
    plural: ClassVar[str] = "jobs"
    api_version: ClassVar[str] = "batch/v1"

    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()


@attrs.frozen
class RollingUpdate:
    """How many of its pods may be missing, or be there twice, while they are replaced."""

    max_unavailable: int | str | None = None
    max_surge: int | str | None = None


@attrs.frozen
class UpdateStrategy:
    """How its pods are replaced when their template has changed."""

    type: str = ""
    """RollingUpdate or OnDelete."""
    rolling_update: RollingUpdate | None = None


@attrs.frozen
class DaemonSetSpec:
    """What its owner asked for."""

    selector: LabelSelector | None = None
    template: PodTemplate = PodTemplate()
    update_strategy: UpdateStrategy = UpdateStrategy()
    min_ready_s: int = attrs.field(default=0, metadata=wire("minReadySeconds"))
    revision_history_limit: int | None = None


@attrs.frozen
class DaemonSetStatus:
    """What its controller has counted: of nodes that should run its pod, and that do."""

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
    """One pod on each node that it may run on."""

    kind: ClassVar[str] = "DaemonSet"
    plural: ClassVar[str] = "daemonsets"
    api_version: ClassVar[str] = "apps/v1"

    spec: DaemonSetSpec = DaemonSetSpec()
    status: DaemonSetStatus = DaemonSetStatus()
