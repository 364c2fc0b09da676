"""What holds of an autoscaler holds in whole clusters, whatever strikes, whatever a cloud refuses,
and whatever people do."""

from __future__ import annotations

import pytest

from actors.autoscaler.growth_mutants import forgetful
from testbed.fault import Fault
from testbed.faults.crash import Crash
from testbed.faults.lose_reply import LoseReply
from testbed.faults.lose_request import LoseRequest
from testbed.faults.server_error import ServerError
from testbed.turns.verdict import Verdict
from tests.each_row import each_row
from tests.models.clusters import autoscaled_clusters
from tests.models.clusters.autoscaled_clusters import autoscaled_cluster, is_told_in_time
from tests.models.clusters.cluster_runs import breaches, restarting, verdicts

RUNS, CHUNK = 20, 25
"""How many Runs of each cluster the long form plays, and how many clusters are one test of it."""
RESTART_MS = 5_000


def faults_for(number: int) -> tuple[Fault, ...]:
    """All faults; or those by which nothing is heard late."""
    if is_told_in_time(number):
        return (Crash(restart_after_ms=RESTART_MS), LoseReply(), LoseRequest(), ServerError())
    return restarting(RESTART_MS)


def played(number: int, runs: int, seed: int = 0) -> list[Verdict]:
    """What that many Runs of that cluster have shown, up to the first Violation."""
    return verdicts(autoscaled_cluster(number), runs, seed=seed, faults=faults_for(number))


@pytest.mark.spec("INV-34", "INV-35", "INV-36", "INV-37")
@each_row("number", range(4))
def test_whatever_strikes_an_autoscaled_cluster_keeps_its_claims(number: int) -> None:
    """Every claim of the protocol, of kubelets and of autoscalers is made."""
    found = played(number, 1)
    assert breaches(number, found) == []


def test_a_pass_that_writes_nothing_is_judged_by() -> None:
    """One that fails follows it, and then one that lets a node go."""
    assert breaches(192, played(192, 1, seed=1)) == []


@pytest.mark.long
@pytest.mark.spec("INV-34", "INV-35", "INV-36", "INV-37")
@pytest.mark.parametrize("chunk", range(1000 // CHUNK))
def test_autoscaled_clusters_keep_their_claims_in_twenty_thousand_runs(chunk: int) -> None:
    """A thousand clusters, twenty Runs of each."""
    numbers = range(CHUNK * chunk, CHUNK * (chunk + 1))
    assert [b for n in numbers for b in breaches(n, played(n, RUNS, seed=1))] == []


def test_an_autoscaler_with_a_bug_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same clusters, and one that forgets which nodes are still to come: the claims bite."""
    monkeypatch.setattr(autoscaled_clusters, "Autoscaler", forgetful())
    found = next((found for n in range(10) if (found := breaches(n, played(n, 1)))), [])
    assert "triggers_are_in_need" in found[0]
