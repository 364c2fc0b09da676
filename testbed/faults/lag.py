"""lag: an actor hears late of what happened. A watch promises order, never promptness (API-50)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import ClassVar

import attrs

from testbed.fault import Fault, Levers, Way
from testbed.store.footprint import LOG, Footprint
from testbed.turns.life import Role


@attrs.frozen(kw_only=True)
class Lag(Fault):
    """For a while, Changes of one kind reach one actor late, but still in order."""

    word: ClassVar[str] = "lag"
    effect: ClassVar[str] = "{whose} watch of {what} began to lag"
    length: ClassVar[str] = "for"
    lateness: ClassVar[str] = "by_ms"

    by_ms: int = 1000
    """How late they come."""
    for_ms: int = 10_000
    """Which Changes: those committed within this time."""

    def ways(self, levers: Levers) -> Iterator[Way]:
        """Each actor and kind that it watches, by path. Its watches of one kind lag together."""
        watched: dict[tuple[Role, str], Footprint] = {}
        for stream in levers.streams():
            if self.hits(stream.life.role.name):
                log = Footprint(reads=frozenset({f"{LOG}{stream.plural}"}))
                kind = (stream.life.role, stream.plural)
                watched[kind] = watched.get(kind, log) | stream.may_end()
        for (role, plural), touched in watched.items():
            for_ms = self.lasts_ms(self.for_ms, levers.now_ms)
            strike = partial(levers.lag, role, plural, self.by_ms, for_ms)
            touches = touched | levers.memory(role)
            yield Way(f"{plural} to {role.name}", strike, role.name, touches)
