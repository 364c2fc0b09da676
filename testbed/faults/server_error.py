"""server_error: an Endpoint refuses, without effect: overload, a timeout, a lost right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import attrs

from testbed.errors import (
    ApiError,
    Conflict,
    Forbidden,
    InternalError,
    TooManyRequests,
    Unavailable,
)
from testbed.fault import Fault, Levers, Way
from testbed.store.store_endpoint import READS

REFUSALS: dict[int, type[ApiError]] = {
    403: Forbidden,
    409: Conflict,
    429: TooManyRequests,
    500: InternalError,
    503: Unavailable,
}


@attrs.frozen(kw_only=True)
class ServerError(Fault):
    """An Operation is refused with a code, and has no effect."""

    word: ClassVar[str] = "server_error"
    effect: ClassVar[str] = "the server failed {whose} {what}"
    strikes_requests: ClassVar[bool] = True

    code: int = attrs.field(default=500, validator=attrs.validators.in_(tuple(REFUSALS)))
    """403, 409 (only for a write: a read conflicts with nothing), 429, 500 or 503."""

    def ways(self, levers: Levers) -> Iterator[Way]:
        """Each request that has had no effect yet, oldest first."""
        for request in levers.requests(served=False):
            is_write = request.operation.verb not in READS
            if self.hits(request.role.name) and (is_write or self.code != Conflict.code):
                error = REFUSALS[self.code](f"{request.operation}: refused with {self.code}")
                yield levers.failing(request, error)
