"""What claims of lessons say after faults that their scenarios do not allow: nothing of what never
came about, and all of what never may."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import pytest

from scenarios.budgets.budget_is_best_effort import x_goes_against_its_budget
from scenarios.caches.memory_from_watches import HAS_M, c_waits_and_small_is_bound
from scenarios.kubelet.two_gigabytes import bu_is_preempted_and_be_evicted
from scenarios.kubelet.two_gigabytes_inverse import be_is_evicted_and_h_stays
from scenarios.preemption.best_effort_stays import web_goes_and_scraper_stays
from scenarios.preemption.one_larger_victim import p2_alone_goes
from testbed import Evidence, World
from testbed.choosers.uniform import Uniform
from testbed.objects import Node, Object, Pod, PodStatus
from testbed.world.scenario import find
from tests.models.all_faults import told

LESSONS = (
    "best_effort_stays", "budget_is_best_effort", "memory_from_watches", "one_larger_victim",
    "two_gigabytes", "two_gigabytes_inverse",
)  # fmt: skip


@pytest.mark.parametrize("runs", [9, pytest.param(500, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", LESSONS)
def test_a_claim_asks_for_no_end_that_a_fault_has_kept_away(name: str, runs: int) -> None:
    """A scheduler that is gone for good preempts nobody, and one whose write was refused tries
    again in minutes: a third of these Runs end before what the lesson shows."""
    found = told(find(name), Uniform(1), runs)
    assert found.struck > 0
    assert found.breaches == ()


def on_n1(*names: str, **pods: str) -> tuple[Object, ...]:
    """Pods that are bound to n1, or in such a phase; `Evicted` is a reason."""
    bound = [Pod.of(name, node_name="n1") for name in names]
    return (*bound, *(_in_phase(name, phase) for name, phase in pods.items()))


def _in_phase(name: str, phase: str) -> Pod:
    pod = Pod.of(name, node_name="" if phase == "Pending" else "n1")
    reason = phase if phase == "Evicted" else ""
    status = PodStatus(phase="Failed" if reason else phase, reason=reason)
    return attrs.evolve(pod, status=status)


@pytest.mark.parametrize(
    ("claim", "there", "said"),
    [
        (web_goes_and_scraper_stays, on_n1("urgent"), "on n1 is pods/default/urgent"),
        (web_goes_and_scraper_stays, on_n1("web"), "on n1 is pods/default/web"),
        (p2_alone_goes, on_n1("p0", "p2", "p3"), "on n1 are pods/default/p0, pods/default/p2"),
        (x_goes_against_its_budget, on_n1("x"), "pods/default/x is on n1"),
        (bu_is_preempted_and_be_evicted, on_n1(bu="Running"), "pods/default/bu is Running"),
        (
            bu_is_preempted_and_be_evicted, on_n1(be="Running", bu="Running", h="Running"),
            "pods/default/be is Running, pods/default/bu is Running, pods/default/h is Running",
        ),
        (
            bu_is_preempted_and_be_evicted, on_n1(be="Evicted", bu="Running"),
            "pods/default/be is Evicted, pods/default/bu is Running",
        ),
        (be_is_evicted_and_h_stays, on_n1(be="Running", h="Evicted"), "pods/default/h is Evicted"),
        (be_is_evicted_and_h_stays, on_n1(h="Running"), "pods/default/h is Running"),
        (
            c_waits_and_small_is_bound,
            tuple(Pod.of(name, cpu_m=HAS_M // 2, node_name="n1") for name in "abc"),
            "on n1 are pods/default/a, pods/default/b, pods/default/c",
        ),
    ],
)  # fmt: skip
def test_what_no_fault_excuses_is_told(
    claim: Callable[[Evidence], str | None], there: tuple[Object, ...], said: str
) -> None:
    """A pod that has gone and should not have, one that came before there was room, too many on a
    node: after a fault as well as without one."""
    world = World("test")
    world.add(Node.of("n1"), *there)
    for world.table.faults in (0, 1):
        assert said in (claim(world.evidence) or "")
