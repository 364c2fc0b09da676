"""What holds in whole clusters holds whatever strikes and whatever people do: all kubelets, all
controllers, one scheduler or two, drains and rollouts, under every fault. Half of the clusters come
to rest, so that what is claimed of rest is judged, too."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from actors.controllers.deleting_mutants import with_loop
from actors.controllers.job.controller import JobController
from actors.controllers.mutants import HoldsItsPods
from actors.kubelet import Kubelet
from actors.kubelet.mutants import PublishesEarly
from testbed.choosers.calm import Calm
from testbed.turns.verdict import Verdict
from testbed.world.scenario import play_runs
from testbed.world.world import World
from tests.models.clusters import small_clusters
from tests.models.clusters.cluster_runs import breaches, restarting, verdicts
from tests.models.clusters.small_clusters import comes_to_rest, drawn_cluster

RUNS, CHUNK = 20, 25
"""How many Runs of each cluster the long form plays, and how many clusters are one test of it."""
RESTART_MS, NEVER_MS = 5_000, 60_000
"""After that time a program that has crashed is started again. The second is longer than a cluster
lives that does not come to rest."""


def played(number: int, runs: int, seed: int = 0) -> list[Verdict]:
    """What that many Runs of that cluster have shown. Where all comes to rest a crash does not
    last: of a controller that is gone for good nothing can be expected."""
    faults = restarting(RESTART_MS if comes_to_rest(number) else NEVER_MS)
    return verdicts(drawn_cluster(number), runs, seed=seed, faults=faults)


@pytest.mark.spec("INV-5", "INV-7", "INV-8", "INV-30", "INV-31", "INV-32")
@pytest.mark.parametrize("number", range(4))
def test_whatever_strikes_a_small_cluster_keeps_its_claims(number: int) -> None:
    """Every fault may strike; every claim of the protocol, of kubelets and of controllers is made.
    A cluster with an even number comes to rest, and what is claimed of rest is judged there."""
    found = played(number, 2)
    assert breaches(number, found) == []
    assert sum(verdict.faults for verdict in found) > 0
    assert all((verdict.end == "quiet") == comes_to_rest(number) for verdict in found)


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(1000 // CHUNK))
def test_small_clusters_keep_their_claims_in_twenty_thousand_runs(chunk: int) -> None:
    """A thousand clusters, twenty Runs of each; and a good part of them is judged at rest."""
    numbers = range(CHUNK * chunk, CHUNK * (chunk + 1))
    found = {number: played(number, RUNS, seed=1) for number in numbers}
    assert [each for number in numbers for each in breaches(number, found[number])] == []
    quiet = [each for number in numbers for each in found[number] if each.end == "quiet"]
    assert len(quiet) > RUNS * CHUNK // 3


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
        for plural in ("daemonsets", "deployments", "jobs", "replicasets", "statefulsets")
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
    found = next((found for n in range(10) if (found := breaches(n, played(n, 2)))), [])
    assert "over_means_stopped" in found[0]


def test_a_controller_with_a_bug_is_found_out_at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """It never takes its finalizer off a pod of a Job. Cluster 14 has nothing but Jobs."""
    holding = with_loop(JobController, HoldsItsPods)
    monkeypatch.setitem(small_clusters.CONTROLLERS, "job", (holding,))
    (found,) = breaches(14, played(14, 1))
    assert "ends_are_counted_once" in found
