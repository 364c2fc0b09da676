"""A life of a scheduler begins with all its informers, and counts every pod that has a node."""

from __future__ import annotations

import pytest

from actors.apiserver import ApiServer
from actors.scheduler import Scheduler
from actors.scheduler.cluster.cache import SchedulerCache
from actors.scheduler.invariants import RestartsForgetNoPod
from actors.scheduler.mutants import MUTANTS, KeepsOver
from actors.scheduler.schedule_one import SchedulerParts, SchedulingLoop
from testbed.client.client import Client
from testbed.faults.crash import Crash
from testbed.objects import Node, Pod
from testbed.testing.mutant import hunt
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.scheduling import NAME, node_of, pending
from tests.shared.stage import Doing, Puppet, play

LAG_MS = 5_000
BOUND = f"serve {NAME}/bind-b create/binding pods/default/b"
OVER = "serve user/main patch/status pods/default/b"
CRASH = f"fault * crash {NAME}*"


class ForgetsB(SchedulerCache):
    """Counts the pod `b` only where it has put it itself."""

    def add_pod(self, pod: Pod) -> None:
        if pod.meta.name != "b" or self.is_assumed(pod):
            super().add_pod(pod)


class KnowsNoSecondNode(SchedulerCache):
    """Hears of one node, and of no other."""

    def add_node(self, node: Node) -> None:
        if not self.nodes or self.node(node.meta.name) is not None:
            super().add_node(node)


def restarting(
    claim: RestartsForgetNoPod, cache: type[SchedulerCache], *, is_behind: bool, over_ms: int = 0
) -> World:
    """A scheduler with such a cache, which crashes and goes on at another API server. One pod fits
    nowhere, so it is tried as soon as a life begins; `b` is bound at a second, and maybe over
    later; another pod comes when all has been told."""
    world = World("restarting")
    lags = {"lags": ("pods",), "lag_ms": LAG_MS} if is_behind else {}
    world.serve(lambda store: ApiServer(store, "api-1"))
    world.serve(lambda store: ApiServer(store, "api-2", **lags))  # type: ignore[arg-type]
    world.add(Node.of("n1", cpu_m=10_000), Node.of("n2", cpu_m=1000), pending("big", 20))
    parts = SchedulerParts(cache=cache)
    loop = type("Loop", (SchedulingLoop,), {"parts": parts})
    world.start(type("Made", (Scheduler,), {"loop": loop})(NAME), at=("api-1", "api-2"))
    world.start(Puppet("user", user(over_ms)), at="api-1")
    world.allow(Crash(NAME, restart_after_ms=700))
    world.claim(claim)
    return world


def user(over_ms: int) -> Doing:
    """Creates `b`, lets it succeed if there is a time for it, and creates `late` in the end."""

    async def doing(client: Client) -> None:
        await client.sleep(1000)
        await client.create(pending("b", 8, priority_class_name=""))
        if over_ms:
            await client.sleep(over_ms)
            over = {"status": {"phase": "Succeeded"}}
            await client.patch(pending("b"), over, subresource="status")
        await client.sleep(20_000)
        await client.create(pending("late", 1, priority_class_name=""))

    return doing


@pytest.mark.spec("INV-41", "SCH-43")
@each_row(("is_behind", "behind"), [(False, 0), (True, 3)])
def test_a_restart_counts_what_was_bound_before(is_behind: bool, behind: int) -> None:
    """At once, or, if the server is behind, once it has caught up; how far behind it began is told:
    that `b` was created and bound, and why `big` was not. The next pod goes where there is room."""
    claim = RestartsForgetNoPod()
    world = restarting(claim, SchedulerCache, is_behind=is_behind)
    play(world, BOUND, CRASH)
    assert claim.behind == {NAME: behind}
    assert node_of(world, "late") == "n1"


@pytest.mark.spec("INV-41")
@each_row("is_behind", [False, True])
def test_a_pod_that_is_not_counted_after_a_restart_is_missed(is_behind: bool) -> None:
    """In the first cycle, or in the first one after it has caught up."""
    world = restarting(RestartsForgetNoPod(), ForgetsB, is_behind=is_behind)
    (violation,) = play(world, BOUND, CRASH, is_held=False).verdict.violations
    assert violation.said.startswith(f"{NAME}: pods/default/b is on n1 as of rv ")
    assert violation.said.endswith(", and is counted nowhere")
    assert violation.now_ms == (21_000 + LAG_MS if is_behind else 1700)


@pytest.mark.spec("INV-41")
def test_a_pod_that_is_over_and_still_counted_is_found() -> None:
    """Its end came while the server was behind."""
    world = restarting(RestartsForgetNoPod(), KeepsOver, is_behind=True, over_ms=10_000)
    played = play(world, BOUND, OVER, CRASH, is_held=False)
    (violation,) = played.verdict.violations
    assert violation.said == f"{NAME}: default/b is counted on n1, and was gone"
    assert violation.now_ms == 11_000 + LAG_MS


@pytest.mark.spec("INV-41")
def test_a_node_that_is_not_known_is_found() -> None:
    """In the very first life, too."""
    world = restarting(RestartsForgetNoPod(), KnowsNoSecondNode, is_behind=False)
    (violation,) = play(world, is_held=False).verdict.violations
    assert violation.said == f"{NAME}: n2 is there, and not known"


@pytest.mark.spec("INV-41", "SCH-43")
def test_a_scheduler_that_does_not_wait_for_its_informers_is_found() -> None:
    """It decides by nodes, or by budgets, of which it has not been told."""
    (mutant,) = (each for each in MUTANTS if each.name == "hasty")
    killed = hunt(mutant, runs_max=10)
    assert killed.said.startswith(f"{NAME}: begins before it has listed ")
