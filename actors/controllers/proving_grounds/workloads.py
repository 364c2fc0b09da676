"""Workshop: a few workloads of each kind, and all that may happen to them without a fault.

The claims about workloads are checked in it, and the mutants of their controllers are hunted in it.
A stand-in for nodes runs the pods; a user rolls out, scales, and deletes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import attrs

from actors.apiserver.server import ApiServer
from actors.controllers.deployment.controller import DeploymentController
from actors.controllers.frame.control_loop import KeyedController
from actors.controllers.invariants import (
    PodsAreCreatedOnce,
    RolloutsKeepTheirBounds,
    workload_claims,
)
from actors.controllers.job.controller import JobController
from actors.controllers.replicaset import ReplicaSetController
from testbed import Actor, ApiError, Cache, Client, Operation, World
from testbed.objects import (
    Deployment,
    DeploymentSpec,
    Job,
    JobSpec,
    Map,
    Meta,
    Pod,
    PodTemplate,
    ReplicaSet,
    ReplicaSetSpec,
    RollingUpdate,
    UpdateStrategy,
)
from testbed.objects.form import to_tree

QUIET = Map(events="off")
GOOD, BAD = "good", "bad"
"""The versions of a template: of the bad one no pod becomes ready."""
STEP_MS = 1000
"""How long the user waits between two things, and how long a pod of a Job works."""


@attrs.frozen
class StandInNodes(Actor):
    """Stands for scheduler and kubelets: every pod runs and is ready, unless its version is bad;
    the first pod of a Job fails, and the others succeed."""

    async def run(self, client: Client) -> None:
        todo, seen = client.queue("todo", idle=True), set[str]()
        jobs = dict[str, int]()

        def changed(pod: Pod) -> None:
            if pod.meta.uid in seen:
                return
            seen.add(pod.meta.uid)
            job = pod.meta.labels.get("job-name", "")
            if job:
                jobs[job] = jobs.get(job, 0) + 1
            todo.put((pod, jobs.get(job, 0)))

        Cache(client, Pod).on(add=changed, update=lambda _, pod: changed(pod))
        while True:
            pod, number = await todo.get()
            if number:
                client.spawn(f"work-{pod.meta.name}", self._work, client, pod, number)
                continue
            conditions = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]
            if pod.meta.labels.get("version") == BAD:
                await self._report(client, pod, {"conditions": conditions})
            else:
                conditions = [{"type": "Ready", "status": "True"}]
                await self._report(client, pod, {"phase": "Running", "conditions": conditions})

    async def _work(self, client: Client, pod: Pod, number: int) -> None:
        await client.sleep(STEP_MS, f"work {pod.key}")
        await self._report(client, pod, {"phase": "Failed" if number == 1 else "Succeeded"})

    async def _report(self, client: Client, pod: Pod, status: dict[str, Any]) -> None:
        with suppress(ApiError):
            await client.patch(pod, {"status": status}, subresource="status")


@attrs.frozen
class WorkshopUser(Actor):
    """The user: rolls out a better template and a bad one, scales, and deletes a pod."""

    async def run(self, client: Client) -> None:
        for item in (_deployment(), _replica_set(), _job()):
            await client.create(item)
        await client.sleep(STEP_MS, "roll out")
        await self._roll(client, "better")
        await client.patch(ReplicaSet("solo"), {"spec": {"replicas": 1}})
        await client.sleep(STEP_MS, "delete")
        await self._delete_one(client, "solo")
        await client.sleep(STEP_MS, "roll out")
        await self._roll(client, BAD)

    async def _roll(self, client: Client, version: str) -> None:
        tree = to_tree(_template("web", version))
        await client.patch(Deployment("web"), {"spec": {"template": tree}})

    async def _delete_one(self, client: Client, app: str) -> None:
        """Begin to delete a pod that a finalizer keeps."""
        for item in (await client.list(Pod)).items:
            pod: Any = item
            if pod.meta.labels.get("app") == app:
                with suppress(ApiError):
                    await client.patch(pod, {"metadata": {"finalizers": ["keep"]}})
                    await client.ask(Operation("delete", "pods", pod.meta.name, "default"))
                return


def workshop(
    world: World,
    sets: Callable[..., KeyedController] = ReplicaSetController,
    deployments: Callable[..., KeyedController] = DeploymentController,
    jobs: Callable[..., KeyedController] = JobController,
    *,
    is_stricken: bool = False,
) -> None:
    """Assemble the World, with these controllers, and claim all that they owe; if it is stricken by
    faults, only what they owe then."""
    world.serve(ApiServer)
    world.start(sets("replicasets", switches=QUIET))
    world.start(deployments("deployments", switches=QUIET), jobs("jobs", switches=QUIET))
    world.start(StandInNodes("nodes"), WorkshopUser("user"))
    world.claim(*workload_claims())
    if not is_stricken:
        world.claim(PodsAreCreatedOnce(), RolloutsKeepTheirBounds())


def _template(app: str, version: str, restart_policy: str = "") -> PodTemplate:
    labels = Map(app=app, version=version)
    return PodTemplate(Meta(labels=labels), Pod.of("", cpu_m=1, restart_policy=restart_policy).spec)


def _deployment() -> Deployment:
    strategy = UpdateStrategy("RollingUpdate", RollingUpdate(0, 1))
    spec = DeploymentSpec(3, template=_template("web", GOOD), strategy=strategy)
    return Deployment("web", spec=spec)


def _replica_set() -> ReplicaSet:
    return ReplicaSet("solo", spec=ReplicaSetSpec(3, template=_template("solo", GOOD)))


def _job() -> Job:
    return Job("work", spec=JobSpec(2, 2, template=_template("work", GOOD, "Never")))
