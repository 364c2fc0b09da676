"""restart: a program that crashed is started again. Something always does that, sooner or later."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import ClassVar

import attrs

from testbed.fault import Fault, Levers, Way
from testbed.store.footprint import Footprint


@attrs.frozen(kw_only=True)
class Restart(Fault):
    """An actor or an Endpoint that is down begins its next life, with empty memory."""

    word: ClassVar[str] = "restart"
    effect: ClassVar[str] = "{target} was started again"

    def ways(self, levers: Levers) -> Iterator[Way]:
        """Each actor that is down, then each Endpoint that is down."""
        for role in levers.actors(up=False):
            if self.hits(role.name) and not role.is_starting:
                yield Way(role.name, partial(levers.start, role), role.name, levers.memory(role))
        for post in levers.endpoints(up=False):
            if self.hits(post.name):
                touches = Footprint(writes=frozenset({post.key}))
                yield Way(post.name, partial(levers.restart_endpoint, post), "", touches)
