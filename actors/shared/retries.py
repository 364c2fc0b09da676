"""Retries: a request that is sent again until the answer is one that another try cannot change.

Kubernetes' own programs do this by a queue: what failed is requeued, whatever the error says, and
a little later. Those who act from outside, and small programs, repeat the request itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from testbed import ApiError, Client, NotFound
from testbed.errors import AlreadyExists, BadRequest, Expired, Invalid
from testbed.objects import Object

FOR_GOOD = (AlreadyExists, BadRequest, Expired, Invalid, NotFound)
"""The answers that stay the same, however often one asks. A right or a quota may come later."""
RETRY_MS, RETRY_MS_MAX = 1000, 1_000_000
"""The first and the longest time between two tries; it doubles each time."""
T = TypeVar("T")


async def until_told(
    client: Client, send: Callable[[], Awaitable[T]], *, why: str, retry_ms: int = RETRY_MS
) -> T:
    """Send a request until it succeeds; raises the answer if it is one that stays the same.

    A try without an answer may have taken effect. So `send` is one that may do so twice, or one
    that is refused then, as a create is.
    """
    while True:
        try:
            return await send()
        except FOR_GOOD:
            raise
        except ApiError as error:
            await client.sleep(max(retry_ms, 1000 * error.retry_after_s), why)
            retry_ms = min(2 * retry_ms, RETRY_MS_MAX)


async def make(client: Client, item: Object, *, retry_ms: int = RETRY_MS) -> None:
    """Create an object of that name until it is known to exist, or refused for good; an earlier
    try, or an earlier life, may have created it."""
    try:
        await until_told(
            client, lambda: client.create(item), why=f"retry {item.key}", retry_ms=retry_ms
        )
    except AlreadyExists:
        return
    except FOR_GOOD as error:
        client.record("gave up", item=item.key, error=error.reason)
