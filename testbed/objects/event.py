"""Event: what a component says of an object, for people; nothing decides by it (API-49)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import attrs

from testbed.objects.meta import Object, wire
from testbed.objects.reference import Reference

NORMAL, WARNING = "Normal", "Warning"
GROUP = "events.k8s.io/v1"
"""The group that has the same Events under other names."""
NAMES = {
    "regarding": "involvedObject",
    "note": "message",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedCount": "count",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
}
"""Those other names, and by which of an Event's they go here."""


@attrs.frozen
class EventSource:
    """Who says it, as older components do."""

    component: str = ""
    host: str = ""


@attrs.frozen
class EventSeries:
    """That it was said again and again."""

    count: int = 0
    last_ms: int | None = attrs.field(default=None, metadata=wire("lastObservedTime", "fine time"))


@attrs.frozen
class Event(Object):
    """What a component says of an object."""

    kind: ClassVar[str] = "Event"
    plural: ClassVar[str] = "events"

    involved: Reference = attrs.field(
        default=Reference(), metadata=wire("involvedObject", always=True)
    )
    """Of which object."""
    reason: str = ""
    """In one word: `Scheduled`, `Preempted`."""
    message: str = ""
    source: EventSource = attrs.field(default=EventSource(), metadata=wire(always=True))
    first_ms: int | None = attrs.field(default=None, metadata=wire("firstTimestamp", "time"))
    last_ms: int | None = attrs.field(default=None, metadata=wire("lastTimestamp", "time"))
    count: int = 0
    """How often it was said."""
    type: str = ""
    """Normal or Warning."""
    event_ms: int | None = attrs.field(default=None, metadata=wire("eventTime", "fine time"))
    """When it was first said, as newer components say it."""
    series: EventSeries | None = None
    action: str = ""
    """What was done, or failed: `Binding`, `Preempting`."""
    related: Reference | None = None
    """Another object that it is about."""
    reporting_component: str = attrs.field(default="", metadata=wire(always=True))
    """Who says it."""
    reporting_instance: str = attrs.field(default="", metadata=wire(always=True))


def from_group(tree: Mapping[str, Any]) -> dict[str, Any]:
    """The tree of an Event, of one as `events.k8s.io/v1` writes it."""
    return _renamed(tree, NAMES) | {"apiVersion": Event.api_version}


def to_group(tree: Mapping[str, Any]) -> dict[str, Any]:
    """The tree that `events.k8s.io/v1` writes of an Event."""
    return _renamed(tree, {old: new for new, old in NAMES.items()}) | {"apiVersion": GROUP}


def _renamed(tree: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in tree.items()}
