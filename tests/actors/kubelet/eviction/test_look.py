"""What a kubelet makes of what it measures: thresholds, grace, reclaim, conditions."""

from __future__ import annotations

import pytest

from actors.kubelet.eviction import EvictionSettings, Threshold
from actors.kubelet.eviction.look import EvictionState, is_reclaimed, look
from actors.kubelet.eviction.settings import allocatable_of
from actors.kubelet.eviction.signals import Observation
from testbed.errors import ScenarioError
from testbed.objects import Map
from testbed.objects.quantity import Quantity, amounts
from tests.each_row import each_row

MI = 2**20
MEMORY = Threshold.of("memory.available", "100Mi")


def seen(at_ms: int, **available_mi: int) -> dict[str, Observation]:
    """These signals, of a node with 1000 Mi of everything."""
    names = {"memory": "memory.available", "disk": "nodefs.available", "pid": "pid.available"}
    return {
        names[name]: Observation(amount * MI, 1000 * MI, at_ms)
        for name, amount in available_mi.items()
    }


def looks(
    settings: EvictionSettings, *memory_mi: int, every_ms: int = 10_000
) -> list[tuple[bool, bool]]:
    """At each look, whether it acts and whether there is pressure."""
    state, told = EvictionState(), []
    for number, amount in enumerate(memory_mi):
        now_ms = number * every_ms
        found = look(settings, state, seen(now_ms, memory=amount), now_ms)
        state = found.state
        told.append((bool(found.acting), bool(state.pressures)))
    return told


@pytest.mark.spec("KUB-26", "KUB-38")
def test_a_threshold_is_met_when_less_is_available() -> None:
    """Not when as much is; and the condition is there at once, and stays."""
    hard = EvictionSettings((MEMORY,))
    assert looks(hard, 101, 100, 99, 100) == [(False, False)] * 2 + [(True, True), (False, True)]


@each_row("words", [("memory", "100Mi"), ("memory.available", "much"),
                                   ("memory.available", "x%")])  # fmt: skip
def test_a_threshold_that_makes_no_sense_is_refused(words: tuple[str, str]) -> None:
    """With what to write instead."""
    with pytest.raises(ScenarioError, match="Next: write Threshold"):
        Threshold.of(*words)


@pytest.mark.spec("KUB-28")
def test_what_was_acted_on_is_over_when_enough_is_reclaimed() -> None:
    """Until then it stays met, though the value itself is reached."""
    more = EvictionSettings((Threshold.of("memory.available", "100Mi", reclaim="50Mi"),))
    acts = [acts for acts, _ in looks(more, 120, 99, 149, 150, 120)]
    assert acts == [False, True, True, False, False]


@pytest.mark.spec("KUB-30")
def test_it_acts_only_on_what_was_measured_since() -> None:
    """The same measurement twice costs one pod; memory comes before all else."""
    both = EvictionSettings((Threshold.of("nodefs.available", "10%"), MEMORY))
    old = seen(0, disk=50, memory=50)
    first = look(both, EvictionState(), old, 0)
    assert [each.signal for each in first.acting] == ["memory.available", "nodefs.available"]
    again = look(both, first.state, old, 10_000)
    assert again.acting == ()
    assert again.state.pressures == ("MemoryPressure", "DiskPressure")
    newer = {**old, **seen(5000, disk=50)}
    third = look(both, again.state, newer, 20_000)
    assert [each.signal for each in third.acting] == ["nodefs.available"]


@pytest.mark.spec("KUB-31")
def test_what_was_collected_suffices_only_with_the_reclaim() -> None:
    """All thresholds count, whichever was acted on."""
    disk = Threshold.of("nodefs.available", "10%", reclaim="5%")
    settings = EvictionSettings((disk, MEMORY))
    assert is_reclaimed(settings, seen(0, disk=150, memory=100))
    assert not is_reclaimed(settings, seen(0, disk=149, memory=100))
    assert not is_reclaimed(settings, seen(0, disk=150, memory=99))


@pytest.mark.spec("KUB-46")
def test_what_is_allocatable_is_the_rest() -> None:
    """Without what is reserved, and without the hard thresholds of memory and disk."""
    capacity = amounts({"cpu": "4", "memory": "1Gi", "ephemeral-storage": "10Gi", "pods": "9"})
    settings = EvictionSettings((*EvictionSettings().thresholds, Threshold.of(
        "memory.available", "200Mi", grace_ms=1)))  # fmt: skip
    room = allocatable_of(capacity, Map({"cpu": Quantity.parse("500m")}), settings)
    assert {name: str(amount) for name, amount in room.items()} == {
        "cpu": "3500m", "memory": "924Mi", "ephemeral-storage": "9Gi", "pods": "9",
    }  # fmt: skip
