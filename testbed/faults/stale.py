"""stale: an actor comes to speak to another server. A load balancer may send each connection to
any server there is, and one may be far behind another (API-50)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import ClassVar

import attrs

from testbed.fault import Fault, Levers, Way


@attrs.frozen(kw_only=True)
class Stale(Fault):
    """An actor's watches end, and from now on it speaks to that server: if that one is behind, it
    hears of what was before what it knows. What it has sent is answered by whom it was sent to."""

    word: ClassVar[str] = "stale"
    effect: ClassVar[str] = "{whose} server was {what} from then on"

    def ways(self, levers: Levers) -> Iterator[Way]:
        """Each actor that runs, by name, and each other server before the Store, by name."""
        for role in levers.actors():
            for post in levers.endpoints() if self.hits(role.name) else ():
                if post.endpoint.is_front and post.name != levers.home_of(role):
                    strike = partial(levers.rehome, role, post)
                    target = f"{post.name} to {role.name}"
                    yield Way(target, strike, role.name, levers.end_of_streams(role))
