"""Quota charged: a server charges the quota before it looks whether the object is there already; a
create that is repeated is refused, and charged all the same (kubernetes/kubernetes#76787)."""

from __future__ import annotations

from typing import Any

import attrs

from testbed import Actor, ApiError, Client, Evidence, Operation, StoreEndpoint, World, quiescent
from testbed.errors import AlreadyExists, Forbidden, Unavailable
from testbed.faults.lose_reply import LoseReply
from testbed.objects import ConfigMap, Map, Note
from tests.told.frame import Told

HARD = 2


class QuotaServer(StoreEndpoint):
    """Charges each create of a Note to the quota. If it `refunds`, also gives back what was charged
    for a create that it refuses then."""

    def __init__(self, store: Any, refunds: bool) -> None:
        super().__init__(store, "store")
        self.refunds = refunds

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Any:
        """A create is charged, and carried out."""
        if operation.verb != "create" or operation.plural != "notes":
            return (yield from super().handle(operation, caller, now_ms))
        self._charge(1)
        try:
            return (yield from super().handle(operation, caller, now_ms))
        except AlreadyExists:
            if self.refunds:
                self._charge(-1)
            raise

    def may(self, operation: Operation, caller: str = "") -> Any:
        """A create also writes the quota."""
        may = super().may(operation, caller)
        keys = frozenset({"configmaps/default/quota", "log:configmaps"})
        return attrs.evolve(may, reads=may.reads | keys, writes=may.writes | keys)

    def _charge(self, more: int) -> None:
        entry: Any = self.store.peek("configmaps/default/quota")
        used = int(entry.value.data["used"]) + more
        if used > HARD:
            raise Forbidden(f"exceeded quota: used {used - 1}, limited to {HARD}")
        quota = attrs.evolve(entry.value, data=Map(used=str(used)))
        self.store.put(quota.key, quota.with_meta(revision=self.store.next_revision))


@attrs.frozen
class Tenant(Actor):
    """Creates its Note, and again if there was no answer."""

    at_ms: int

    async def run(self, client: Client) -> None:
        """Once."""
        await client.sleep(self.at_ms, "begin")
        while True:
            try:
                await client.create(Note(self.name))
                return
            except Unavailable:
                await client.sleep(1_000, "try again")
            except ApiError:
                return


def each_tenant_has_a_note(see: Evidence) -> str | None:
    """There is room for two, and two have asked."""
    notes = see.store.snapshot("notes/")
    return f"{HARD} may be there, and only {len(notes)} is" if len(notes) < HARD else None


def quota_charged(world: World, *, guard: bool = False) -> None:
    """A lost answer costs another tenant its place."""
    world.serve(lambda store: QuotaServer(store, guard))
    world.add(ConfigMap("quota", data=Map(used="0")))
    world.start(Tenant("amy", 1_000), Tenant("ben", 10_000))
    world.claim(quiescent(each_tenant_has_a_note))
    world.allow(LoseReply("amy"))


TRUE = Told(
    quota_charged,
    race="""
faults:
  - lose_reply: amy create notes/default/amy
""",
    actor=("amy", "ben"),
    made_so="amy",
    about=("configmaps/default/quota", "notes/default/ben", "notes/default/amy"),
    words=("no answer", "lost", "again", "repeated", "twice"),
    never=("ben.* believing",),
    said=(
        "amy got no answer to its create of notes/default/amy and repeated it, which was charged "
        "to configmaps/default/quota again though refused; so ben's create was refused, Forbidden."
    ),
)
