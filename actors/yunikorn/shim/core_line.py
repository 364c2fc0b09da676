"""CoreLine: how the shim speaks to the core: in order, nothing lost, whatever becomes of a request.

In YuniKorn both are one program, and their channel cannot fail. Here a request can be lost like any
other, so it is sent again, and the core hears each piece of news once. A core that has forgotten
its session has died with its program: then this life ends, and the next one begins from nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import attrs

from testbed import ApiError, Client, Operation
from testbed.errors import Expired
from testbed.objects import Map

RETRY_MS, RETRY_MS_MAX = 100, 1_000_000
"""How long it waits before a request is sent again, at first and at most; it doubles."""
BEGIN_AGAIN_MS = 1_000
"""How long the program takes to start again."""


class CoreLine:
    """The channel of one life of the shim."""

    def __init__(self, client: Client, core: str) -> None:
        self._client = client
        self._core = core
        self.session = ""
        """The name of its session; empty until it has one."""
        self._news = client.queue("news", idle=True)
        self._told = 0
        """How many pieces of news the core has been told."""

    async def register(self) -> None:
        """Begin a session, with empty books."""
        self.session = await self._answer(Operation("register", "sessions", endpoint=self._core))

    def tell(self, verb: str, plural: str, key: str, body: Any = None, **options: Any) -> None:
        """Queue a piece of news; `key` is what it is about, as people name it."""
        *_, namespace, name = ("", *key.split("/"))
        within = "" if plural == "nodes" else namespace
        self._news.put(Operation(verb, plural, name, within, body, options=Map(options)))

    def mark(self, reached: Callable[[], None]) -> None:
        """Call that when all news so far is delivered."""
        self._news.put(reached)

    async def carry(self, delivered: Callable[[], None]) -> None:
        """Deliver the news, one after another; a task that never ends."""
        while True:
            item = await self._news.get()
            if isinstance(item, Operation):
                self._told += 1
                options = item.options.having(nth=self._told)
                await self._ask(attrs.evolve(item, options=options))
                delivered()
            else:
                item()

    async def ask(self, verb: str, key: str = "", **options: Any) -> Any:
        """Ask the core for something, as often as it takes."""
        return await self._ask(Operation(verb, "cycles", uid=key, options=Map(options)))

    async def _ask(self, operation: Operation) -> Any:
        options = operation.options.having(session=self.session)
        return await self._answer(attrs.evolve(operation, options=options, endpoint=self._core))

    async def _answer(self, operation: Operation) -> Any:
        retry_ms = RETRY_MS
        while True:
            try:
                return await self._client.ask(operation)
            except Expired:
                self._give_up()
            except ApiError:
                await self._client.sleep(retry_ms, f"retry {operation.verb}")
                retry_ms = min(2 * retry_ms, RETRY_MS_MAX)

    def _give_up(self) -> NoReturn:
        self._client.record("lost its core")
        self._client.exit(BEGIN_AGAIN_MS)
