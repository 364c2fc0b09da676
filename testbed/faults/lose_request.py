"""lose_request: a request never arrives. A connection may be reset before it is sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import attrs

from testbed.errors import CONNECTION_LOST, Unavailable
from testbed.fault import Fault, Levers, Way


@attrs.frozen(kw_only=True)
class LoseRequest(Fault):
    """An Operation has no effect. Its caller gets Unavailable, as if the reply were lost."""

    word: ClassVar[str] = "lose_request"
    effect: ClassVar[str] = "{whose} {what} was lost on its way"
    strikes_requests: ClassVar[bool] = True

    def ways(self, levers: Levers) -> Iterator[Way]:
        """Each request that has had no effect yet, oldest first."""
        for request in levers.requests(served=False):
            if self.hits(request.role.name):
                message = f"{request.operation}: the connection was reset"
                error = Unavailable(message, causes=(CONNECTION_LOST,))
                yield levers.failing(request, error)
