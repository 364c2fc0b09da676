"""Deployment and StatefulSet: workloads that replace their pods when their template changes."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed.objects.condition import Condition
from testbed.objects.labels import LabelSelector
from testbed.objects.meta import Object, wire
from testbed.objects.workload import PodTemplate, UpdateStrategy


@attrs.frozen
class DeploymentSpec:
    """The desired state of a Deployment."""

    replicas: int | None = None
    """The desired number of pods; the server sets one if it is None."""
    selector: LabelSelector | None = None
    """Which pods are its own."""
    template: PodTemplate = attrs.field(factory=PodTemplate)
    """What each of its pods is made from. A change of it begins a rollout."""
    strategy: UpdateStrategy = attrs.field(factory=UpdateStrategy)
    """RollingUpdate, with its bounds, or Recreate."""
    min_ready_s: int = attrs.field(default=0, metadata=wire("minReadySeconds"))
    """How long a pod must be ready before it counts as available."""
    revision_history_limit: int | None = None
    """How many old ReplicaSets are kept."""
    paused: bool = False
    """Whether its rollout is halted."""
    progress_deadline_s: int | None = attrs.field(
        default=None, metadata=wire("progressDeadlineSeconds")
    )
    """How long it may make no progress before its condition says so."""


@attrs.frozen
class DeploymentStatus:
    """The counts of its controller: sums over its ReplicaSets."""

    observed_generation: int = 0
    """The generation of the spec that these counts are for."""
    replicas: int = 0
    """How many pods it has."""
    updated_replicas: int = 0
    """How many of them have the newest template."""
    ready_replicas: int = 0
    """How many are ready."""
    available_replicas: int = 0
    """How many have been ready for `min_ready_s`."""
    unavailable_replicas: int = 0
    """How many are still missing until all are available."""
    conditions: tuple[Condition, ...] = ()
    """Available, Progressing, ReplicaFailure."""
    collision_count: int | None = None
    """How often the hash of a template was that of another one."""


@attrs.frozen
class Deployment(Object):
    """Keeps pods running, and replaces them step by step when their template changes."""

    kind: ClassVar[str] = "Deployment"
    plural: ClassVar[str] = "deployments"
    api_version: ClassVar[str] = "apps/v1"

    spec: DeploymentSpec = DeploymentSpec()
    """What is wanted of it."""
    status: DeploymentStatus = DeploymentStatus()
    """What is observed of it."""


@attrs.frozen
class OrderedUpdate:
    """Which pods of a StatefulSet are replaced, and how many at once."""

    partition: int | None = None
    """Pods with a smaller number than this keep their old template."""
    max_unavailable: int | str | None = None
    """How many may be unavailable: a number, or a share such as `10%`."""


@attrs.frozen
class OrderedUpdateStrategy:
    """How the pods of a StatefulSet are replaced after its template has changed."""

    type: str = ""
    """RollingUpdate, from the last pod to the first; or OnDelete."""
    rolling_update: OrderedUpdate | None = None
    """The bounds of a RollingUpdate."""


@attrs.frozen
class StatefulSetSpec:
    """The desired state of a StatefulSet."""

    replicas: int | None = None
    """The desired number of pods; the server sets one if it is None."""
    selector: LabelSelector | None = None
    """Which pods are its own."""
    template: PodTemplate = attrs.field(factory=PodTemplate)
    """What each of its pods is made from."""
    service_name: str = attrs.field(default="", metadata=wire(always=True))
    """The service that gives its pods their network names; nothing here looks at it."""
    pod_management_policy: str = ""
    """OrderedReady (also if empty): one pod at a time, in order; or Parallel."""
    update_strategy: OrderedUpdateStrategy = OrderedUpdateStrategy()
    """How its pods are replaced."""
    revision_history_limit: int | None = None
    """How many old revisions are kept."""
    min_ready_s: int = attrs.field(default=0, metadata=wire("minReadySeconds"))
    """How long a pod must be ready before it counts as available."""


@attrs.frozen
class StatefulSetStatus:
    """The counts of its controller."""

    observed_generation: int = 0
    """The generation of the spec that these counts are for."""
    replicas: int = attrs.field(default=0, metadata=wire(always=True))
    """How many pods it has."""
    ready_replicas: int = 0
    """How many are ready."""
    current_replicas: int = 0
    """How many have the template of `current_revision`."""
    updated_replicas: int = 0
    """How many have the newest template."""
    current_revision: str = ""
    """The name of the revision that the pods had before the last change of the template."""
    update_revision: str = ""
    """The name of the newest revision."""
    collision_count: int | None = None
    """How often the hash of a template was that of another one."""
    conditions: tuple[Condition, ...] = ()
    """Those of its controller."""
    available_replicas: int = 0
    """How many have been ready for `min_ready_s`."""


@attrs.frozen
class StatefulSet(Object):
    """Runs pods that each keep their name: `web-0`, `web-1` and so on, started in that order."""

    kind: ClassVar[str] = "StatefulSet"
    plural: ClassVar[str] = "statefulsets"
    api_version: ClassVar[str] = "apps/v1"

    spec: StatefulSetSpec = StatefulSetSpec()
    """What is wanted of it."""
    status: StatefulSetStatus = StatefulSetStatus()
    """What is observed of it."""
