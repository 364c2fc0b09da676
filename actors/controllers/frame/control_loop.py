"""ControlLoop: one life of a level-triggered controller (CTL-1).

1. Its Caches list. Their handlers add the keys of what is to be looked at to a Workqueue.
2. A worker takes a key and syncs it: it compares what is there with what is wanted, by its Caches
   alone, and closes the gap through the API.
3. A sync that fails is repeated after a backoff.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

import attrs

from actors.controllers.switches import CONTROLLERS
from actors.shared.recorder import Recorder
from actors.shared.workqueue import Workqueue
from testbed import Actor, ApiError, Cache, Client, Selector
from testbed.objects import Map, Object
from testbed.objects.event import NORMAL
from testbed.objects.meta import evolved
from testbed.switches import Component, switch_texts, told

O = TypeVar("O", bound=Object)  # noqa: E741
EVERYTHING = Selector()


class ControlLoop:
    """One life of a controller. A class below makes its Caches in `__init__`, with `cache`, and
    says in `sync` what it does about a key."""

    def __init__(self, settings: KeyedController, client: Client) -> None:
        self.settings = settings
        self.client = client
        self.todo = Workqueue(client)
        """The keys that are to be synced."""
        self._recorder = Recorder(client, settings.name)
        self._caches: list[Cache[Any]] = []
        client.show("loop", self)

    def cache(
        self, kind: type[O], selector: Selector = EVERYTHING, *, reads: tuple[str, ...] | None
    ) -> Cache[O]:
        """A Cache that the workers wait for before they begin."""
        made = Cache(self.client, kind, selector, reads=reads)
        self._caches.append(made)
        return made

    def want(self, *states: Object) -> None:
        """Have an object synced. It can be the handler for `add` and for `update`, which gives the
        old state, too, and the new one last."""
        self.todo.add(states[-1].key)

    def note(self, item: Object, reason: str, message: str, kind: str = NORMAL) -> None:
        """Write an Event about an object, unless Events are switched off."""
        if self.client.switches.events:
            self._recorder.note(item, reason, message, kind)

    async def run(self) -> None:
        """Sync keys for ever."""
        await self.synced()
        for number in range(2, self.settings.workers + 1):
            self.client.spawn(f"worker-{number}", self._work)
        await self._work()

    async def synced(self) -> None:
        """Wait until all Caches have listed. A loop with tasks of its own lets each wait for it."""
        for cache in self._caches:
            await cache.synced()

    async def _work(self) -> None:
        while True:
            key, has_failed = await self.todo.take(), False
            try:
                await self.sync(key)
            except ApiError as error:
                self.client.record("failed", item=key, error=error.reason)
                has_failed = True
            self.todo.done(key, has_failed=has_failed)

    async def update_status(self, item: O, status: Any) -> O:
        """Write a status. If that fails, get the object and write the same status once more, as
        Kubernetes does: who else writes to that object only moves its revision."""
        new = evolved(item, status=status)
        try:
            return await self.client.update(new, subresource="status")
        except ApiError:
            meta = item.meta
            now = await self.client.get(type(item), meta.name, meta.namespace)
            new = evolved(now, status=status)
            return await self.client.update(new, subresource="status")

    async def sync(self, key: str) -> None:
        """Close the gap for one key, or raise an ApiError to be asked again. Only one worker at a
        time syncs the same key."""
        raise NotImplementedError(f"{type(self).__name__} has no `sync`")

    def digest(self, now_ms: int) -> object:
        """The memory, beside its Caches, that its next actions depend on. Times count from now."""
        return self.todo.digest()


@attrs.frozen
class KeyedController(Actor):
    """The settings of a controller that syncs keys; what it does is in its `loop`."""

    rank: ClassVar[int] = 3
    component: ClassVar[Component] = CONTROLLERS
    loop: ClassVar[type[ControlLoop]] = ControlLoop
    """What one life of it does."""

    profile: str = attrs.field(default="", kw_only=True)
    """Its bundle of switches: `k8s-1.26`, which is the default, `k8s-modern` or `seed`."""
    switches: Map[str] = attrs.field(factory=Map, converter=switch_texts, kw_only=True)
    """The switches that differ from the profile: `{"expectations": "off"}`."""
    workers: int = attrs.field(default=1, kw_only=True)
    """How many keys it syncs at once; Kubernetes has five."""

    @property
    def told(self) -> Mapping[str, str]:
        return told(self.profile, self.switches)

    async def run(self, client: Client) -> None:
        """Control until it crashes."""
        await self.loop(self, client).run()


def at_key(cache: Cache[O], key: str) -> O | None:
    """The object of that key in a Cache, or None."""
    *_, namespace, name = key.split("/")
    return cache.get(name, namespace)
