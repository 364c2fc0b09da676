"""Events in flight: what happened while a pod was tried, kept in a list, in their order.

A pod that was popped is *in flight* until its attempt has failed or its binding cycle is over. No
move can reach it. The queue of 1.26 asks only whether any move was requested in the cycle of the
pod or later (SCH-16), so nearly every event costs an attempt more. Where the feature gate
SchedulerQueueingHints is on, as in 1.28.0, it keeps a list of the events that come while any pod is
in flight, and a pod that has failed goes by those that came since it was popped: if none could help
it, it waits for one that can.

Each event counts the pods that were in flight when it came, and leaves the list when they are done.
A pod remembers the event that was last when it was popped. In 1.28.0 the events that it has seen
are those behind that one *on the list*: once that one has left, there is no way to them. The pod is
unschedulable then, whatever came, and nothing tries it for five minutes (kubernetes PR#120413). It
was mended in 1.28 by giving the pods places of their own between the events (kubernetes PR#120445).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import attrs

from actors.framework.cluster_events import is_awaited


@attrs.define(eq=False)
class Noted:
    """An event on the list."""

    number: int
    """Counted from 1, in the order in which they came."""
    event: str
    flights: int
    """How many of the pods that were in flight when it came still are; at 0 it leaves the list."""


@attrs.frozen(eq=False)
class Flight:
    """What a pod remembers from when it was popped."""

    last: Noted | None
    """The event that was last on the list then; None: the list was empty."""


class EventList:
    """The events that came while pods were in flight, and the pods that were."""

    def __init__(
        self, wakes: Mapping[str, frozenset[str]], *, forgets: bool, is_any_awaited: bool = False
    ) -> None:
        """`wakes`: which events each filter waits for; or any event, if `is_any_awaited`. It
        `forgets`, as that of 1.28.0 does."""
        self._is_any_awaited = is_any_awaited
        self._wakes = wakes
        self._forgets = forgets
        self._noted: list[Noted] = []
        self._flights: list[Flight] = []
        self._count = 0

    def begin(self) -> Flight:
        """A pod is popped."""
        flight = Flight(self._noted[-1] if self._noted else None)
        self._flights.append(flight)
        return flight

    def note(self, event: str) -> None:
        """A move was requested; while no pod is in flight there is nobody to miss it."""
        if self._flights:
            self._count += 1
            self._noted.append(Noted(self._count, event, len(self._flights)))

    def can_help(self, flight: Flight, refused_by: Collection[str]) -> bool:
        """Whether the pod of that flight has to be tried again: it failed by an error, or one of
        the events that it has seen may help it, as these filters refused it."""
        seen = [] if self._forgets and _has_left(flight.last) else self._since(flight)
        if self._is_any_awaited and seen:
            return True
        return not refused_by or any(is_awaited(e.event, refused_by, self._wakes) for e in seen)

    def end(self, flight: Flight) -> None:
        """The pod of that flight is done."""
        self._flights.remove(flight)
        for noted in self._since(flight):
            noted.flights -= 1
        self._noted = [noted for noted in self._noted if noted.flights]

    def digest(self) -> object:
        """What each pod in flight has seen, and whether it knows the way to that."""
        return [
            ([noted.event for noted in self._since(flight)], _has_left(flight.last))
            for flight in self._flights
        ]

    def _since(self, flight: Flight) -> list[Noted]:
        """The events that came since the pod was popped."""
        number = 0 if flight.last is None else flight.last.number
        return [noted for noted in self._noted if noted.number > number]


def _has_left(noted: Noted | None) -> bool:
    """Whether the event that was last has left the list."""
    return noted is not None and not noted.flights
