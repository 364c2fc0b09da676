"""YuniKornShim: the scheduler as Kubernetes sees it; it drives its core and does what that decides.

Three tasks share what one life knows. One delivers news to the core; one asks for scheduling
cycles; one fetches the core's messages and does what they ask for.
"""

from __future__ import annotations

from typing import ClassVar

import attrs

from actors.yunikorn.core.core import CORE
from actors.yunikorn.messages import CycleResult
from actors.yunikorn.shim.callbacks import Callbacks
from actors.yunikorn.shim.context import ShimContext
from actors.yunikorn.shim.core_line import CoreLine
from testbed import Actor, Client


class ShimLife:
    """One life of the shim."""

    contexts: ClassVar[type[ShimContext]] = ShimContext
    """What it knows and tells; a mutant has another."""

    def __init__(self, settings: YuniKornShim, client: Client) -> None:
        self._client = client
        self._line = CoreLine(client, settings.core)
        self.context = self.contexts(client, self._line)
        self._callbacks = settings.callbacks(client, self.context, settings.name)
        self._due = client.alarm("cycle")
        self._calls = client.queue("calls", idle=True)
        self._is_ready = False
        """Whether the core has heard all that there was at the start."""
        self._reserved: tuple[str, ...] = ()
        """The pods whose asks had reserved a node after the last cycle."""
        self._workflows: dict[str, None] = {}
        """The asks for which a preemption workflow runs."""
        self._announced = 0
        """How many messages of the core it knows of."""
        self._got = 0
        """How many of them it has done."""
        client.show("shim", self)

    @property
    def session(self) -> str:
        """The name of its session with the core, for claims."""
        return self._line.session

    async def run(self) -> None:
        """Register, tell the core all there is, and go on until it crashes."""
        await self.context.synced()
        await self._line.register()
        self.context.begin(self._ready)
        self._client.spawn("news", self._line.carry, self._news_delivered)
        self._client.spawn("callbacks", self._call)
        await self._schedule()

    def _ready(self) -> None:
        self._is_ready = True
        self._due.set(0)

    def _news_delivered(self) -> None:
        if self._is_ready:
            self._due.set(0)

    async def _schedule(self) -> None:
        """Ask for a cycle when there is news, or when the last one said that one is due (YK-3)."""
        while True:
            await self._due.wait()
            result: CycleResult = await self._line.ask("cycle", first=self._first())
            self._reserved = result.reserved
            self._heed(result)
            for key in result.workflows:
                if key not in self._workflows:
                    self._workflows[key] = None
                    self._client.spawn("preempt", self._preempt, key)
            if result.is_active:
                self._due.set(0)
            elif result.again_in_ms is not None:
                self._set_at_most(result.again_in_ms)

    def _first(self) -> tuple[str, ...]:
        """Which reserved ask is looked at first: YuniKorn walks a map, in any order (GEN-6)."""
        if len(self._reserved) < 2:
            return ()
        return (self._client.pick("reserved ask", self._reserved),)

    def _set_at_most(self, in_ms: int) -> None:
        """Let the next cycle come by then. News may have set an earlier time."""
        due_ms = self._due.due_ms
        if due_ms is None or due_ms > self._client.elapsed() + in_ms:
            self._due.set(in_ms)

    async def _preempt(self, key: str) -> None:
        """A preemption workflow of the design document, beside the cycles (YK-11)."""
        result = await self._line.ask("preempt", key)
        del self._workflows[key]
        self._heed(result)

    def _heed(self, result: CycleResult) -> None:
        """Have messages fetched if there are new ones."""
        if result.told > self._announced:
            self._announced = result.told
            self._calls.put(None)

    async def _call(self) -> None:
        """Fetch the core's messages, and do what they ask for, in their order (YK-4)."""
        while True:
            await self._calls.get()
            for message in await self._line.ask("take", got=self._got):
                await self._callbacks.call(message)
                self._got += 1

    def digest(self, now_ms: int) -> object:
        """The memory, beside its Caches, that its next actions depend on."""
        waits = list(self._workflows), self._announced - self._got
        return self.context.digest(), self._is_ready, self._reserved, waits


@attrs.frozen
class YuniKornShim(Actor):
    """YuniKorn beside the other programs of a cluster: it schedules the pods that name it."""

    rank: ClassVar[int] = 4
    life: ClassVar[type[ShimLife]] = ShimLife
    callbacks: ClassVar[type[Callbacks]] = Callbacks
    """What it does for its core; a mutant has another."""

    name: str = "yunikorn"
    core: str = CORE
    """The name of its core."""

    async def run(self, client: Client) -> None:
        """Schedule until it crashes."""
        await self.life(self, client).run()
