"""CloudController: keeps the Nodes of a cluster in step with the machines of its provider.

1. When a machine is gone, it deletes the Node, as the cloud node lifecycle controller does, and
   the pods, which in Kubernetes the pod garbage collector deletes later. Here they go at once,
   since the name of the machine may be given again.
2. It draws how each new machine comes up, and registers those that have no kubelet.
"""

from __future__ import annotations

from typing import ClassVar

import attrs

from actors.shared.machines.cloud_instance import CloudInstance
from actors.shared.machines.registering import make_ready, register, take_away
from actors.shared.machines.watching import MachineWatch
from actors.shared.node_groups import CLOUD
from actors.shared.retries import until_told
from actors.shared.settings import names
from testbed import Actor, Client, NotFound, Operation


class CloudControllerLoop:
    """One life of it: which machines it has seen come up."""

    def __init__(self, settings: CloudController, client: Client) -> None:
        self._settings = settings
        self._client = client
        self._watch = MachineWatch(client, cloud=settings.cloud)
        self._registered: dict[str, None] = {}
        self._ready: dict[str, None] = {}

    def digest(self, now_ms: int) -> object:
        """What it remembers."""
        return list(self._registered), list(self._ready), self._watch.digest(now_ms)

    async def run(self) -> None:
        """Do what is due, and wait for news or for what is due next."""
        self._client.show("cloud", self)
        await self._watch.begin()
        while True:
            for machine in self._watch.all():
                await self._attend(machine)
            due_ms = [each for each in map(self._due_ms, self._watch.all()) if each is not None]
            await self._watch.wait(min(due_ms, default=None))

    def _due_ms(self, machine: CloudInstance) -> int | None:
        """When something is next due for a machine; None: not before there is news of it."""
        uid, dues = machine.meta.uid, [machine.gone_ms]
        if self._is_bare(machine):
            dues.append(None if uid in self._registered else machine.register_ms)
            dues.append(None if uid in self._ready else machine.ready_ms)
        return min([each for each in dues if each is not None], default=None)

    def _is_bare(self, machine: CloudInstance) -> bool:
        return machine.requested_ms is not None and machine.group in self._settings.bare

    async def _attend(self, machine: CloudInstance) -> None:
        """Do what is due for a machine now."""
        now_ms, uid = self._client.elapsed(), machine.meta.uid
        if machine.is_gone(now_ms):
            await self.clear(machine)
        elif len(machine.boots) > 1:
            await self.draw(machine)
        elif self._is_bare(machine):
            if uid not in self._registered and _is_due(machine.register_ms, now_ms):
                self._registered[uid] = None
                await register(self._client, machine)
            if uid not in self._ready and _is_due(machine.ready_ms, now_ms):
                self._ready[uid] = None
                await make_ready(self._client, machine.meta.name)

    async def draw(self, machine: CloudInstance) -> None:
        """Draw how a machine comes up, and tell the provider."""
        boots = list(range(len(machine.boots)))
        index = self._client.pick(f"boot of {machine.meta.name}", boots)
        await self.tell(machine, "draw", index)

    async def clear(self, machine: CloudInstance) -> None:
        """Delete all that is left of a machine: its Node and its pods, and then its name."""
        uid, name = machine.meta.uid, machine.meta.name
        await take_away(self._client, name)
        await self.tell(machine, "forget")
        self._registered.pop(uid, None)
        self._ready.pop(uid, None)
        self._watch.machines.pop(name, None)

    async def tell(self, machine: CloudInstance, verb: str, body: int | None = None) -> None:
        """Tell the provider something about a machine, unless it has forgotten that machine."""
        operation = Operation(
            verb, machine.plural, machine.meta.name, body=body, endpoint=self._settings.cloud
        )
        try:
            await until_told(
                self._client, lambda: self._client.ask(operation), why=f"retry {operation}"
            )
        except NotFound:
            return


@attrs.frozen
class CloudController(Actor):
    """Keeps the Nodes of a cluster in step with the machines of a provider."""

    rank: ClassVar[int] = 6
    loop: ClassVar[type[CloudControllerLoop]] = CloudControllerLoop
    """What one life of it does; a mutant has another."""

    name: str = "cloud-controller"
    bare: tuple[str, ...] = attrs.field(default=(), validator=names)
    """The groups of machines without a kubelet: it registers their Nodes itself."""
    cloud: str = CLOUD
    """The provider."""

    async def run(self, client: Client) -> None:
        """Do for each machine what is due, and wait for the next thing that will be."""
        await self.loop(self, client).run()


def _is_due(at_ms: int | None, now_ms: int) -> bool:
    return at_ms is not None and at_ms <= now_ms
