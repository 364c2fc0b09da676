"""Look: what a kubelet makes of one measurement, and what it remembers of it for the next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from actors.kubelet.eviction.settings import EvictionSettings
from actors.kubelet.eviction.signals import MEMORY, PRESSURES, Observation
from actors.kubelet.eviction.threshold import Threshold
from testbed.objects import Map


@attrs.frozen
class EvictionState:
    """What it remembers from look to look. A restart forgets all of it (KUB-44)."""

    first_ms: tuple[tuple[Threshold, int], ...] = ()
    """Since when each threshold is met."""
    met: tuple[Threshold, ...] = ()
    """Those that were met for their grace period. They stay met until their minimum reclaim is
    available, too."""
    observed_ms: Map[int] = attrs.field(factory=Map)
    """When each condition was last observed."""
    pressures: tuple[str, ...] = ()
    """The conditions of the node, in order."""
    measured_ms: Map[int] = attrs.field(factory=Map)
    """When each signal was measured at the last look."""

    def digest(self, now_ms: int, transition_ms: int) -> object:
        """All of it, with times as distances from now, no longer than makes a difference: a later
        look asks only whether a grace period or the transition period is over, and whether a signal
        was measured before."""
        return (
            tuple((each, min(now_ms - at_ms, each.grace_ms)) for each, at_ms in self.first_ms),
            self.met,
            tuple(
                (name, min(now_ms - at_ms, transition_ms))
                for name, at_ms in self.observed_ms.items()
            ),
            self.pressures,
            tuple((name, now_ms > at_ms) for name, at_ms in self.measured_ms.items()),
        )


@attrs.frozen
class Look:
    """What follows from one measurement."""

    state: EvictionState
    """What to remember."""
    acting: tuple[Threshold, ...] = ()
    """The thresholds to act on. One look acts on the first."""


def look(
    settings: EvictionSettings, state: EvictionState, seen: Mapping[str, Observation], now_ms: int
) -> Look:
    """1. Which thresholds are met now? One of `state.met` is, until its minimum reclaim is
    available. 2. Since when is each of them met? 3. Which conditions does the node have? They stay
    for the transition period. 4. Which thresholds are met for their grace period? 5. Act on those
    with a new measurement of their signal, memory first.
    """
    thresholds = settings.all_thresholds
    met = [each for each in thresholds if each.is_met(seen)]
    met += [t for t in state.met if t not in met and t.is_met(seen, reclaim=True)]
    before = dict(state.first_ms)
    first_ms = {each: before.get(each, now_ms) for each in met}
    observed_ms = {**state.observed_ms, **dict.fromkeys(_conditions(met), now_ms)}
    due = tuple(each for each in met if now_ms - first_ms[each] >= each.grace_ms)
    fresh = [each for each in due if _is_new(each, seen, state)]
    kept = EvictionState(
        tuple(first_ms.items()),
        due,
        Map({name: observed_ms[name] for name in PRESSURES if name in observed_ms}),
        tuple(
            name
            for name in PRESSURES
            if name in observed_ms and now_ms - observed_ms[name] < settings.transition_ms
        ),
        Map({signal: each.at_ms for signal, each in seen.items()}),
    )
    return Look(kept, tuple(sorted(fresh, key=lambda each: each.resource != MEMORY)))


def is_reclaimed(settings: EvictionSettings, seen: Mapping[str, Observation]) -> bool:
    """Whether no threshold is met any more, minimum reclaim included: then no pod goes (KUB-31)."""
    return not any(each.is_met(seen, reclaim=True) for each in settings.all_thresholds)


def _conditions(met: Iterable[Threshold]) -> list[str]:
    return [each.condition for each in met]


def _is_new(threshold: Threshold, seen: Mapping[str, Observation], state: EvictionState) -> bool:
    """Whether its signal was measured since the last look (KUB-30)."""
    last_ms = state.measured_ms.get(threshold.signal)
    return last_ms is None or seen[threshold.signal].at_ms > last_ms
