"""Event: what a component reports about an object, for people; nothing decides by it (API-49)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import attrs

from testbed.code.quick import quick
from testbed.objects.meta import Object, wire
from testbed.objects.reference import Reference

NORMAL, WARNING = "Normal", "Warning"
GROUP = "events.k8s.io/v1"
"""The newer API group, which has the same Events with other field names."""
NAMES = {
    "regarding": "involvedObject",
    "note": "message",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedCount": "count",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
}
"""The field names of that group, each with the name of the field here."""


@attrs.frozen
class EventSource:
    """The component that reports it, in the form of older components."""

    component: str = ""
    """Its name: `default-scheduler`."""
    host: str = ""
    """The node that it runs on."""


@attrs.frozen
class EventSeries:
    """How often, and when last, the same Event was repeated."""

    count: int = 0
    """How often."""
    last_ms: int | None = attrs.field(default=None, metadata=wire("lastObservedTime", "fine time"))
    """When last."""


@quick
@attrs.frozen
class Event(Object):
    """What a component reports about an object."""

    kind: ClassVar[str] = "Event"
    plural: ClassVar[str] = "events"

    involved: Reference = attrs.field(
        default=Reference(), metadata=wire("involvedObject", always=True)
    )
    """The object that it is about."""
    reason: str = ""
    """One word: `Scheduled`, `Preempted`."""
    message: str = ""
    """The same in a sentence."""
    source: EventSource = attrs.field(default=EventSource(), metadata=wire(always=True))
    """Who reports it, in the form of older components."""
    first_ms: int | None = attrs.field(default=None, metadata=wire("firstTimestamp", "time"))
    """When it first occurred."""
    last_ms: int | None = attrs.field(default=None, metadata=wire("lastTimestamp", "time"))
    """When it last occurred."""
    count: int = 0
    """How often it occurred."""
    type: str = ""
    """Normal or Warning."""
    event_ms: int | None = attrs.field(default=None, metadata=wire("eventTime", "fine time"))
    """When it first occurred, in the form of newer components."""
    series: EventSeries | None = None
    """How often it was repeated, in the form of newer components."""
    action: str = ""
    """What was done or failed: `Binding`, `Preempting`."""
    related: Reference | None = None
    """A second object that it is about."""
    reporting_component: str = attrs.field(default="", metadata=wire(always=True))
    """The component that reports it."""
    reporting_instance: str = attrs.field(default="", metadata=wire(always=True))
    """Which of several instances of that component: its name and node."""


# Nothing in a World uses these two: actors write Events of the core group. They are here for trees
# that come from, or go to, a real API server.
def from_group(tree: Mapping[str, Any]) -> dict[str, Any]:
    """The tree of an Event, from its tree in `events.k8s.io/v1`."""
    return _renamed(tree, NAMES) | {"apiVersion": Event.api_version}


def to_group(tree: Mapping[str, Any]) -> dict[str, Any]:
    """The tree of an Event in `events.k8s.io/v1`, from its tree here."""
    return _renamed(tree, {old: new for new, old in NAMES.items()}) | {"apiVersion": GROUP}


def _renamed(tree: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in tree.items()}
