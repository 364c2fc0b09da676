"""Recorder: what an actor says of what it did, as Kubernetes' client records it: Events.

They are for people. Nobody waits for one to be written, one that is lost is lost, and what is said
again is folded into what was said before; so nothing may be decided, or counted, by them (API-49).
"""

from __future__ import annotations

import hashlib
from typing import Any

import attrs

from testbed import Client, Operation
from testbed.objects import Event, Map, Meta, Object, Reference, reference_to
from testbed.objects.event import NORMAL, EventSeries
from testbed.objects.form import to_tree
from testbed.objects.plain import frozen

SERIES_MS = 6 * 60_000
"""How long nothing more must be said until a series is over; and how often that is looked at."""
REFRESH_MS = 30 * 60_000
"""How often the count of a series that goes on is written, so that it does not expire."""
MESSAGE_MAX = 1024
CUT_SHORT = " ..."


@attrs.frozen
class EventKey:
    """What makes two Events one: everything but their text, and when."""

    action: str
    reason: str
    involved: Reference
    related: Reference | None


@attrs.define
class Said:
    """An Event that was written, and how often the same was said since."""

    event: Event
    last_ms: int
    told_ms: int
    """When the server was last told of it."""
    times: int = 1


class Recorder:
    """Says what one life of an actor does, in the name of its component. Made in `run`.

    1. What was not said yet becomes an Event. 2. Said again, it becomes a series: one patch, with
    count 2 and the old text. 3. From then on it is only counted; the count is written when the
    series is over, or has gone on for half an hour. That is looked at when something is said; who
    wants it looked at without that spawns `keep_up`.
    """

    def __init__(self, client: Client, component: str) -> None:
        self._client = client
        self._component = component
        self._said: dict[EventKey, Said] = {}
        self._ordinals: dict[str, int] = {}
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
        """Say of an object, as it is known here, what was done or has failed."""
        now_ms = self._client.now()
        if now_ms >= self._looked_ms + SERIES_MS:
            self._look(now_ms)
        other = None if related is None else reference_to(related)
        matter = EventKey(action, reason, reference_to(item), other)
        said = self._said.get(matter)
        if said is None:
            event = self._event(matter, message, kind, now_ms)
            self._said[matter] = Said(event, now_ms, now_ms)
            self._tell("create", event, event)
            return
        said.times += 1
        said.last_ms = now_ms
        if said.times == 2:
            self._patch(said, now_ms)

    async def keep_up(self) -> None:
        """Look every six minutes at what is over; a task that never ends."""
        while True:
            await self._client.sleep(SERIES_MS, "end series of events")
            self._look(self._client.now())

    def _look(self, now_ms: int) -> None:
        """Forget what has not been said for long, and write the counts that are due."""
        self._looked_ms = now_ms
        for matter, said in list(self._said.items()):
            is_over = said.last_ms < now_ms - SERIES_MS
            if said.times > 1 and (is_over or now_ms >= said.told_ms + REFRESH_MS):
                self._patch(said, now_ms)
            if is_over:
                del self._said[matter]

    def _event(self, matter: EventKey, message: str, kind: str, now_ms: int) -> Event:
        involved = matter.involved
        if len(message) > MESSAGE_MAX:
            message = message[: MESSAGE_MAX - len(CUT_SHORT)] + CUT_SHORT
        return Event(
            Meta(self._name(involved), involved.namespace or "default"),
            involved=involved, reason=matter.reason, message=message, type=kind, event_ms=now_ms,
            action=matter.action, related=matter.related, reporting_component=self._component,
            reporting_instance=self._client.name,
        )  # fmt: skip

    def _name(self, of: Reference) -> str:
        """The name of the object and a number of its own: that of whoever says it, in which of its
        lives, and how often it has said something of that object."""
        which = f"{of.kind}/{of.namespace}/{of.name}/{of.uid}"
        nth = self._ordinals[which] = self._ordinals.get(which, 0) + 1
        client = self._client
        given = f"{client.name}/{client.life}/{self._component}/{which}/{nth}"
        return f"{of.name}.{hashlib.sha256(given.encode()).hexdigest()[:16]}"

    def _patch(self, said: Said, now_ms: int) -> None:
        said.told_ms = now_ms
        series = to_tree(EventSeries(said.times, said.last_ms))
        self._tell("patch", said.event, frozen({"series": series}), Map({"how": "strategic"}))

    def _tell(self, verb: str, event: Event, body: Any, options: Map[Any] | None = None) -> None:
        meta = event.meta
        self._client.tell(
            Operation(verb, Event.plural, meta.name, meta.namespace, body, options=options or Map())
        )
