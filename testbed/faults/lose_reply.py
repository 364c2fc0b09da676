"""lose_reply: an operation has taken effect, and its caller is not told. The classic ambiguity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import attrs

from testbed.errors import CONNECTION_LOST, Unavailable
from testbed.fault import Fault, Levers, Way


@attrs.frozen(kw_only=True)
class LoseReply(Fault):
    """An Operation has taken effect, but its caller gets Unavailable and cannot know that."""

    word: ClassVar[str] = "lose_reply"
    effect: ClassVar[str] = "the reply to {whose} {what} was lost"
    strikes_requests: ClassVar[bool] = True

    def ways(self, levers: Levers) -> Iterator[Way]:
        """Each request that has taken effect and is not answered yet, oldest first."""
        for request in levers.requests(served=True):
            if self.hits(request.role.name):
                message = f"{request.operation}: the connection was reset"
                error = Unavailable(message, causes=(CONNECTION_LOST,))
                yield levers.failing(request, error)
