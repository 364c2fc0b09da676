"""Watching: what one actor knows of the provider's machines."""

from __future__ import annotations

from typing import Any

from actors.shared.machines.cloud_instance import CloudInstance
from actors.shared.node_groups import CLOUD
from testbed import ApiError, Client, Operation, Selector

RETRY_MS = 1000
"""How long it waits before it asks a provider again that has not answered."""
DELETED = "DELETED"


class MachineWatch:
    """The machines of a provider, or the one of a name, as one task has heard of them."""

    def __init__(self, client: Client, name: str | None = None, cloud: str = CLOUD) -> None:
        self._client = client
        self._selector = Selector(name=name)
        self._cloud = cloud
        self._stream: Any = None
        self.machines: dict[str, CloudInstance] = {}
        """By name."""

    def digest(self, now_ms: int) -> object:
        """What it has heard; times that are to come count from now."""
        return [
            (each.meta.name, each.meta.uid, each.boots, *(
                max(at_ms - now_ms, 0) if at_ms is not None else None
                for at_ms in (each.register_ms, each.ready_ms, each.gone_ms)
            ))
            for each in self.all()
        ]  # fmt: skip

    def all(self) -> list[CloudInstance]:
        """All of them, in order of their names."""
        return [self.machines[name] for name in sorted(self.machines)]

    async def begin(self) -> None:
        """List them, and watch them from then on; retry while the provider does not answer."""
        plural, selector = CloudInstance.plural, self._selector
        while True:
            try:
                listing = await self._client.ask(
                    Operation("list", plural, selector=selector, endpoint=self._cloud)
                )
                self._stream = await self._client.ask(
                    Operation(
                        "watch", plural, selector=selector, revision=listing.revision,
                        endpoint=self._cloud,
                    )
                )  # fmt: skip
            except ApiError:
                await self._client.sleep(RETRY_MS, "retry cloud")
                continue
            self.machines = {item.meta.name: item for item in listing.items}
            return

    async def wait(self, until_ms: int | None = None) -> None:
        """Wait for news of them, at the latest until that time."""
        waits = [self._stream.next()]
        if until_ms is not None:
            waits.append(self._client.sleep(until_ms - self._client.elapsed(), "machine"))
        try:
            index, delivery = await self._client.first(*waits)
        except ApiError:
            await self.begin()
            return
        if index:
            return
        machine: CloudInstance = delivery.object
        if delivery.type == DELETED:
            self.machines.pop(machine.meta.name, None)
        else:
            self.machines[machine.meta.name] = machine
