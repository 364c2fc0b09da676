"""Cases of eviction: a node that is short of memory, looked at over some minutes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

import attrs

from actors.kubelet.eviction import EvictionSettings, Threshold
from actors.kubelet.eviction.choice import Evicting, choice_of
from actors.kubelet.eviction.look import EvictionState, look
from actors.kubelet.eviction.ranking import key_of, ranked, used_of
from actors.kubelet.eviction.signals import (
    AVAILABLE,
    MEMORY,
    MEMORY_PRESSURE,
    Observation,
    PodUse,
)
from actors.kubelet.eviction.threshold import ThresholdValue
from actors.kubelet.switches import KubeletSwitches
from testbed.objects import Map
from testbed.objects.quantity import whole
from tests.conformance.kubelet.admit import pod_of
from tests.conformance.shape import Line, unlike

SWITCHES = KubeletSwitches()


@attrs.frozen
class Evict:
    """A case that the kubelet's eviction answers."""

    name: str = "evict"
    why_not: str = ""
    tally: str = "conformance"
    spread: int = 1

    def fits(self, line: Line) -> bool:
        """Whether the line ranks pods."""
        expect = line.get("expect")
        return isinstance(expect, dict) and {"ranking", "groups", "steps"} <= expect.keys()

    def differences(self, line: Line) -> list[str]:
        """Each field that differs, and each step."""
        case, expect = line["case"], dict(line["expect"])
        ours = {"id": case["id"], **answers(case, [each["t"] for each in expect["steps"]])}
        steps = zip(expect.pop("steps"), ours.pop("steps"), strict=True)
        apart = [f"expected {one!r}, found {two!r}" for one, two in steps if one != two]
        return unlike(ours, expect) + apart


def answers(case: Mapping[str, Any], times_s: list[int]) -> dict[str, Any]:
    """What ours decides of a case, if it looks at these times, in the words of the recording."""
    uses = [use_of(each) for each in case["pods"]]
    order = ranked(uses, MEMORY, SWITCHES.evict_rank)
    names = [each.pod.meta.name for each in order]
    keys = {each.pod.meta.name: key_of(each, MEMORY, SWITCHES.evict_rank) for each in order}
    return {
        "ranking": names,
        "groups": [list(group) for _, group in groupby(names, key=lambda name: keys[name])],
        "steps": list(_steps(case, uses, times_s)),
    }


def _steps(
    case: Mapping[str, Any], uses: list[PodUse], times_s: list[int]
) -> Iterator[dict[str, Any]]:
    """What is seen at each look; a pod that is evicted is gone at the next."""
    settings, state = _settings(case), EvictionState()
    for at_s in times_s:
        taken = sum(used_of(each, MEMORY) for each in uses)
        left = max(case["node_memory"] - case["system_used"] - taken, 0)
        seen = {AVAILABLE: Observation(left, case["node_memory"], at_s * 1000)}
        found = look(settings, state, seen, at_s * 1000)
        state = found.state
        chosen = choice_of(found, uses, seen, settings, SWITCHES)
        yield {
            "t": at_s, "available": left, **_told(chosen),
            "memory_pressure": MEMORY_PRESSURE in state.pressures,
        }  # fmt: skip
        if chosen is not None:
            uses = [each for each in uses if each.pod != chosen.pod]


def _told(chosen: Evicting | None) -> dict[str, Any]:
    if chosen is None:
        return {"evicted": None, "grace": None, "message": ""}
    name = chosen.pod.meta.name
    return {"evicted": name, "grace": chosen.grace_s, "message": chosen.message}


def _settings(case: Mapping[str, Any]) -> EvictionSettings:
    value = ThresholdValue(whole(case["threshold"]))
    reclaim = ThresholdValue(whole(case.get("min_reclaim", 0)))
    grace_ms = case.get("soft_grace_seconds", 0) * 1000
    threshold = Threshold(AVAILABLE, value, grace_ms, reclaim)
    return EvictionSettings((threshold,), max_pod_grace_s=case["max_pod_grace"])


def use_of(tree: Mapping[str, Any]) -> PodUse:
    """A pod of a case, and what it uses."""
    used = tree["usage"]
    return PodUse(pod_of(tree), None if used is None else Map({MEMORY: used}))
