"""Charged twice: two replicas elect a leader, which charges orders and marks them as done; one is
cut off between the two."""

from __future__ import annotations

import attrs

from actors.shared.leader import Leader
from testbed import Actor, ApiError, Cache, Client, Evidence, World, always
from testbed.faults.partition import Partition
from testbed.objects import Note
from tests.told.frame import Told

DONE = "done"


@attrs.frozen
class Teller(Actor):
    """Charges each order while it leads. With `guard` it marks an order before it charges it, by a
    write that is refused if another has marked it."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Stand for election, and work while it leads."""
        orders, leader = Cache(client, Note), Leader(client, "tellers", "default")
        await orders.synced()
        while True:
            await leader.lead()
            work = client.spawn("work", self._work, client, orders, leader)
            await leader.keep()
            client.record("stepped down")
            client.cancel(work)

    async def _work(self, client: Client, orders: Cache[Note], leader: Leader) -> None:
        charged: set[str] = set()
        while True:
            for order in orders.all():
                if DONE in order.data or order.meta.name in charged:
                    continue
                try:
                    if self.guard:
                        await client.update(order.saying(done=client.name))
                    client.record("charged", order=order.meta.name)
                    charged.add(order.meta.name)
                    if not self.guard:
                        await client.update(order.saying(done=client.name))
                except ApiError:
                    continue
            await client.sleep(1_000, "look")


@attrs.frozen
class Shop(Actor):
    """Orders twice."""

    async def run(self, client: Client) -> None:
        """One order early, one late."""
        for number, wait_ms in ((1, 4_500), (2, 30_000)):
            await client.sleep(wait_ms, "order")
            await client.create(Note(f"order-{number}"))


def each_order_is_charged_once(see: Evidence) -> str | None:
    """Nobody pays twice for one order."""
    charged = [each.facts["order"] for each in see.records if each.name == "charged"]
    twice = [order for order in charged if charged.count(order) > 1]
    return f"{twice[0]} was charged twice" if twice else None


def charged_twice(world: World, *, guard: bool = False) -> None:
    """A leader is cut off after it has charged an order, and the next leader charges it again."""
    world.start(Teller("blue", guard), Teller("red", guard), Shop("shop"))
    world.claim(always(each_order_is_charged_once))
    world.allow(Partition("blue", for_ms=40_000))
    world.limit(until_ms=45_000)


TRUE = Told(
    charged_twice,
    race="""
faults:
  - partition: blue
    before: blue update notes/default/order-1
    for: 40s
""",
    actor=("blue", "red"),
    about=("order-1",),
    words=("cut off", "partition", "unreachable", "could not be reached", "late", "held",
           "never came", "not arrived", "had not marked", r"data\.done"),
    never=("order-2", "stepped down"),
    said=(
        "blue charged order-1 and was cut off before its update marked that as done; red "
        "became leader and charged order-1 again."
    ),
)  # fmt: skip
