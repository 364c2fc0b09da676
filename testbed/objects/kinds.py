"""Every kind of object, found by its name."""

from __future__ import annotations

from collections.abc import Iterator

from testbed.code.twin import is_open_twin
from testbed.errors import UnknownName
from testbed.objects.binding import Binding, Eviction
from testbed.objects.config import ConfigMap
from testbed.objects.deployment import Deployment, StatefulSet
from testbed.objects.disruption_budget import PodDisruptionBudget
from testbed.objects.event import Event
from testbed.objects.lease import Lease
from testbed.objects.meta import Object
from testbed.objects.namespace import Namespace
from testbed.objects.node import Node
from testbed.objects.note import Note
from testbed.objects.pod import Pod
from testbed.objects.priority import PriorityClass
from testbed.objects.quota import ResourceQuota
from testbed.objects.scale import Scale
from testbed.objects.workload import DaemonSet, Job, ReplicaSet, ReplicationController

KINDS: tuple[type[Object], ...] = (
    Binding,
    ConfigMap,
    DaemonSet,
    Deployment,
    Event,
    Eviction,
    Job,
    Lease,
    Namespace,
    Node,
    Note,
    Pod,
    PodDisruptionBudget,
    PriorityClass,
    ReplicaSet,
    ReplicationController,
    ResourceQuota,
    Scale,
    StatefulSet,
)
"""All kinds, sorted by name."""
_BY_KIND = {f"{cls.api_version} {cls.kind}": cls for cls in KINDS}
KINDS_BY_PLURAL = {cls.plural: cls for cls in KINDS}
"""The same by what they are called in a key and in a URL."""


def kind_of(api_version: str, kind: str) -> type[Object]:
    """The class of a kind as a manifest names it: `policy/v1`, `PodDisruptionBudget`."""
    return _found("kind of object", f"{api_version} {kind}", _BY_KIND)


def kind_by_plural(plural: str) -> type[Object]:
    """The class of a kind as a URL names it: `pods`."""
    return _found("kind of object with the plural", plural, KINDS_BY_PLURAL)


def kinds_below(cls: type[Object] = Object) -> Iterator[type[Object]]:
    """All classes of objects below that one: those of `KINDS`, and those that users have made."""
    for kind in cls.__subclasses__():
        if not is_open_twin(kind):
            yield kind
            yield from kinds_below(kind)


def _found(what: str, name: str, among: dict[str, type[Object]]) -> type[Object]:
    if name not in among:
        raise UnknownName(what, name, among, see="write it as one of these.")
    return among[name]
