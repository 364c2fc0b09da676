"""Cloud: to launch a machine is not idempotent, and its answer may be lost."""

from __future__ import annotations

from typing import Any

import attrs

from testbed import Actor, Cache, Client, Evidence, Operation, StoreEndpoint, World, quiescent
from testbed.faults.lose_reply import LoseReply
from testbed.objects import Map, Node, Note
from tests.never_rest.frame import WorkQueue

TIMEOUT_MS, RESYNC_MS = 5_000, 10_000


class Cloud(StoreEndpoint):
    """A provider of machines: each call of `launch` makes one, unless it repeats a token."""

    def __init__(self, store: Any, name: str = "cloud") -> None:
        super().__init__(store, name)

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Any:
        """`launch` makes a machine, which is a Node at once."""
        if operation.verb != "launch":
            return (yield from super().handle(operation, caller, now_ms))
        nodes: list[Any] = [entry.value for entry in self.store.snapshot("nodes/")]
        token = operation.options["token"]
        for node in nodes:
            if token and node.meta.labels["token"] == token:
                return node
        labels = {"token": token, "claim": operation.name}
        node = Node.of(f"m-{len(nodes)}", cpu_m=1000, labels=labels)
        node = node.with_meta(revision=self.store.next_revision)
        self.store.put(node.key, node)
        return node


@attrs.frozen
class Provisioner(Actor):
    """Launches a machine for each claim, and writes its name there. With `guard` it sends the
    claim's uid as a token."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Look at each claim when it changes, and at all every ten seconds."""
        claims, queue = Cache(client, Note), WorkQueue(client)
        queue.follow(claims)
        client.spawn("resync", queue.resync, claims, RESYNC_MS)

        async def reconcile(name: str) -> None:
            claim = claims.get(name)
            if claim is None or "machine" in claim.data:
                return
            token = Map(token=claim.meta.uid if self.guard else "")
            launch = Operation("launch", "nodes", name, options=token, endpoint="cloud")
            machine = await client.ask(launch, timeout_ms=TIMEOUT_MS)
            await client.update(claim.saying(machine=machine.meta.name))

        await queue.work(reconcile)


def one_machine_for_each_claim(see: Evidence) -> str | None:
    """Nobody pays for a machine of which nobody knows."""
    claims: list[Any] = [entry.value for entry in see.store.snapshot("notes/")]
    machines: list[Any] = [entry.value for entry in see.store.snapshot("nodes/")]
    known = {claim.data.get("machine") for claim in claims}
    for machine in machines:
        if machine.meta.name not in known:
            return f"{machine.key} is no claim's machine"
    return None


def cloud(world: World, *, guard: bool = False) -> None:
    """A launch whose answer was lost is launched again."""
    world.serve(Cloud)
    world.add(Note("a"), Note("b"))
    world.start(Provisioner("provisioner", guard))
    world.claim(quiescent(one_machine_for_each_claim))
    world.allow(LoseReply("provisioner", times_max=2))
