"""Threshold: how little of something may be left before a kubelet acts (KUB-26 to KUB-28)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import attrs

from actors.kubelet.eviction.signals import (
    ALLOCATABLE,
    AVAILABLE,
    CONDITIONS,
    RESOURCES,
    Observation,
)
from actors.shared.settings import at_least
from testbed.errors import ScenarioError
from testbed.objects import Quantity
from testbed.objects.quantity import whole

PERCENT = "%"


@attrs.frozen
class ThresholdValue:
    """How much must be left: an amount, or a percentage of the capacity."""

    quantity: Quantity | None = None
    """The amount; None: it is a percentage."""
    percent: int = 0
    """The percentage."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """The value of a text such as `100Mi` or `10%`; ValueError."""
        if text.endswith(PERCENT) and (percent := text.removesuffix(PERCENT)).isdecimal():
            return cls(None, int(percent))
        quantity = Quantity.parse(text)
        if quantity.nano < 0:
            raise ValueError("an amount such as 100Mi")
        return cls(quantity)

    def of(self, capacity: int) -> Quantity:
        """The amount, for this capacity."""
        return self.quantity or whole(capacity * self.percent // 100)


@attrs.frozen
class Threshold:
    """How much of a signal must be available. Without a grace period it is hard: the kubelet acts
    at once."""

    signal: str
    """Such as `memory.available`."""
    value: ThresholdValue
    """It is met when less than this is available."""
    grace_ms: int = attrs.field(default=0, validator=at_least(0))
    """How long it must be met before it is acted on; 0: it is hard."""
    reclaim: ThresholdValue = ThresholdValue()
    """Once it was acted on, it stays met until this much more than its value is available."""

    @classmethod
    def of(cls, signal: str, value: str, *, grace_ms: int = 0, reclaim: str = "0%") -> Self:
        """A threshold in the words of a kubelet's configuration; ScenarioError."""
        if signal not in RESOURCES:
            raise ScenarioError(
                f"a threshold of {signal!r}: expected one of {', '.join(RESOURCES)}.\n"
                'Next: write Threshold.of("memory.available", "100Mi").'
            )
        try:
            return cls(signal, ThresholdValue.parse(value), grace_ms, ThresholdValue.parse(reclaim))
        except ValueError as error:
            raise ScenarioError(
                f"a threshold of {signal}: {value!r} and {reclaim!r}: expected {error}, or 10%.\n"
                'Next: write Threshold.of("memory.available", "100Mi").'
            ) from error

    @property
    def is_hard(self) -> bool:
        """Whether it is acted on at once."""
        return not self.grace_ms

    @property
    def resource(self) -> str:
        """The resource that its signal measures."""
        return RESOURCES[self.signal]

    @property
    def condition(self) -> str:
        """The condition of the node while it is met."""
        return CONDITIONS[self.resource]

    def is_met(self, seen: Mapping[str, Observation], *, reclaim: bool = False) -> bool:
        """Whether less than its value is available; with `reclaim`, less than both together."""
        found = seen.get(self.signal)
        if found is None:
            return False
        least = self.value.of(found.capacity).whole
        if reclaim:
            least += self.reclaim.of(found.capacity).whole
        return found.available < least


HARD = (
    Threshold.of(AVAILABLE, "100Mi"),
    Threshold.of("nodefs.available", "10%"),
    Threshold.of("nodefs.inodesFree", "5%"),
    Threshold.of("imagefs.available", "15%"),
)
"""The default thresholds of a kubelet on Linux. None of them is soft."""


def with_allocatable(thresholds: tuple[Threshold, ...]) -> tuple[Threshold, ...]:
    """These, and for each hard one of `memory.available` one of `allocatableMemory.available`
    (KUB-25)."""
    more = (
        attrs.evolve(each, signal=ALLOCATABLE)
        for each in thresholds
        if each.signal == AVAILABLE and each.is_hard
    )
    return (*thresholds, *more)
