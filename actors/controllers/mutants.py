"""Controllers with one bug each, and the claim that must find it.

Each mutant names the loop that replaces the one of a controller, in a World that has the bug.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from actors.controllers.deleting_mutants import DELETING, with_loop
from actors.controllers.deployment.bounds import min_available
from actors.controllers.deployment.controller import DeploymentController, DeploymentLoop
from actors.controllers.deployment.scaling import Resize, active
from actors.controllers.frame import pod_state
from actors.controllers.frame.control_loop import KeyedController
from actors.controllers.frame.wanted import wanted_by
from actors.controllers.job.controller import JobController, JobLoop
from actors.controllers.proving_grounds.workloads import workshop
from actors.controllers.replicaset import ReplicaSetController, ReplicaSetLoop
from testbed.objects import Deployment, Map, Pod, ReplicaSet
from testbed.testing.mutant import Mutant

CREATED, COUNTS = "pods_are_created_once", "desired_counts_are_reached"
ENDS, BOUNDS = "ends_are_counted_once", "rollouts_keep_their_bounds"

# -- ReplicaSets ----------------------------------------------------------------------------------


class CountsTerminating(ReplicaSetLoop):
    """Counts a terminating pod as active until it is gone."""

    def counted(self, item: ReplicaSet) -> list[Pod]:
        return [pod for pod in self.pods.of(item) if not pod_state.is_over(pod)]


class DeletesNothing(ReplicaSetLoop):
    """Creates what is missing, and leaves what is too much."""

    async def manage(self, item: ReplicaSet, pods: list[Pod]) -> None:
        await super().manage(item, pods[: wanted_by(item)])


# -- Deployments ----------------------------------------------------------------------------------


class StartsAllAtOnce(DeploymentLoop):
    """Gives the new ReplicaSet all its pods before the old ones have shrunk."""

    def stepped(self, item: Deployment, new: ReplicaSet, old: Sequence[ReplicaSet]) -> list[Resize]:
        if wanted_by(new) != wanted_by(item):
            return [Resize(new, wanted_by(item))]
        return super().stepped(item, new, old)


class TrustsNewPods(DeploymentLoop):
    """Takes new pods for available from the moment that they are wanted."""

    def stepped(self, item: Deployment, new: ReplicaSet, old: Sequence[ReplicaSet]) -> list[Resize]:
        steps = super().stepped(item, new, old)
        spare = wanted_by(new) + sum(map(wanted_by, old)) - min_available(item)
        if steps or spare <= 0:
            return steps
        return [Resize(each, max(wanted_by(each) - spare, 0)) for each in active(old)]


# -- Jobs -----------------------------------------------------------------------------------------


class CountsFailuresTwice(JobLoop):
    """Counts a pod again for as long as its Cache shows the finalizer."""

    def known(self, uids: set[str]) -> set[str]:
        return set()


class HoldsItsPods(JobLoop):
    """Counts pods, and leaves them their finalizer."""

    async def release(self, pod: Pod) -> None:
        self.released[pod.meta.uid] = None


# -- the list -------------------------------------------------------------------------------------


def without_expectations(name: str, **given: Any) -> KeyedController:
    """A ReplicaSet controller that expects nothing."""
    return ReplicaSetController(name, switches=Map(events="off", expectations="off"))


def _sets(name: str, breaks: str, claim: str, loop: type[Any]) -> Mutant:
    made = with_loop(ReplicaSetController, loop)
    return Mutant(name, breaks, partial(workshop, sets=made), claim)


def _deployments(name: str, breaks: str, claim: str, loop: type[Any]) -> Mutant:
    made = with_loop(DeploymentController, loop)
    return Mutant(name, breaks, partial(workshop, deployments=made), claim)


def _jobs(name: str, breaks: str, claim: str, loop: type[Any]) -> Mutant:
    return Mutant(name, breaks, partial(workshop, jobs=with_loop(JobController, loop)), claim)


MUTANTS = (
    Mutant("unexpecting", "own creates that are not seen are done again",
           partial(workshop, sets=without_expectations), CREATED),
    _sets("terminating-counts", "a terminating pod is not replaced", COUNTS, CountsTerminating),
    _sets("deletes-nothing", "pods that are too many stay", COUNTS, DeletesNothing),
    _deployments("over-the-surge", "a rollout starts all new pods at once", BOUNDS,
                 StartsAllAtOnce),
    _deployments("trusts-new-pods", "a bad template takes the good pods down", BOUNDS,
                 TrustsNewPods),
    _jobs("counts-twice", "a failure counts for as long as it is seen", ENDS, CountsFailuresTwice),
    _jobs("holds-its-pods", "a counted pod is not released", ENDS, HoldsItsPods),
    *DELETING,
)  # fmt: skip
"""All of them; `testbed mutants` hunts them."""
