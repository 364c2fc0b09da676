"""Old coupon: a shop takes coupons until ten seconds past, by a clock that is set back; a customer
comes too late, and gets something for it."""

from __future__ import annotations

import attrs

from testbed import Actor, Cache, Client, Evidence, World, always
from testbed.faults.clock_step import ClockStep
from testbed.objects import Note
from tests.told.frame import Told

ENDS_MS = 10_000


@attrs.frozen
class Shop(Actor):
    """Takes or refuses each coupon. With `guard` it measures by a clock that is never set."""

    guard: bool

    async def run(self, client: Client) -> None:
        """As they come."""
        coupons, news = Cache(client, Note), client.queue("news", idle=True)
        coupons.on(add=news.put)
        while True:
            coupon = await news.get()
            time_ms = client.elapsed() if self.guard else client.now()
            taken = "yes" if time_ms <= ENDS_MS else "no"
            await client.update(coupon.saying(taken=taken))


@attrs.frozen
class Customer(Actor):
    """Comes with a coupon."""

    at_ms: int

    async def run(self, client: Client) -> None:
        """Once."""
        await client.sleep(self.at_ms, "come")
        await client.create(Note(self.name))


def late_coupons_are_refused(see: Evidence) -> str | None:
    """After ten seconds no coupon is taken."""
    for change in see.changes:
        coupon = change.after
        if see.now_ms > ENDS_MS and isinstance(coupon, Note) and coupon.data.get("taken") == "yes":
            return f"a coupon is taken at {see.now_ms} ms"
    return None


def old_coupon(world: World, *, guard: bool = False) -> None:
    """A clock is set between two customers."""
    world.start(Shop("shop", guard), Customer("eve", 4_000), Customer("finn", 14_000))
    world.claim(always(late_coupons_are_refused))
    world.allow(ClockStep("shop", by_ms=-30_000))


TRUE = Told(
    old_coupon,
    race="""
faults:
  - clock_step: shop
    at: 6s
    by: -30s
""",
    actor="shop",
    about=("notes/default/finn",),
    words=("clock",),
    never=("^finn", "^eve", "believing that notes"),
    said=(
        "shop took notes/default/finn at 14 s, since its clock had been set 30 s back and said "
        "that the coupon was good."
    ),
)
