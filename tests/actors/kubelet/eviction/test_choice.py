"""Which pod a kubelet evicts, and what it says."""

from __future__ import annotations

from typing import Any

import pytest

from actors.kubelet.eviction import EvictionSettings, Threshold
from actors.kubelet.eviction.choice import Evicting, choice_of
from actors.kubelet.eviction.look import EvictionState, look
from actors.kubelet.eviction.ranking import ranked
from actors.kubelet.eviction.signals import Observation, PodUse
from actors.kubelet.switches import KUBELET
from actors.shared.critical import CRITICAL_FROM
from testbed.objects import Map, Pod
from tests.each_row import each_row

MI = 2**20


def use(
    name: str, used_mi: int | None, asked_mi: int = 0, priority: int = 0, pids: int = 0
) -> PodUse:
    """A pod that requests so much memory and uses so much."""
    pod = Pod.of(name, memory=asked_mi * MI, priority=priority)
    used = None if used_mi is None else Map({"memory": used_mi * MI, "pids": pids})
    return PodUse(pod, used)


def order(*uses: PodUse, how: str = "shipped", resource: str = "memory") -> str:
    """The names in the order of eviction."""
    return "".join(each.pod.meta.name for each in ranked(uses, resource, how))


def chosen(*uses: PodUse, threshold: Threshold | None = None, **given: str) -> Evicting | None:
    """Which one is evicted of a node with half of what the threshold demands."""
    threshold = threshold or Threshold.of("memory.available", "100Mi")
    settings = EvictionSettings((threshold,), max_pod_grace_s=7)
    seen = {threshold.signal: Observation(50 * MI, 1000 * MI, 0)}
    found = look(settings, EvictionState(), seen, 0)
    return choice_of(found, uses, seen, settings, KUBELET.of("", given))


@pytest.mark.spec("KUB-32", "KUB-33")
def test_shipped_code_ranks_by_excess_then_priority_then_its_size() -> None:
    """Pods without statistics are first; quality of service is no key."""
    over_low, over_high = use("a", 20, 10, 5), use("b", 99, 10, 6)
    within, bigger, unknown = use("c", 10, 10, 0), use("d", 21, 10, 5), use("e", None, 10, 99)
    assert order(within, over_high, over_low, bigger, unknown) == "edabc"
    assert order(use("x", 20, 10, 5), over_low) == "xa", "equal ones as they came"


@pytest.mark.spec("KUB-32")
def test_the_seed_ranks_by_priority_then_by_the_ratio() -> None:
    """A pod that requests nothing uses infinitely more."""
    uses = [use("a", 20, 10, 5), use("b", 5, 10, 5), use("c", 1, 0, 5), use("d", 1, 10, 4),
            use("e", 40, 30, 5)]  # fmt: skip
    assert order(*uses, how="seed_pct") == "dcaeb"
    assert order(*uses) == "aecdb"


@pytest.mark.spec("KUB-32")
def test_processes_are_ranked_by_priority_and_number() -> None:
    """Whatever memory a pod uses."""
    uses = [use("a", 9, priority=1, pids=500), use("b", 1, pids=3), use("c", 1, pids=4)]
    assert order(*uses, resource="pids") == "cba"


@pytest.mark.spec("KUB-34")
def test_critical_pods_are_skipped_and_those_within_their_request_are_not() -> None:
    """Unless a switch says so."""
    critical, within = use("a", 900, 0, CRITICAL_FROM), use("b", 5, 10)
    picked = chosen(critical, within)
    assert picked is not None
    assert picked.pod.meta.name == "b"
    assert chosen(critical) is None
    assert chosen(critical, within, evict_within_request="off") is None
    over = chosen(within, use("c", 11, 10), evict_within_request="off")
    assert over is not None
    assert over.pod.meta.name == "c"


@pytest.mark.spec("KUB-36")
def test_processes_are_counted_in_tens() -> None:
    """No container is named for them."""
    threshold = Threshold.of("pid.available", "53M")
    picked = chosen(use("a", 1, pids=9), threshold=threshold)
    assert picked is not None
    low = "The node was low on resource: pids. Threshold quantity: 53M, available: 52428800. "
    assert picked.message == low


@pytest.mark.spec("KUB-37")
@each_row(("given", "grace_s"), [({}, 0), ({"grace_ms": 10_000}, 7)])
def test_a_soft_threshold_gives_a_grace(given: dict[str, Any], grace_s: int) -> None:
    """That of the settings; a hard one gives none."""
    threshold = Threshold.of("memory.available", "100Mi", **given)
    settings = EvictionSettings((threshold,), max_pod_grace_s=7)
    state, picked = EvictionState(), None
    for now_ms in (0, 10_000):
        seen = {threshold.signal: Observation(50 * MI, 1000 * MI, now_ms)}
        found = look(settings, state, seen, now_ms)
        state = found.state
        picked = choice_of(found, [use("a", 1)], seen, settings, KUBELET.of())
    assert picked is not None
    assert (picked.grace_s, picked.is_hard) == (grace_s, not grace_s)
