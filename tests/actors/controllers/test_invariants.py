"""The claims about workloads: they hold of the controllers, and each kills its mutants."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from actors.apiserver import ApiServer
from actors.controllers.invariants import workload_claims
from actors.controllers.mutants import MUTANTS
from actors.controllers.proving_grounds.workloads import workshop
from testbed.choosers.calm import Calm
from testbed.faults.crash import Crash
from testbed.faults.lose_reply import LoseReply
from testbed.objects import (
    Condition,
    DaemonSet,
    DaemonSetSpec,
    Deployment,
    DeploymentSpec,
    Job,
    JobSpec,
    Meta,
    Node,
    Object,
    Owner,
    Pod,
    PodStatus,
    PodTemplate,
    ReplicaSet,
    ReplicaSetSpec,
    ReplicaSetStatus,
    StatefulSet,
    StatefulSetSpec,
    Taint,
)
from testbed.testing.mutant import Mutant, hunt
from testbed.testing.seek import choosers
from testbed.turns.found import MISSING
from testbed.turns.verdict import Verdict
from testbed.world.scenario import of, play_runs
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.stage import Cued

CRASHES = (
    Crash("replicasets", restart_after_ms=500), Crash("deployments", restart_after_ms=500),
    Crash("jobs", restart_after_ms=500), LoseReply("*"),
)  # fmt: skip


def busy(world: World) -> None:
    """The workshop."""
    workshop(world)


def stricken(world: World) -> None:
    """The workshop, with only the claims that hold whatever strikes."""
    workshop(world, is_stricken=True)
    world.allow(*CRASHES)


def verdicts(build: Any, runs_max: int) -> list[Verdict]:
    """What that many Runs show, calm, sampled and of one deviation."""
    seen: list[Verdict] = []

    def look(world: World) -> bool:
        assert world.verdict is not None
        seen.append(world.verdict)
        return world.verdict.is_held

    for chooser, most in ((Calm(), 1), *choosers(runs_max, 0)):
        play_runs(of(build, "workshop"), chooser, look, runs_max=most, driver="direct")
    return seen


@pytest.mark.spec("INV-31", "CTL-1", "CTL-2")
@pytest.mark.parametrize("runs_max", [8, pytest.param(2000, marks=pytest.mark.long)])
def test_the_controllers_do_as_they_owe(runs_max: int) -> None:
    """Whatever is late."""
    assert [str(each) for each in verdicts(busy, runs_max) if not each.is_held] == []


@pytest.mark.spec("INV-31", "CTL-10")
@pytest.mark.parametrize("runs_max", [8, pytest.param(2000, marks=pytest.mark.long)])
def test_the_controllers_stand_crashes_and_lost_replies(runs_max: int) -> None:
    """They may create a pod too many then, and have what is wanted in the end."""
    assert [str(each) for each in verdicts(stricken, runs_max) if not each.is_held] == []


@pytest.mark.spec("INV-31")
@each_row("restart_after_ms", [None, 2000])
def test_a_controller_that_stays_dead_is_not_excused(restart_after_ms: int | None) -> None:
    """Nobody does its work; one that comes back does what is left."""
    world = World("workshop")
    workshop(world, is_stricken=True)
    world.allow(Crash("replicasets", restart_after_ms=restart_after_ms))
    verdict = world.run(Cued("fault * crash replicasets*"), driver="direct")
    claims = {each.invariant: each for each in verdict.violations}
    assert claims.keys() == (set() if restart_after_ms else {"desired_counts_are_reached"})
    for breach in claims.values():
        assert breach.about.keys[0].startswith("replicasets/")
        assert breach.reason == MISSING


@each_row("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_each_mutant_is_found_by_its_claim(mutant: Mutant) -> None:
    """Within few Runs."""
    found = hunt(mutant, runs_max=20)
    assert found.is_killed, f"outlives {mutant.claim}; {found.others} fired"


# -- INV-31, kind by kind -------------------------------------------------------------------------

TEMPLATE = PodTemplate(spec=Pod.of("", cpu_m=1).spec)
RUNNING = PodStatus("Running")
READY = PodStatus("Running", conditions=(Condition("Ready", "True"),))
UNSCHEDULABLE = PodStatus("Pending", conditions=(Condition("PodScheduled", "False"),))


def pod(name: str, owner: Object, status: PodStatus = RUNNING, node: str = "n1") -> Pod:
    """A pod of that owner."""
    ref = Owner(owner.api_version, owner.kind, owner.meta.name, owner.meta.uid, True)
    spec = attrs.evolve(TEMPLATE.spec, node_name=node)
    return Pod(Meta(name, owners=(ref,)), spec=spec, status=status)


def uid(item: Any) -> Any:
    """The same with a uid."""
    return item.with_meta(uid=f"uid-{item.meta.name}")


def judged(*things: Object) -> str:
    """What the claim says of a World at rest with these things in it."""
    world = World("rest")
    world.serve(ApiServer)
    world.add(*things)
    world.claim(workload_claims()[0])
    verdict = world.run(Calm(), driver="direct")
    return "; ".join(each.said for each in verdict.violations)


SET = uid(ReplicaSet("web", spec=ReplicaSetSpec(2, template=TEMPLATE)))
FAILED = attrs.evolve(
    SET, status=ReplicaSetStatus(conditions=(Condition("ReplicaFailure", "True"),))
)
STATEFUL = uid(StatefulSet("db", spec=StatefulSetSpec(2, template=TEMPLATE)))
PARALLEL = uid(
    StatefulSet("db", spec=StatefulSetSpec(2, template=TEMPLATE, pod_management_policy="Parallel"))
)
BRIEF = PodTemplate(spec=attrs.evolve(TEMPLATE.spec, restart_policy="Never"))
JOB = uid(Job("work", spec=JobSpec(2, 2, template=BRIEF)))
DAEMONS = uid(DaemonSet("agent", spec=DaemonSetSpec(template=TEMPLATE)))
DEPLOYMENT = uid(Deployment("web", spec=DeploymentSpec(2, template=TEMPLATE)))
TAINTED = Node.of("n1", taints=(Taint("a", effect="NoExecute"),))
CASES = [
    ((SET, pod("a", SET), pod("b", SET)), ""),
    ((SET, pod("a", SET), pod("b", SET, UNSCHEDULABLE, "")), ""),
    ((SET, pod("a", SET), pod("b", SET, PodStatus("Pending"), "")), "does not say why"),
    ((SET, pod("a", SET)), "wants 2 pods and has 1, and does not say why"),
    ((SET, pod("a", SET), pod("b", SET, PodStatus("Failed"))), "wants 2 pods and has 1"),
    ((FAILED, pod("a", SET)), ""),
    ((SET, *(pod(name, SET) for name in "abc")), "wants 2 pods and has 3"),
    ((STATEFUL, pod("db-0", STATEFUL)), ""),
    ((STATEFUL, *(pod(f"db-{n}", STATEFUL, READY) for n in range(3))), "wants 2 pods and has 3"),
    (
        (
            STATEFUL,
            pod("db-0", STATEFUL, READY),
            pod("db-1", STATEFUL, UNSCHEDULABLE, ""),
            pod("db-2", STATEFUL, READY),
        ),
        "",
    ),
    ((PARALLEL, *(pod(f"db-{n}", PARALLEL) for n in range(3))), "wants 2 pods and has 3"),
    ((JOB, pod("a", JOB)), "wants 2 pods and has 1"),
    ((JOB, pod("a", JOB), pod("b", JOB)), ""),
    ((DEPLOYMENT,), "its ReplicaSets want []"),
    ((DAEMONS, Node.of("n1"), pod("a", DAEMONS)), ""),
    ((DAEMONS, Node.of("n1")), "has no pod on n1"),
    ((DAEMONS, Node.of("n1"), pod("a", DAEMONS), pod("b", DAEMONS)), "has 2 pods on n1"),
    ((DAEMONS, TAINTED), ""),
    ((DAEMONS, TAINTED, pod("a", DAEMONS)), "has 1 pods on n1"),
]


@pytest.mark.spec("INV-31")
@each_row(("things", "said"), CASES)
def test_each_kind_of_workload_has_what_it_wants(things: tuple[Object, ...], said: str) -> None:
    """No more, and no less unless it says why."""
    found = judged(*things)
    assert (said in found) if said else not found
