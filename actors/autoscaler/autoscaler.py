"""Autoscaler: the program; it makes one pass after the other (CA-1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import attrs

from actors.autoscaler.announcer import STATUS, Announcer
from actors.autoscaler.memory import AutoscalerMemory
from actors.autoscaler.pass_record import PassRecord
from actors.autoscaler.passing import Passing
from actors.autoscaler.quiet import is_quiet
from actors.autoscaler.settings import AutoscalerSettings
from actors.autoscaler.state.status import readable
from actors.autoscaler.switches import AUTOSCALER
from actors.autoscaler.telling import tell
from actors.shared.leader import RESTART_MS, Leader
from actors.shared.node_groups import CLOUD
from testbed import Actor, ApiError, Client, NotFound
from testbed.objects import ConfigMap, Map
from testbed.switches import Component, switch_texts, told


class AutoscalerLoop:
    """One life of it."""

    passing: ClassVar[type[Passing]] = Passing
    """What one pass does."""
    remembering: ClassVar[type[AutoscalerMemory]] = AutoscalerMemory
    """What it remembers. A mutant has another of either."""

    def __init__(self, actor: Autoscaler, client: Client) -> None:
        self._settings = actor.settings
        self._elects = actor.elects
        self._client = client
        self.memory = self.remembering(actor.settings, client, actor.cloud, actor.announcer(client))
        """All that it knows."""
        self.last: PassRecord | None = None
        """What the last pass came to."""
        self._next = client.alarm("next pass")
        self._ended_ms = client.elapsed()
        self._published: dict[str, dict[str, str]] = {}
        client.show("loop", self)

    def digest(self, now_ms: int) -> object:
        """The memory, beside its Caches, that its next actions depend on. Times count from now."""
        last = self.last.ago(now_ms) if self.last is not None else None
        return self.memory.digest(now_ms), last, self._published, now_ms - self._ended_ms

    async def run(self) -> None:
        """Pass after pass, for ever or as often as the settings say."""
        memory, settings = self.memory, self._settings
        if self._elects:
            await self._lead()
        await memory.listers.synced()
        if settings.passes_ms:
            await self._run_at(settings.passes_ms)
            return
        memory.listers.on_news(self._news)
        self._next.set(settings.scan_interval_ms)
        while True:
            await self._next.wait()
            before = self.last
            await self.make_pass()
            assert self.last is not None
            if not is_quiet(memory, before, self.last):
                self._next.set(settings.scan_interval_ms)

    async def _lead(self) -> None:
        """Wait until this replica leads. When it no longer does, its life ends, and a new one
        begins ten seconds later (T-21)."""
        leader = Leader(self._client, "cluster-autoscaler")
        await leader.lead()
        self._client.spawn("keep lease", self._keep, leader)

    async def _keep(self, leader: Leader) -> None:
        await leader.keep()
        self._client.exit(RESTART_MS)

    async def _run_at(self, times_ms: Sequence[int]) -> None:
        """Make passes at these times; times that are past belonged to an earlier life."""
        for at_ms in times_ms:
            if at_ms >= self._client.now():
                await self._client.sleep(at_ms - self._client.now(), "next pass")
                await self.make_pass()

    def _news(self, *states: object) -> None:
        """There is something that the last pass did not know."""
        if not isinstance(states[-1], ConfigMap):
            self.memory.scale_down.heard()
        if self._next.due_ms is None:
            period_ms = self._settings.scan_interval_ms
            ago_ms = self._client.elapsed() - self._ended_ms
            self._next.set(period_ms - ago_ms % period_ms)

    async def make_pass(self) -> None:
        """Make one pass, and tell what came of it."""
        if self.last is None:
            await self.memory.scale_down.begin()
        passing = self.passing(self.memory, self._client.now())
        await passing.run()
        tell(self._client, passing.sight, passing.record, self.last)
        self.last = passing.record
        self._client.show("pass", passing.record)
        if self._client.switches.status and passing.record.status != self._published:
            await self._publish(passing.record)
        self._ended_ms = self._client.elapsed()

    async def _publish(self, record: PassRecord) -> None:
        """Write the status ConfigMap, if it has changed. If that fails, the next pass will."""
        text = readable(record.status)
        try:
            await self._patch_or_create(text)
            self._published = record.status
        except ApiError as error:
            self._client.record("no status", error=error.reason)

    async def _patch_or_create(self, text: str) -> None:
        try:
            await self._client.patch(STATUS, {"data": {"status": text}})
        except NotFound:
            await self._client.create(attrs.evolve(STATUS, data=Map({"status": text})))


@attrs.frozen
class Autoscaler(Actor):
    """The cluster autoscaler. It asks the cloud for nodes if pods find no room, and deletes nodes
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
    elects: bool = False
    """Whether it is one of several replicas; only one at a time makes passes."""
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
