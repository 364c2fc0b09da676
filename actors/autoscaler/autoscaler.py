"""Autoscaler: the program; it makes one pass after the other (CA-1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import attrs

from actors.autoscaler.announcer import STATUS, Announcer
from actors.autoscaler.memory import AutoscalerMemory
from actors.autoscaler.pass_record import PassRecord
from actors.autoscaler.passing import Passing
from actors.autoscaler.settings import AutoscalerSettings
from actors.autoscaler.state.status import readable
from actors.autoscaler.switches import AUTOSCALER
from actors.shared.node_groups import CLOUD
from testbed import Actor, ApiError, Client, NotFound
from testbed.objects import ConfigMap, Map
from testbed.switches import Component, switch_texts, told


class AutoscalerLoop:
    """One life of it."""

    def __init__(self, actor: Autoscaler, client: Client) -> None:
        self._settings = actor.settings
        self._client = client
        self.memory = AutoscalerMemory(actor.settings, client, actor.cloud, actor.announcer(client))
        """All that it knows."""
        self.last: PassRecord | None = None
        """What the last pass came to."""
        client.show("loop", self)

    def digest(self, now_ms: int) -> object:
        """The memory, beside its Caches, that its next actions depend on. Times count from now."""
        return self.memory.digest(now_ms)

    async def run(self) -> None:
        """Pass after pass, for ever or as often as the settings say."""
        await self.memory.listers.synced()
        is_first = True
        for wait_ms in self._waits():
            await self._client.sleep(wait_ms, "next pass")
            if is_first:
                await self.memory.scale_down.begin()
                is_first = False
            await self._pass()

    def _waits(self) -> Iterator[int]:
        """How long to wait before each pass."""
        if not self._settings.passes_ms:
            while True:
                yield self._settings.scan_interval_ms
        for at_ms in self._settings.passes_ms:
            if at_ms >= self._client.now():
                yield at_ms - self._client.now()

    async def _pass(self) -> None:
        passing = Passing(self.memory, self._client.now())
        await passing.run()
        self.last = passing.record
        self._client.show("pass", passing.record)
        if self._client.switches.status and passing.record.status:
            await self._publish(passing.record)

    async def _publish(self, record: PassRecord) -> None:
        """Write the status ConfigMap. If that fails, the next pass will."""
        now_s = self._client.now() // 1000
        text = f"Cluster-autoscaler status at {now_s} s:\n{readable(record.status)}"
        item = attrs.evolve(STATUS, data=Map({"status": text}))
        try:
            await self._client.patch(STATUS, {"data": {"status": text}})
        except NotFound:
            await self._create(item)
        except ApiError as error:
            self._client.record("no status", error=error.reason)

    async def _create(self, item: ConfigMap) -> None:
        try:
            await self._client.create(item)
        except ApiError as error:
            self._client.record("no status", error=error.reason)


@attrs.frozen
class Autoscaler(Actor):
    """The cluster autoscaler. It asks the cloud for nodes if pods find no room, and lets nodes go
    that it finds unneeded."""

    rank: ClassVar[int] = 5
    component: ClassVar[Component] = AUTOSCALER
    loop: ClassVar[type[AutoscalerLoop]] = AutoscalerLoop
    """What one life of it does."""
    announcer: ClassVar[type[Announcer]] = Announcer
    """What writes its Events."""

    name: str = "autoscaler"
    settings: AutoscalerSettings = attrs.field(factory=AutoscalerSettings)
    """Its options."""
    cloud: str = CLOUD
    """The provider that it asks."""
    profile: str = attrs.field(default="", kw_only=True)
    """Its bundle of switches: `k8s-1.26`, which is the default, `k8s-modern` or `seed`."""
    switches: Map[str] = attrs.field(factory=Map, converter=switch_texts, kw_only=True)
    """The switches that differ from the profile: `{"expander": "least-waste"}`."""

    @property
    def told(self) -> Mapping[str, str]:
        return told(self.profile, self.switches)

    async def run(self, client: Client) -> None:
        """Make passes until it crashes."""
        await self.loop(self, client).run()
