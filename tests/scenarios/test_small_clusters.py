"""What holds in whole clusters holds whatever strikes and whatever people do: all kubelets, all
controllers, one scheduler or two, drains and rollouts, under every fault."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
import small_clusters
from all_faults import all_faults
from small_clusters import drawn_cluster

from actors.kubelet import Kubelet
from actors.kubelet.mutants import PublishesEarly
from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.world.scenario import play_runs
from testbed.world.world import World

RUNS = 20


def breaches(number: int, runs: int, seed: int = 0) -> tuple[list[str], int]:
    """What was violated in so many Runs of that cluster; and how many faults have struck."""
    found: list[str] = []
    struck = 0

    def look(world: World) -> bool:
        nonlocal struck
        verdict = world.verdict
        assert verdict is not None
        struck += verdict.faults
        if verdict.is_violated:
            found.append(f"cluster {number}, seed {seed}: {verdict}")
        return not found

    play_runs(
        drawn_cluster(number), Uniform(seed), look, runs_max=runs, faults=all_faults(),
        driver="direct",
    )  # fmt: skip
    return found, struck


@pytest.mark.spec("INV-5", "INV-7", "INV-8", "INV-30")
@pytest.mark.parametrize("number", range(4))
def test_whatever_strikes_a_small_cluster_keeps_its_claims(number: int) -> None:
    """Every fault may strike; every claim of the protocol and of the kubelets is made."""
    found, struck = breaches(number, 2)
    assert found == []
    assert struck > 0


@pytest.mark.long
@pytest.mark.parametrize("hundred", range(10))
def test_small_clusters_keep_their_claims_in_twenty_thousand_runs(hundred: int) -> None:
    """A thousand clusters, twenty Runs of each."""
    found = [breaches(100 * hundred + n, RUNS, seed=1)[0] for n in range(100)]
    assert [each for some in found for each in some] == []


def test_calmly_a_small_cluster_comes_to_its_end() -> None:
    """Without a fault nothing is violated either, and pods of every workload have run."""
    worlds: list[World] = []

    def look(world: World) -> bool:
        worlds.append(world)
        return True

    play_runs(drawn_cluster(1), Calm(), look, driver="direct", runs_max=1)
    (world,) = worlds
    assert world.verdict is not None
    assert not world.verdict.is_violated
    started = {r.facts["pod"].split("/")[2] for r in world.evidence.records if r.name == "started"}
    things: list[Any] = [
        entry.value
        for plural in ("deployments", "jobs", "replicasets")
        for entry in world.store.snapshot(f"{plural}/")
    ]
    assert len(things) >= 2
    for item in things:
        assert any(pod.startswith(item.meta.name) for pod in started), item.key


@attrs.frozen
class EarlyKubelet(Kubelet):
    """A kubelet that calls a pod over before it is torn down."""

    lifecycle = PublishesEarly


def test_a_kubelet_with_a_bug_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same clusters, and one that publishes a terminal phase early: the claims bite."""
    monkeypatch.setattr(small_clusters, "Kubelet", EarlyKubelet)
    found = next((found for n in range(10) if (found := breaches(n, 2)[0])), [])
    assert "over_means_stopped" in found[0]
