"""stale: an actor is connected to another server. A load balancer may send each connection to any
server, and one server may be far behind another (API-50)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import ClassVar

import attrs

from testbed.fault import Fault, Levers, Way


@attrs.frozen(kw_only=True)
class Stale(Fault):
    """An actor's watches end, and from now on it sends to another server. If that server is behind,
    the actor is told of things older than what it knows. What it has sent already is answered by
    the server it was sent to."""

    word: ClassVar[str] = "stale"
    effect: ClassVar[str] = "{whose} server was {what} from then on"

    def ways(self, levers: Levers) -> Iterator[Way]:
        """For each actor that runs, by name: each other API server, by name."""
        for role in levers.actors():
            for post in levers.endpoints() if self.hits(role.name) else ():
                if post.endpoint.is_front and post.name != levers.home_of(role):
                    strike = partial(levers.rehome, role, post)
                    target = f"{post.name} to {role.name}"
                    yield Way(target, strike, role.name, levers.end_of_streams(role))
