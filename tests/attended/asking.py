"""Words over the Python client of Kubernetes, in which `python_rows.py` asks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from time import monotonic
from typing import Any

from kubernetes import client as k8s
from kubernetes import config, watch
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.leaderelectionrecord import LeaderElectionRecord
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock

# These parts of the client say no types.
CONFIG: Any = config
WATCH: Any = watch
ELECTION: Any = leaderelection
ELECTION_CONFIG: Any = electionconfig
RECORD: Any = LeaderElectionRecord
LOCK: Any = LeaseLock

WITHIN_S = 120
LEASE = {"lease_duration": 3, "renew_deadline": 2, "retry_period": 1}
NOW = "2025-01-01 00:00:00.000001"


def words(kubeconfig: str) -> dict[str, Any]:
    """All names that an expression may use."""
    CONFIG.load_kube_config(kubeconfig)
    apis = {
        "core": k8s.CoreV1Api, "apps": k8s.AppsV1Api, "policy": k8s.PolicyV1Api,
        "coordination": k8s.CoordinationV1Api, "events": k8s.EventsV1Api,
        "version": k8s.VersionApi,
    }  # fmt: skip
    said = {each.__name__: each for each in SAID}
    return {**{name: api() for name, api in apis.items()}, **said, "k8s": k8s}


def names(found: Any) -> list[str]:
    """The names of what was listed."""
    return [each.metadata.name for each in found.items]


def patched(item: Any, field: str = "") -> Any:
    """The labels of what was written, or another field."""
    return getattr(item, field) if field else item.metadata.labels


def named(name: str) -> Any:
    """Metadata with that name."""
    return k8s.V1ObjectMeta(name=name, namespace="default", labels={"app": name})


def labels(**changes: str | None) -> dict[str, Any]:
    """A patch of labels."""
    return {"metadata": {"labels": changes}}


def applied(name: str, **wanted: str) -> dict[str, Any]:
    """What one manager wants of a pod: labels."""
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": wanted}}


def pod(name: str) -> Any:
    """A pod of one container."""
    return k8s.V1Pod(metadata=named(name), spec=_spec())


def _spec() -> Any:
    return k8s.V1PodSpec(containers=[k8s.V1Container(name="main", image="nginx:1.25")])


def deployment(name: str) -> Any:
    """A Deployment of two pods."""
    template = k8s.V1PodTemplateSpec(metadata=k8s.V1ObjectMeta(labels={"app": name}), spec=_spec())
    selector = k8s.V1LabelSelector(match_labels={"app": name})
    spec = k8s.V1DeploymentSpec(replicas=2, selector=selector, template=template)
    return k8s.V1Deployment(metadata=named(name), spec=spec)


def old(scale: Any) -> Any:
    """The same Scale, as it was read long ago."""
    scale.metadata.resource_version = "1"
    return scale


def binding(name: str, node: str) -> Any:
    """A Binding of that pod."""
    return k8s.V1Binding(metadata=named(name), target=k8s.V1ObjectReference(name=node, kind="Node"))


def eviction(name: str) -> Any:
    """An Eviction of that pod."""
    return k8s.V1Eviction(metadata=named(name))


def budget(app: str) -> Any:
    """A budget that keeps one pod."""
    selector = k8s.V1LabelSelector(match_labels={"app": app})
    spec = k8s.V1PodDisruptionBudgetSpec(min_available=1, selector=selector)
    return k8s.V1PodDisruptionBudget(metadata=named(app), spec=spec)


def allowing(disruptions: int) -> dict[str, Any]:
    """A patch of a budget's status."""
    status = {"disruptionsAllowed": disruptions, "observedGeneration": 1, "currentHealthy": 1,
              "desiredHealthy": 0, "expectedPods": 1}  # fmt: skip
    return {"status": status}


def event(name: str) -> Any:
    """An Event about the first pod."""
    about = k8s.V1ObjectReference(kind="Pod", name="first", namespace="default")
    return k8s.CoreV1Event(metadata=named(name), involved_object=about, reason="Seen", count=1)


def newer_event(name: str) -> Any:
    """The same, of the newer group."""
    about = k8s.V1ObjectReference(kind="Pod", name="first", namespace="default")
    return k8s.EventsV1Event(
        metadata=named(name), regarding=about, reason="Seen", note="hello", action="Look",
        event_time=datetime(2025, 1, 1, tzinfo=UTC), reporting_controller="me",
        reporting_instance="me-1", type="Normal",
    )  # fmt: skip


def told(func: Callable[..., Any], *args: Any, **options: Any) -> list[str]:
    """What a watch tells: types and names; of bookmarks only that there are any."""
    return list(dict.fromkeys(_told(func, *args, **options)))


def _told(func: Callable[..., Any], *args: Any, **options: Any) -> Iterator[str]:
    for each in WATCH.Watch().stream(func, *args, **options):
        kind, name = each["type"], each["raw_object"]["metadata"].get("name", "")
        yield f"{kind} {name}".strip()


def until_expired(func: Callable[..., Any], *args: Any, **options: Any) -> list[str]:
    """Watch from a revision again and again, until history is compacted."""
    until, found = monotonic() + WITHIN_S, list[str]()
    while monotonic() < until:
        found = told(func, *args, timeout_seconds=1, **options)
    return found


def record(identity: str) -> Any:
    """What a leader writes into its lock."""
    return RECORD(identity, "15", NOW, NOW)


def lock(identity: str, name: str = "lead") -> Any:
    """A Lease as the lock of an election."""
    return LOCK(name, "default", identity)


def elected(name: str) -> list[str]:
    """Lead, until another takes the Lease; what was said meanwhile."""
    said: list[str] = []

    def take_it_away() -> None:
        said.append("began to lead")
        leases = k8s.CoordinationV1Api()
        leases.patch_namespaced_lease(name, "default", {"spec": {"holderIdentity": "thief"}})

    settings = ELECTION_CONFIG.Config(
        lock("me", name), onstarted_leading=take_it_away,
        onstopped_leading=lambda: said.append("ceased to lead"), **LEASE,
    )  # fmt: skip
    running = threading.Thread(target=ELECTION.LeaderElection(settings).run, daemon=True)
    running.start()
    running.join(WITHIN_S)
    return said


SAID = (
    names, patched, named, labels, applied, pod, deployment, old, binding, eviction, budget,
    allowing, event, newer_event, told, until_expired, record, lock, elected,
)  # fmt: skip
