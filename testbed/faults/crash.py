"""crash: a program is gone between two of its steps. Every process can be killed at any time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import ClassVar

import attrs

from testbed.fault import Fault, Levers, Way


@attrs.frozen(kw_only=True)
class Crash(Fault):
    """An actor dies; its memory is lost, what it has sent is still on its way. A glob means actors;
    an Endpoint (`store`) dies only if it is named."""

    word: ClassVar[str] = "crash"
    effect: ClassVar[str] = "{target} crashed"

    restart_after_ms: int | None = None
    """When its next life begins; None: never."""

    def ways(self, levers: Levers) -> Iterator[Way]:
        """Each actor that runs, then the Endpoint of just that name, if it answers."""
        for role in levers.actors():
            if self.hits(role.name):
                strike = partial(levers.crash, role, self.restart_after_ms)
                yield Way(role.name, strike, role.name, levers.end_of(role))
        for post in levers.endpoints():
            if post.name == self.target:
                strike = partial(levers.crash_endpoint, post, self.restart_after_ms)
                yield Way(post.name, strike, "", levers.end_of_endpoint(post))
