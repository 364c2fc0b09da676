"""lose_reply: an operation has taken effect, and its caller is not told. The classic ambiguity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import attrs

from testbed.errors import CONNECTION_LOST, Unavailable
from testbed.fault import Fault, Levers, Way


@attrs.frozen(kw_only=True)
class LoseReply(Fault):
    """What was done is done; its caller gets Unavailable, as if it might not be."""

    word: ClassVar[str] = "lose_reply"
    effect: ClassVar[str] = "the reply to {whose} {what} was lost"
    strikes_requests: ClassVar[bool] = True

    def ways(self, levers: Levers) -> Iterator[Way]:
        """Each request whose answer is on its way, oldest first."""
        for request in levers.requests(served=True):
            if self.hits(request.role.name):
                said = f"{request.operation}: the connection was reset"
                error = Unavailable(said, causes=(CONNECTION_LOST,))
                yield levers.failing(request, error)
