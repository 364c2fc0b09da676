"""Settings of actors: a number that makes no sense is refused where it is said."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import pytest

from actors.autoscaler import AutoscalerSettings
from actors.cloud import Boot, CloudQuota
from actors.controllers.garbage import GarbageCollector
from actors.controllers.node_lifecycle.zones import Pace
from actors.controllers.pod_gc import PodGC
from actors.kubelet.eviction import EvictionSettings, Threshold
from actors.kubelet.kubelet import Kubelet
from actors.shared.settings import at_least
from actors.users.commands import NoCommand
from actors.users.stream import Cue
from testbed.errors import ScenarioError
from tests.each_row import each_row


@attrs.frozen
class Settings:
    """Two numbers, of which one may be left open."""

    period_ms: int = attrs.field(default=5, validator=at_least(1))
    until_ms: int | None = attrs.field(default=None, validator=at_least(0))


def test_a_number_from_the_least_on_is_taken() -> None:
    """The least itself, and None where it is the default."""
    assert Settings(1, 0) == Settings(period_ms=1, until_ms=0)
    assert Settings(until_ms=None).until_ms is None


@each_row("value", [0, -1, True, "5", 5.0, None])
def test_anything_else_is_refused(value: object) -> None:
    """What was given, what was expected, what to say."""
    with pytest.raises(ScenarioError) as refused:
        Settings(period_ms=value)  # type: ignore[arg-type]
    assert str(refused.value) == (
        f"Settings.period_ms is {value!r}: expected a whole number from 1.\nNext: say period_ms=5."
    )
    with pytest.raises(ScenarioError, match=r"from 0, or None\.\nNext: say"):
        Settings(until_ms=-1)


def test_a_number_may_have_a_most_and_none_be_allowed() -> None:
    """A share is no more than the whole; a machine may never register."""
    settings = AutoscalerSettings(utilization_threshold_per_mille=1000, min_cores=2, max_cores=2)
    assert settings.utilization_threshold_per_mille == 1000
    assert Boot(register_ms=None).register_ms is None
    with pytest.raises(ScenarioError, match="say register_ms=60000"):
        Boot(register_ms=-1)


WRONG: dict[str, Callable[[], object]] = {
    "Kubelet.start_delay_ms is -1: ": lambda: Kubelet("k", "n1", start_delay_ms=-1),
    "Kubelet.ready_delay_ms is -1: ": lambda: Kubelet("k", "n1", ready_delay_ms=-1),
    "EvictionSettings.every_ms is 0: ": lambda: EvictionSettings(every_ms=0),
    "EvictionSettings.transition_ms is -1: ": lambda: EvictionSettings(transition_ms=-1),
    "EvictionSettings.max_pod_grace_s is -1: ": lambda: EvictionSettings(max_pod_grace_s=-1),
    "Threshold.grace_ms is -1: ": lambda: Threshold.of("memory.available", "1Gi", grace_ms=-1),
    "memory.available: '-1Gi' ": lambda: Threshold.of("memory.available", "-1Gi"),
    "memory.available: '-5%' ": lambda: Threshold.of("memory.available", "-5%"),
    "memory.available: '1Gi' and '-1': ": lambda: Threshold.of(
        "memory.available", "1Gi", reclaim="-1"
    ),
    "Cue.at_ms is -10: expected a whole number from 0.\nNext: say at_ms=1000": (
        lambda: Cue.of(-10, NoCommand())
    ),
    "PodGC.period_ms is 0: ": lambda: PodGC(period_ms=0),
    "GarbageCollector.delay_ms is -1: ": lambda: GarbageCollector(delay_ms=-1),
    "Pace.interval_ms is -1: ": lambda: Pace(interval_ms=-1),
    "Boot.register_ms is -5: expected a whole number from 0, or None.": lambda: Boot(-5),
    "CloudQuota.instances is -1: ": lambda: CloudQuota(instances=-1),
    "CloudQuota.cpu_m is -1: ": lambda: CloudQuota(cpu_m=-1),
    "utilization_threshold_per_mille is 5000: expected a whole number from 0 to 1000.": (
        lambda: AutoscalerSettings(utilization_threshold_per_mille=5000)
    ),
    "max_total_unready_per_mille is 1001: ": (
        lambda: AutoscalerSettings(max_total_unready_per_mille=1001)
    ),
    "AutoscalerSettings.min_cores is 10 and max_cores is 2: expected no more than 2.\n"
    "Next: say min_cores=2, or max_cores=10.": (
        lambda: AutoscalerSettings(min_cores=10, max_cores=2)
    ),
    "min_memory is 10 and max_memory is 2: ": (
        lambda: AutoscalerSettings(min_memory=10, max_memory=2)
    ),
}


@each_row("said", WRONG)
def test_the_settings_of_actors_are_checked(said: str) -> None:
    """A period of 0 was a division by it, a negative time passed for none."""
    with pytest.raises(ScenarioError) as refused:
        WRONG[said]()
    assert said in str(refused.value)
    assert "\nNext: " in str(refused.value)
