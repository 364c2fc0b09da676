"""The columns of each kind, in the order in which kubectl prints them."""

from __future__ import annotations

from testbed.attended.http.tables.age import age, duration
from testbed.attended.http.tables.column import AGE, NAME, Column, number, wide
from testbed.attended.http.tables.containers import CONTAINERS, IMAGES, OF_TEMPLATE, listed
from testbed.attended.http.tables.nodes import NODE
from testbed.attended.http.tables.pods import POD
from testbed.objects.config import ConfigMap
from testbed.objects.deployment import Deployment, StatefulSet
from testbed.objects.disruption_budget import PodDisruptionBudget
from testbed.objects.event import Event
from testbed.objects.lease import Lease
from testbed.objects.meta import Object
from testbed.objects.namespace import Namespace
from testbed.objects.node import Node
from testbed.objects.pod import Pod
from testbed.objects.priority import PriorityClass
from testbed.objects.quota import ResourceQuota
from testbed.objects.workload import DaemonSet, Job, ReplicaSet, ReplicationController


def _bound(given: int | str | None) -> str:
    return "N/A" if given is None else str(given)


def _completions(job: Job, _: int) -> str:
    done, wanted = job.status.succeeded, job.spec.completions
    if wanted is not None:
        return f"{done}/{wanted}"
    parallelism = job.spec.parallelism or 0
    return f"{done}/1 of {parallelism}" if parallelism > 1 else f"{done}/1"


def _lasted(job: Job, now_ms: int) -> str:
    start_ms, end_ms = job.status.start_ms, job.status.completion_ms
    if start_ms is None:
        return ""
    return duration((now_ms if end_ms is None else end_ms) - start_ms)


def _used(quota: ResourceQuota, *, is_limit: bool) -> str:
    """What is used of what, of the limits or of all else."""
    hard, used = quota.status.hard, quota.status.used
    names = [name for name in sorted(hard) if name.startswith("limits.") == is_limit]
    return ", ".join(f"{name}: {used.get(name, 0)}/{hard[name]}" for name in names)


def _first_ms(event: Event) -> int | None:
    return event.event_ms if event.first_ms is None else event.first_ms


def _seen(event: Event, now_ms: int) -> str:
    if event.series is not None:
        return age(event.series.last_ms, now_ms)
    return age(_first_ms(event) if event.last_ms is None else event.last_ms, now_ms)


def _about(event: Event, _: int) -> str:
    kind, name = event.involved.kind.lower(), event.involved.name
    return f"{kind}/{name}" if name else kind


def _source(event: Event, _: int) -> str:
    component = event.source.component or event.reporting_component
    instance = event.source.host or event.reporting_instance
    return f"{component}, {instance}" if instance else component


def _count(event: Event, _: int) -> str:
    return str(event.series.count if event.series is not None else event.count or 1)


_REPLICAS = (
    NAME,
    number("Desired", lambda item, _: 1 if item.spec.replicas is None else item.spec.replicas),
    number("Current", lambda item, _: item.status.replicas),
    number("Ready", lambda item, _: item.status.ready_replicas),
    AGE,
    *OF_TEMPLATE,
)
_READY = Column(
    "Ready",
    lambda item, _: (
        f"{item.status.ready_replicas}/{1 if item.spec.replicas is None else item.spec.replicas}"
    ),
)

NAME_AND_AGE: tuple[Column, ...] = (NAME, AGE)
"""Those of a kind that has no row here."""
COLUMNS: dict[type[Object], tuple[Column, ...]] = {
    Pod: POD,
    Node: NODE,
    ReplicaSet: _REPLICAS,
    ReplicationController: _REPLICAS,
    Deployment: (
        NAME,
        _READY,
        number("Up-to-date", lambda item, _: item.status.updated_replicas),
        number("Available", lambda item, _: item.status.available_replicas),
        AGE,
        *OF_TEMPLATE,
    ),
    StatefulSet: (NAME, _READY, AGE, CONTAINERS, IMAGES),
    DaemonSet: (
        NAME,
        number("Desired", lambda item, _: item.status.desired_number_scheduled),
        number("Current", lambda item, _: item.status.current_number_scheduled),
        number("Ready", lambda item, _: item.status.number_ready),
        number("Up-to-date", lambda item, _: item.status.updated_number_scheduled),
        number("Available", lambda item, _: item.status.number_available),
        Column("Node Selector", lambda item, _: listed(item.spec.template.spec.node_selector)),
        AGE,
        *OF_TEMPLATE,
    ),
    Job: (
        NAME,
        Column("Completions", _completions),
        Column("Duration", _lasted),
        AGE,
        *OF_TEMPLATE,
    ),
    PodDisruptionBudget: (
        NAME,
        Column("Min Available", lambda item, _: _bound(item.spec.min_available)),
        Column("Max Unavailable", lambda item, _: _bound(item.spec.max_unavailable)),
        number("Allowed Disruptions", lambda item, _: item.status.disruptions_allowed),
        AGE,
    ),
    PriorityClass: (
        NAME,
        number("Value", lambda item, _: item.value),
        Column("Global-Default", lambda item, _: item.global_default, "boolean"),
        AGE,
    ),
    Lease: (NAME, Column("Holder", lambda item, _: item.spec.holder), AGE),
    Namespace: (NAME, Column("Status", lambda item, _: item.status.phase), AGE),
    ConfigMap: (
        NAME,
        Column("Data", lambda item, _: str(len(item.data) + len(item.binary_data))),
        AGE,
    ),
    ResourceQuota: (
        NAME,
        AGE,
        Column("Request", lambda item, _: _used(item, is_limit=False)),
        Column("Limit", lambda item, _: _used(item, is_limit=True)),
    ),
    Event: (
        Column("Last Seen", _seen),
        Column("Type", lambda item, _: item.type),
        Column("Reason", lambda item, _: item.reason),
        Column("Object", _about),
        wide("Subobject", lambda item, _: item.involved.field_path),
        wide("Source", _source),
        Column("Message", lambda item, _: item.message.strip()),
        wide("First Seen", lambda item, now_ms: age(_first_ms(item), now_ms)),
        wide("Count", _count),
        Column("Name", NAME.cell, is_wide=True, format="name"),
    ),
}
"""Those of the kinds that have more to show than their name and age."""
