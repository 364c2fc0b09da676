"""Place: what the path of a request names: a kind, and an object or a part of one."""

from __future__ import annotations

import attrs

from testbed.attended.http.catalogue import CATALOGUE, ELSEWHERE, Resource
from testbed.errors import NotFound
from testbed.objects.event import GROUP, Event
from testbed.objects.kinds import KINDS
from testbed.objects.meta import Object
from testbed.objects.pod import Pod

RESOURCES = {(each.api_version, each.plural): each for each in CATALOGUE if "list" in each.verbs}
"""What a path can name, by API group and version and by plural."""
CLASSES: dict[tuple[str, str], type[Object]] = {
    **{(cls.api_version, cls.plural): cls for cls in KINDS if cls not in ELSEWHERE},
    (GROUP, Event.plural): Event,
}
"""What models a resource; a resource without a class has no objects here."""
NOWHERE = "the server could not find the requested resource"
PARTS_OF_A_NAMESPACE = ("status", "finalize")
"""What may stand behind the name of a namespace and is no kind in it."""


@attrs.frozen
class Place:
    """What a path names."""

    resource: Resource
    namespace: str = ""
    """Empty: all namespaces, or a kind that is in none."""
    name: str = ""
    """Empty: the whole collection."""
    subresource: str = ""

    @property
    def cls(self) -> type[Object] | None:
        """What models its kind; None: nothing does."""
        return CLASSES.get((self.resource.api_version, self.resource.plural))

    def __str__(self) -> str:
        parts = (self.resource.plural, self.namespace, self.name, self.subresource)
        return "/".join(part for part in parts if part)


def is_of_events_group(resource: Resource) -> bool:
    """Whether it is the Event of the newer group, with the other names of fields."""
    return resource.plural == Event.plural and resource.api_version == GROUP


def place_of(path: str) -> Place:
    """The place of a path: `/api/v1/namespaces/shop/pods/p/status`; NotFound if it is none."""
    place = _found([part for part in path.split("/") if part])
    if place is None:
        raise NotFound(NOWHERE)
    return place


def _found(parts: list[str]) -> Place | None:
    match parts:
        case ["api", version, *rest]:
            return _within(version, rest)
        case ["apis", group, version, *rest]:
            return _within(f"{group}/{version}", rest)
    return None


def _within(group_version: str, rest: list[str]) -> Place | None:
    match rest:
        case ["namespaces", namespace, "bindings"] if group_version == "v1":
            # An older way to bind: the body alone names the pod.
            pods = RESOURCES["v1", Pod.plural]
            return Place(pods, namespace, "", "binding")
        case ["namespaces", _, part] if part in PARTS_OF_A_NAMESPACE:
            return _at(group_version, "namespaces", rest[1:], "")
        case ["namespaces", namespace, plural, *names]:
            return _at(group_version, plural, names, namespace)
        case [plural, *names]:
            return _at(group_version, plural, names, "")
    return None


def _at(group_version: str, plural: str, names: list[str], namespace: str) -> Place | None:
    resource = RESOURCES.get((group_version, plural))
    if resource is None or len(names) > 2:
        return None
    # An object of a namespaced kind is named with its namespace, and one of another kind without.
    if resource.is_namespaced != bool(namespace) and (namespace or names):
        return None
    name, subresource = (*names, "", "")[:2]
    return Place(resource, namespace, name, subresource)
