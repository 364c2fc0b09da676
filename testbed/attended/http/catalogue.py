"""The catalogue: each resource that is served here, with the verbs that it takes."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from testbed.attended.http.reviews import REVIEWS
from testbed.attended.http.unmodelled import UNMODELLED
from testbed.objects.binding import Binding, Eviction
from testbed.objects.event import GROUP, Event
from testbed.objects.kinds import KINDS
from testbed.objects.meta import Object
from testbed.objects.note import Note
from testbed.objects.scale import Scale

READ = ("get", "list", "watch")
ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
PART_VERBS = ("get", "patch", "update")
SHORT_NAMES = {
    "configmaps": "cm", "daemonsets": "ds", "deployments": "deploy", "events": "ev",
    "namespaces": "ns", "nodes": "no", "poddisruptionbudgets": "pdb", "pods": "po",
    "priorityclasses": "pc", "replicasets": "rs", "replicationcontrollers": "rc",
    "resourcequotas": "quota", "statefulsets": "sts",
}  # fmt: skip
"""What `kubectl get` calls them for short."""
OF_ALL = (
    "daemonsets", "deployments", "jobs", "pods", "replicasets", "replicationcontrollers",
    "statefulsets",
)  # fmt: skip
"""What `kubectl get all` lists."""
SCALED = ("deployments", "replicasets", "replicationcontrollers", "statefulsets")
"""What has a scale."""
NOT_ALL_AT_ONCE = ("namespaces",)
"""What cannot be deleted but one by one."""
ELSEWHERE = (Binding, Eviction, Note, Scale)
"""Kinds that have no lists of their own: bodies of requests about a part of an object, and what
Kubernetes does not know."""


@attrs.frozen
class Subresource:
    """A part of an object that has a URL of its own."""

    name: str
    """`status`, `scale`, `binding`, `eviction`."""
    api_version: str
    """The API group and version of its body."""
    kind: str
    """The kind of its body."""
    verbs: tuple[str, ...]
    """What can be asked of it."""


@attrs.frozen
class Resource:
    """A kind, as a URL names it, and what can be asked of it."""

    api_version: str
    """Its API group and version: `apps/v1`."""
    plural: str
    """As a URL names it: `deployments`."""
    kind: str
    """As a manifest names it: `Deployment`."""
    is_namespaced: bool
    """Whether its objects are in namespaces."""
    verbs: tuple[str, ...]
    """What can be asked of it."""
    short_name: str = ""
    """What `kubectl get` calls it for short; empty: nothing."""
    is_of_all: bool = False
    """Whether `kubectl get all` lists it."""
    subresources: tuple[Subresource, ...] = ()
    """Its parts with a URL of their own."""

    @property
    def group(self) -> str:
        """Its API group; empty for the core group."""
        return self.api_version.rpartition("/")[0]

    @property
    def version(self) -> str:
        """The version of its API group: `v1`."""
        return self.api_version.rpartition("/")[2]


def _all() -> Iterator[Resource]:
    for cls in KINDS:
        if cls not in ELSEWHERE:
            yield _modelled(cls, cls.api_version)
    yield _modelled(Event, GROUP)
    yield Resource(Binding.api_version, Binding.plural, Binding.kind, True, ("create",))
    for api_version, plural, kind in REVIEWS:
        yield Resource(api_version, plural, kind, False, ("create",))
    for each in UNMODELLED:
        yield Resource(
            each.api_version, each.plural, each.kind, each.is_namespaced, READ,
            each.short_name, each.is_of_all,
        )  # fmt: skip


def _modelled(cls: type[Object], api_version: str) -> Resource:
    plural = cls.plural
    return Resource(
        api_version,
        plural,
        cls.kind,
        cls.is_namespaced,
        _verbs(plural),
        SHORT_NAMES.get(plural, ""),
        plural in OF_ALL,
        tuple(_subresources(cls)),
    )


def _verbs(plural: str) -> tuple[str, ...]:
    if plural in NOT_ALL_AT_ONCE:
        return tuple(verb for verb in ALL_VERBS if verb != "deletecollection")
    return ALL_VERBS


def _subresources(cls: type[Object]) -> Iterator[Subresource]:
    if cls.plural == "pods":
        for body in (Binding, Eviction):
            yield Subresource(body.kind.lower(), body.api_version, body.kind, ("create",))
    if cls.plural in SCALED:
        yield Subresource("scale", Scale.api_version, Scale.kind, PART_VERBS)
    if "status" in attrs.fields_dict(cls):
        yield Subresource("status", cls.api_version, cls.kind, PART_VERBS)


def _place(resource: Resource) -> tuple[str, str, str]:
    return resource.group, resource.version, resource.plural


CATALOGUE: tuple[Resource, ...] = tuple(sorted(_all(), key=_place))
"""All of them: the core group first, then by group and plural."""
