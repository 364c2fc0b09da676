"""Recorder: writes Events about what an actor did, as client-go does (API-49).

Events are for people. An actor does not wait until one is written, one that is lost stays lost, and
repeated ones are aggregated into a series. So no program may decide or count by them.
"""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import attrs

from testbed import Client, Operation
from testbed.objects import Event, Map, Meta, Object, Reference, reference_to
from testbed.objects.event import NORMAL, EventSeries
from testbed.objects.form import to_tree
from testbed.objects.plain import frozen
from testbed.store.endpoint import NO_OPTIONS

SERIES_MS = 6 * 60_000
"""A series is over when its Event was not noted for this long; that is checked as often."""
REFRESH_MS = 30 * 60_000
"""How often the count of a series that goes on is written, so that its Event does not expire."""
MESSAGE_MAX = 1024
CUT_SHORT = " ..."
STRATEGIC: Map[Any] = Map({"how": "strategic"})


class EventKey(NamedTuple):
    """What two Events must have in common to be one series: everything except message and time."""

    action: str
    reason: str
    involved: Reference
    related: Reference | None


@attrs.define
class Series:
    """An Event that was written, and how often it was noted."""

    event: Event
    last_ms: int
    """When it was last noted."""
    written_ms: int
    """When it was last written to the server."""
    count: int = 1


class Recorder:
    """Writes the Events of one component, for one life of an actor, which makes it in `run`.

    1. The first `note` of its kind creates an Event. 2. The second one makes it a series, by a
    patch with count 2; the message stays that of the first. 3. Later ones are only counted. The
    count is written when the series is over, and every half an hour while it goes on.

    Step 3 is looked at when anything is noted. An actor that may be silent for long spawns
    `keep_up` for it.
    """

    def __init__(self, client: Client, component: str) -> None:
        self._client = client
        self._component = component
        self._whose = f"{client.name}/{client.life}/{component}"
        """Who writes its Events, and in which of its lives."""
        self._series: dict[EventKey, Series] = {}
        self._ordinals: dict[str, int] = {}
        """By object, how many Events were created about it."""
        self._looked_ms = client.now()

    def note(
        self,
        item: Object,
        reason: str,
        message: str,
        kind: str = NORMAL,
        *,
        action: str = "",
        related: Object | None = None,
    ) -> None:
        """Record an Event about an object: what was done, or has failed."""
        now_ms = self._client.now()
        if now_ms >= self._looked_ms + SERIES_MS:
            self._look(now_ms)
        other = None if related is None else reference_to(related)
        key = EventKey(action, reason, reference_to(item), other)
        series = self._series.get(key)
        if series is None:
            event = self._event(key, message, kind, now_ms)
            self._series[key] = Series(event, now_ms, now_ms)
            self._send("create", event, event)
            return
        # A pod that cannot be scheduled is tried again every few seconds, for hours. Were each try
        # a write, Events would be most of the load. So only the second one is written at once: it
        # says that this goes on.
        series.count += 1
        series.last_ms = now_ms
        if series.count == 2:
            self._patch(series, now_ms)

    async def keep_up(self) -> None:
        """End series and write counts every six minutes; a task that never ends."""
        while True:
            await self._client.sleep(SERIES_MS, "end series of events")
            self._look(self._client.now())

    def _look(self, now_ms: int) -> None:
        """Write the counts that are due, and forget the series that are over."""
        self._looked_ms = now_ms
        for key, series in list(self._series.items()):
            is_over = series.last_ms < now_ms - SERIES_MS
            if series.count > 1 and (is_over or now_ms >= series.written_ms + REFRESH_MS):
                self._patch(series, now_ms)
            if is_over:
                del self._series[key]

    def _event(self, key: EventKey, message: str, kind: str, now_ms: int) -> Event:
        involved = key.involved
        if len(message) > MESSAGE_MAX:
            message = message[: MESSAGE_MAX - len(CUT_SHORT)] + CUT_SHORT
        return Event(
            Meta(self._name(involved), involved.namespace or "default"),
            involved=involved, reason=key.reason, message=message, type=kind, event_ms=now_ms,
            action=key.action, related=key.related, reporting_component=self._component,
            reporting_instance=self._client.name,
        )  # fmt: skip

    def _name(self, of: Reference) -> str:
        """The name of the object, and a hash of who writes the Event, in which of its lives, and
        how many it has created about that object. So no two Events get the same name."""
        which = f"{of.kind}/{of.namespace}/{of.name}/{of.uid}"
        nth = self._ordinals[which] = self._ordinals.get(which, 0) + 1
        given = f"{self._whose}/{which}/{nth}"
        return f"{of.name}.{hashlib.sha256(given.encode()).hexdigest()[:16]}"

    def _patch(self, series: Series, now_ms: int) -> None:
        series.written_ms = now_ms
        tree = to_tree(EventSeries(series.count, series.last_ms))
        self._send("patch", series.event, frozen({"series": tree}), STRATEGIC)

    def _send(self, verb: str, event: Event, body: Any, options: Map[Any] = NO_OPTIONS) -> None:
        meta = event.meta
        self._client.tell(
            Operation(verb, Event.plural, meta.name, meta.namespace, body, options=options)
        )
