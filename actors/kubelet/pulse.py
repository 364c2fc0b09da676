"""Pulse: lets the Lease of a node lapse when its kubelet falls silent and writes no renewals.

A scenario in which kubelets have `heartbeat=on_change` serves a PulseSensor and starts a Pulse:
`world.serve(lambda store: PulseSensor(store, world.table.roles)); world.start(Pulse("pulse"))`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, ClassVar

import attrs

from actors.shared.node_lease import IMPLIED, LAPSED, NAMESPACE, RENEW_MS
from testbed import Actor, ApiError, Cache, Client, Operation, Selector
from testbed.errors import Invalid
from testbed.objects import Lease, Map
from testbed.store.endpoint import BETWEEN, Handler
from testbed.store.footprint import NOTHING, Footprint
from testbed.store.watch import Cursor

SENSOR = "pulse-sensor"


class PulseSensor:
    """Knows which kubelets are silent: down, or cut off from the network.

    It stands for the renewals that nobody writes: a kubelet that is silent now could not renew its
    Lease now. The verb `silent` takes names of kubelets, and returns those that are silent.
    """

    near = True
    is_front = False
    marks_memory = True

    def __init__(self, store: Any, roles: Mapping[str, Any]) -> None:
        self.name = SENSOR
        self.on_behind: Callable[[Cursor], None] | None = None
        self._store = store
        self._roles = roles
        """The actors of the World, by name."""

    def begin(self) -> None:
        """Nothing: it does not read the Store."""

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        """Answer in the caller's own turn."""
        if operation.verb != "silent":
            raise Invalid(f"{self.name} cannot {operation}: it knows silent")
        return tuple(name for name in operation.body if self._is_silent(name, now_ms))
        yield BETWEEN

    def _is_silent(self, name: str, now_ms: int) -> bool:
        role = self._roles.get(name)
        if role is None:
            return True
        self._store.mark(reads=(role.lives_key, f"wire:{name}"))
        return not role.is_up or role.cut_off_until_ms > now_ms

    def may(self, operation: Operation, caller: str = "") -> Footprint:
        """Nothing beyond the caller's own turn."""
        return NOTHING

    def restart(self) -> None:
        """Nothing: it remembers nothing."""


@attrs.frozen
class Pulse(Actor):
    """Lets the Lease of a node lapse while its kubelet is silent."""

    rank: ClassVar[int] = 2

    async def run(self, client: Client) -> None:
        """Ask every ten seconds who is silent, while any Lease is implied or has lapsed."""
        news = client.queue("leases", idle=True)

        def heard(lease: Lease) -> None:
            if _kubelet_of(lease) and not len(news):
                news.put(None)

        leases = Cache(client, Lease, Selector(namespace=NAMESPACE), reads=("meta.annotations",))
        leases.on(add=heard, update=lambda _, new: heard(new))
        while True:
            marked = {kubelet: each for each in leases.all() if (kubelet := _kubelet_of(each))}
            if not marked:
                await news.get()
            operation = Operation("silent", body=tuple(marked), endpoint=SENSOR)
            silent = frozenset(await client.ask(operation))
            for kubelet, lease in marked.items():
                if (kubelet in silent) is (IMPLIED in lease.meta.annotations):
                    await self.turn(client, kubelet, lease)
            await client.sleep(RENEW_MS, "feel the pulse")

    async def turn(self, client: Client, kubelet: str, lease: Lease) -> None:
        """Write that a Lease has lapsed, or is implied again. A write that fails is repeated at the
        next look."""
        lapses = IMPLIED in lease.meta.annotations
        now, before = (LAPSED, IMPLIED) if lapses else (IMPLIED, LAPSED)
        notes = {name: text for name, text in lease.meta.annotations.items() if name != before}
        new = lease.with_meta(annotations=Map({**notes, now: kubelet}))
        client.record("lapsed" if lapses else "resumed", node=lease.meta.name)
        spec = attrs.evolve(lease.spec, renewed_ms=client.now())
        with suppress(ApiError):
            await client.update(attrs.evolve(new, spec=spec))


def _kubelet_of(lease: Lease) -> str:
    """The kubelet that has this Lease implied or lapsed; empty: it is neither."""
    notes = lease.meta.annotations
    return notes.get(IMPLIED, "") or notes.get(LAPSED, "")
