"""Machine: a place for an instance of a node group, and the kubelet that runs while there is one.

A World has one for each instance that a group may have. While the provider has no instance of that
name, it waits. Each instance is a life of its own: with the instance, the kubelet is gone.
"""

from __future__ import annotations

from typing import Any, ClassVar

import attrs

from actors.kubelet.containers import Report
from actors.kubelet.kubelet import Kubelet
from actors.kubelet.runtime import Runtime, runtime_of
from actors.kubelet.runtime_client import ask_runtime
from actors.shared.machines import CloudInstance, MachineWatch, make_ready, register
from actors.shared.node_groups import CLOUD
from testbed import Client, Operation
from testbed.errors import Unavailable
from testbed.store.endpoint import Handler

BOOT = "boot"
"""What a MachineRuntime knows beside the verbs of a Runtime."""


class MachineRuntime(Runtime):
    """The runtime of a machine, which is there only while its instance is.

    `boot` it with the uid of that instance: then nothing runs there, and it answers until the
    instance is gone. All that ran there is gone then, too.
    """

    marks_memory = True

    def __init__(self, store: Any, node: str, images: int = 0) -> None:
        super().__init__(store, node, images)
        self._node = node
        self._images = images
        self._uid = ""
        """The instance that was booted last."""

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        """Answer in the caller's own turn; Unavailable while it is off."""
        key = f"{CloudInstance.plural}/{self._node}"
        self._store.mark(reads=(key,), writes=(f"containers:{self.name}",))
        if operation.verb == BOOT:
            if operation.uid != self._uid:
                self._empty()
                self._uid = operation.uid
            return None
        if not self._is_on(now_ms):
            raise Unavailable(f"the machine of {self.name} is off")
        return (yield from super().handle(operation, caller, now_ms))

    def _empty(self) -> None:
        on_behind = self.on_behind
        super().__init__(self._store, self._node, self._images)
        self.on_behind = on_behind

    def _is_on(self, now_ms: int) -> bool:
        entry = self._store.peek(f"{CloudInstance.plural}/{self._node}")
        return entry is not None and entry.value.is_on(self._uid, now_ms)

    def reports(self, now_ms: int) -> list[Report]:
        """The state of all containers, for claims: none while it is off."""
        return super().reports(now_ms) if self._is_on(now_ms) else []

    def digest_at(self, now_ms: int) -> dict[str, object]:
        """What it holds, or that it is off."""
        return super().digest_at(now_ms) if self._is_on(now_ms) else {"is_on": False}


@attrs.frozen
class Machine(Kubelet):
    """A Kubelet whose node comes and goes with an instance of the provider."""

    runtime: ClassVar[type[MachineRuntime]] = MachineRuntime
    """What its containers run in."""

    cloud: str = CLOUD
    """The provider."""

    async def run(self, client: Client) -> None:
        """1. Wait for an instance to come up. 2. Register its Node. 3. Run the kubelet until the
        instance is gone. 4. Begin again."""
        watch = MachineWatch(client, self.node, self.cloud)
        client.show("machine", watch)
        await watch.begin()
        machine = await self._booted(client, watch)
        boot = Operation(BOOT, uid=machine.meta.uid, endpoint=runtime_of(self.node))
        await ask_runtime(client, boot)
        if machine.requested_ms is not None:
            await register(client, machine)
        client.spawn("kubelet", Kubelet.run, self, client)
        await self._gone(client, watch, machine)
        client.exit(again_after_ms=0)

    async def _booted(self, client: Client, watch: MachineWatch) -> CloudInstance:
        """The instance, once it has come up."""
        # No time is kept in a variable while it waits: it would make each wait like no other, and a
        # loop that goes on for ever could not be told.
        while True:
            machine = watch.machines.get(self.node)
            if machine is None or _comes_never(machine, client.elapsed()):
                await watch.wait()
            elif (machine.register_ms or 0) > client.elapsed():
                await watch.wait(machine.register_ms)
            else:
                return machine

    async def _gone(self, client: Client, watch: MachineWatch, machine: CloudInstance) -> None:
        """Wait until that instance is gone; in the meantime its Node becomes Ready."""
        is_ready = machine.requested_ms is None or machine.ready_ms is None
        while True:
            now = watch.machines.get(self.node)
            if now is None or not now.is_on(machine.meta.uid, client.elapsed()):
                return
            if not is_ready and (machine.ready_ms or 0) <= client.elapsed():
                await make_ready(client, self.node)
                is_ready = True
                continue
            dues = (now.gone_ms, None if is_ready else machine.ready_ms)
            await watch.wait(min([each for each in dues if each is not None], default=None))


def _comes_never(machine: CloudInstance, now_ms: int) -> bool:
    """Whether a machine never becomes a Node, or is gone already."""
    return machine.register_ms is None or machine.is_gone(now_ms)
