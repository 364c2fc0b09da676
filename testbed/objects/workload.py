"""ReplicaSet, ReplicationController, Job, DaemonSet: what pods to make, and how many."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed.objects.condition import Condition
from testbed.objects.labels import LabelSelector
from testbed.objects.meta import Map, Meta, Object, texts, wire
from testbed.objects.pod import PodSpec


@attrs.frozen
class PodTemplate:
    """The labels, annotations, finalizers and spec of new pods."""

    meta: Meta = attrs.field(factory=Meta, metadata=wire("metadata"))
    """The labels, annotations and finalizers of each new pod."""
    spec: PodSpec = attrs.field(factory=PodSpec)
    """The spec of each new pod."""


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
    """What each of its pods is made from."""


@attrs.frozen
class ReplicaSetStatus:
    """The counts of its controller."""

    replicas: int = attrs.field(default=0, metadata=wire(always=True))
    """How many pods it has."""
    fully_labeled_replicas: int = 0
    """How many of them have all the labels of the template."""
    ready_replicas: int = 0
    """How many are ready."""
    available_replicas: int = 0
    """How many have been ready for `min_ready_s`."""
    observed_generation: int = 0
    """The generation of the spec that these counts are for."""
    conditions: tuple[Condition, ...] = ()
    """ReplicaFailure."""


@attrs.frozen
class ReplicaSet(Object):
    """Keeps a number of pods of one template running."""

    kind: ClassVar[str] = "ReplicaSet"
    plural: ClassVar[str] = "replicasets"
    api_version: ClassVar[str] = "apps/v1"

    spec: ReplicaSetSpec = ReplicaSetSpec()
    """What is wanted of it."""
    status: ReplicaSetStatus = ReplicaSetStatus()
    """What is observed of it."""


@attrs.frozen
class ReplicationControllerSpec:
    """The desired state of a ReplicationController."""

    replicas: int | None = None
    """The desired number of pods; None means one."""
    min_ready_s: int = attrs.field(default=0, metadata=wire("minReadySeconds"))
    """How long a pod must be ready before it counts as available."""
    selector: Map[str] = attrs.field(factory=Map, converter=texts)
    """The labels of its pods."""
    template: PodTemplate | None = None
    """What each of its pods is made from."""


@attrs.frozen
class ReplicationController(Object):
    """What kept a number of pods running before there were ReplicaSets. None of the controllers
    here looks at it."""

    kind: ClassVar[str] = "ReplicationController"
    plural: ClassVar[str] = "replicationcontrollers"

    spec: ReplicationControllerSpec = ReplicationControllerSpec()
    """What is wanted of it."""
    status: ReplicaSetStatus = ReplicaSetStatus()
    """What is observed of it."""


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
    """How long it may be active before it fails; None: for ever."""
    backoff_limit: int | None = None
    """How many pods may fail before the Job fails."""
    selector: LabelSelector | None = None
    """Which pods are its own."""
    template: PodTemplate = PodTemplate()
    """What each of its pods is made from."""
    suspend: bool = False
    """Whether it runs no pods for now."""
    ttl_s: int | None = attrs.field(default=None, metadata=wire("ttlSecondsAfterFinished"))
    """How long it is kept after it has finished."""


@attrs.frozen
class UncountedPods:
    """The uids of pods that have ended and are not counted yet."""

    succeeded: tuple[str, ...] = ()
    """Those that succeeded."""
    failed: tuple[str, ...] = ()
    """Those that failed."""


@attrs.frozen
class JobStatus:
    """The observed state of a Job."""

    conditions: tuple[Condition, ...] = ()
    """Complete, Failed, Suspended, FailureTarget."""
    start_ms: int | None = attrs.field(default=None, metadata=wire("startTime", "time"))
    """When its controller first saw it."""
    completion_ms: int | None = attrs.field(default=None, metadata=wire("completionTime", "time"))
    """When it was complete."""
    active: int = 0
    """How many pods are pending or running."""
    succeeded: int = 0
    """How many pods have succeeded."""
    failed: int = 0
    """How many pods have failed."""
    ready: int | None = None
    """How many pods are ready."""
    uncounted: UncountedPods | None = attrs.field(
        default=None, metadata=wire("uncountedTerminatedPods")
    )
    """Pods that have ended and are in no count yet."""


@attrs.frozen
class Job(Object):
    """Runs pods of one template until a number of them have succeeded."""

    kind: ClassVar[str] = "Job"
    plural: ClassVar[str] = "jobs"
    api_version: ClassVar[str] = "batch/v1"

    spec: JobSpec = JobSpec()
    """What is wanted of it."""
    status: JobStatus = JobStatus()
    """What is observed of it."""


@attrs.frozen
class RollingUpdate:
    """How many pods may be unavailable or surplus while pods are replaced."""

    max_unavailable: int | str | None = None
    """How many may be unavailable: a number, or a share such as `10%`."""
    max_surge: int | str | None = None
    """How many may be surplus: a number or a share."""


@attrs.frozen
class UpdateStrategy:
    """How pods are replaced after their template has changed."""

    type: str = ""
    """RollingUpdate, OnDelete or, for a Deployment, Recreate."""
    rolling_update: RollingUpdate | None = None
    """The bounds of a RollingUpdate."""


@attrs.frozen
class DaemonSetSpec:
    """The desired state of a DaemonSet."""

    selector: LabelSelector | None = None
    """Which pods are its own."""
    template: PodTemplate = PodTemplate()
    """What each of its pods is made from."""
    update_strategy: UpdateStrategy = UpdateStrategy()
    """How its pods are replaced."""
    min_ready_s: int = attrs.field(default=0, metadata=wire("minReadySeconds"))
    """How long a pod must be ready before it counts as available."""
    revision_history_limit: int | None = None
    """How many old revisions are kept."""


@attrs.frozen
class DaemonSetStatus:
    """The counts of its controller: of nodes that should run its pod, and of those that do."""

    current_number_scheduled: int = attrs.field(default=0, metadata=wire(always=True))
    """Nodes that should run its pod and do."""
    number_misscheduled: int = attrs.field(default=0, metadata=wire(always=True))
    """Nodes that run it and should not."""
    desired_number_scheduled: int = attrs.field(default=0, metadata=wire(always=True))
    """Nodes that should run it."""
    number_ready: int = attrs.field(default=0, metadata=wire(always=True))
    """Nodes on which it is ready."""
    observed_generation: int = 0
    """The generation of the spec that these counts are for."""
    updated_number_scheduled: int = 0
    """Nodes that run the newest template."""
    number_available: int = 0
    """Nodes on which it is available."""
    number_unavailable: int = 0
    """Nodes on which it should be available and is not."""
    conditions: tuple[Condition, ...] = ()
    """Those of its controller."""


@attrs.frozen
class DaemonSet(Object):
    """Runs one pod of a template on each node that allows it."""

    kind: ClassVar[str] = "DaemonSet"
    plural: ClassVar[str] = "daemonsets"
    api_version: ClassVar[str] = "apps/v1"

    spec: DaemonSetSpec = DaemonSetSpec()
    """What is wanted of it."""
    status: DaemonSetStatus = DaemonSetStatus()
    """What is observed of it."""
