"""crash: a program is gone between two of its steps. Every process can be killed at any time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import ClassVar

import attrs

from testbed.fault import Fault, Levers, Way


@attrs.frozen(kw_only=True)
class Crash(Fault):
    """An actor dies. Its memory is lost; what it has sent still arrives. A glob means actors only:
    an Endpoint (`store`) dies if it is named in full."""

    word: ClassVar[str] = "crash"
    effect: ClassVar[str] = "{target} crashed"

    restart_after_ms: int | None = None
    """When its next life begins; None: never."""

    def ways(self, levers: Levers) -> Iterator[Way]:
        """Each actor that runs, then the Endpoint with exactly that name, if it is up."""
        for role in levers.actors():
            if self.hits(role.name):
                strike = partial(levers.crash, role, self.restart_after_ms)
                yield Way(role.name, strike, role.name, levers.end_of(role))
        for post in levers.endpoints():
            if post.name == self.target:
                strike = partial(levers.crash_endpoint, post, self.restart_after_ms)
                yield Way(post.name, strike, "", levers.end_of_endpoint(post))
