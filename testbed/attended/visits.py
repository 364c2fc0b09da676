"""Visits: what programs have asked: how often, and of which kinds that are not modelled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from testbed.attended.http.exchange import HttpRequest
from testbed.attended.http.meaning import Meaning, ToServer, ToWatch
from testbed.attended.http.place import place_of
from testbed.errors import NotFound

OTHER = "other"
"""What needs no World: discovery, reviews, and what is refused at once."""


class Visits:
    """Counts requests by program and verb; what is not modelled is told once for each kind."""

    def __init__(self, on_unmodelled: Callable[[str], None]) -> None:
        self.counts: dict[str, Counter[str]] = {}
        """By program, how often it has asked by each verb."""
        self.refused: Counter[int] = Counter()
        """How often what was sent never became a request, by code."""
        self.unread: Counter[str] = Counter()
        """By program, how often an answer to it was cut because it did not read."""
        self._on_unmodelled = on_unmodelled
        self._told: set[str] = set()

    def note(self, name: str, request: HttpRequest, meant: Meaning) -> None:
        """Count one request."""
        verb = OTHER
        if isinstance(meant, ToServer | ToWatch):
            verb = meant.operation.asked
        elif kind := _unmodelled(request):
            verb = "watch" if request.asks("watch") else "list"
            if kind not in self._told:
                self._told.add(kind)
                self._on_unmodelled(kind)
        self.counts.setdefault(name, Counter())[verb] += 1

    def note_refused(self, code: int, _: str) -> None:
        """Count what never became a request."""
        self.refused[code] += 1

    def note_unread(self, name: str, *_: object) -> None:
        """Count an answer that was cut."""
        self.unread[name] += 1

    def __str__(self) -> str:
        return "; ".join(
            f"{name}: " + ", ".join(f"{verb} {times:,}" for verb, times in sorted(counts.items()))
            for name, counts in sorted(self.counts.items())
        )


def _unmodelled(request: HttpRequest) -> str:
    """The kind that the request asks for, if it is not modelled; else empty."""
    if request.method != "GET":
        return ""
    try:
        place = place_of(request.path)
    except NotFound:
        return ""
    return "" if place.cls is not None else place.resource.kind
