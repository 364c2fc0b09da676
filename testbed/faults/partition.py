"""partition: an actor is cut off, then is not. TCP resends; what was sent arrives in the end."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import ClassVar

import attrs

from testbed.fault import Fault, Levers, Way
from testbed.store.footprint import Footprint


@attrs.frozen(kw_only=True)
class Partition(Fault):
    """The requests, answers and deliveries of one actor wait until it can be reached again."""

    word: ClassVar[str] = "partition"
    effect: ClassVar[str] = "{target} was cut off from the network"
    recovery: ClassVar[str] = "can be reached again"
    length: ClassVar[str] = "for"
    lateness: ClassVar[str] = "for_ms"

    for_ms: int = 10_000
    """How long it is cut off."""

    def ends_ms(self, now_ms: int) -> int:
        return now_ms + self.lasts_ms(self.for_ms, now_ms)

    def ways(self, levers: Levers) -> Iterator[Way]:
        """Each actor that runs and is not cut off yet."""
        for role in levers.actors():
            if self.hits(role.name) and role.cut_off_until_ms <= levers.now_ms:
                wire = Footprint(writes=frozenset({f"wire:{role.name}"}))
                touches = levers.memory(role) | wire
                for_ms = self.lasts_ms(self.for_ms, levers.now_ms)
                strike = partial(levers.cut_off, role, for_ms)
                yield Way(role.name, strike, role.name, touches)
