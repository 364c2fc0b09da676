"""A rollout takes an old pod for a new one that has just been preempted."""

from __future__ import annotations

from functools import partial
from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.controllers.deployment.controller import DeploymentController
from actors.controllers.replicaset import ReplicaSetController
from actors.kubelet import Kubelet, Runtime
from actors.scheduler import Scheduler
from actors.shared.retries import until_told
from actors.shared.user import User
from testbed import Actor, Client, Evidence, Found, World, always
from testbed.objects import (
    Deployment,
    DeploymentSpec,
    Map,
    Meta,
    Node,
    Pod,
    PodTemplate,
    PriorityClass,
    RollingUpdate,
    UpdateStrategy,
)
from testbed.objects.form import to_tree

REPLICAS, SLOTS = 2, 3
"""How many pods are wanted and must be available, and how many the node has room for."""
AT_MS = 1000
"""When the new template comes, and the urgent pod."""
QUIET = Map(events="off")


@attrs.frozen
class Releaser(Actor):
    """Gives the Deployment its new template."""

    async def run(self, client: Client) -> None:
        await client.sleep(AT_MS, "release")
        tree = {"spec": {"template": to_tree(_template("2"))}}
        web = Deployment("web")
        await until_told(client, lambda: client.patch(web, tree), why="release again")


def a_rollout_keeps_what_must_be_available(see: Evidence) -> Found | None:
    """A rollout with a surge and no unavailable pods deletes no pod of which it needs each. It is
    not to blame for a preemption, but for what it deletes after that."""
    request = see.served
    if request is None or request.role.name != "replicasets" or request.operation.verb != "delete":
        return None
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    web = [pod for pod in pods if pod.meta.labels.get("app") == "web"]
    left = [pod.meta.name for pod in web if pod.is_ready and not pod.meta.is_terminating]
    before: list[Any] = [change.old.value for change in see.changes if change.old is not None]
    ended = [pod.key for pod in before if isinstance(pod, Pod) and pod.is_ready]
    if ended and len(left) < REPLICAS:
        text = f"the rollout has deleted {ended[0]}, and only {len(left)} of {REPLICAS} are left"
        return Found(text, reason="missing")
    return None


def rollout_and_preemption(world: World, *, guard: bool = False) -> None:
    """A pod of a rollout is preempted, and the rollout deletes another by an old count.

    The surge makes the node full, so an urgent pod preempts one of the pods. The Deployment
    controller goes by the counts in the status of its ReplicaSets, and these say for a while that
    the victim is available. So it takes an old pod down, and fewer are left than `maxUnavailable`
    promises. No budget helps: rollouts do not ask for one. Guarded, the urgent pod waits
    (`preemptionPolicy: Never`).

    Cause: the Deployment controller scales down by the counts in the status of its ReplicaSets, in
      which a preempted pod is still available.
    Look for: an old pod is deleted by replicasets, after alpha has preempted the new one.
    Source: none; the docs page "Disruptions" says that no budget limits a rollout.
    Tags: stale-cache, priority.
    """
    world.serve(ApiServer)
    world.serve(partial(Runtime, node="n1"))
    policy = "Never" if guard else ""
    world.add(Node.of("n1", cpu_m=100 * SLOTS), _deployment())
    world.add(PriorityClass(Meta("urgent"), value=100, preemption_policy=policy))
    urgent = Pod.of("urgent", cpu_m=100, priority_class_name="urgent", scheduler_name="alpha")
    world.start(User("ben", ((AT_MS, urgent),)), Releaser("ann"))
    world.start(Scheduler("alpha"), Kubelet("kubelet-n1", "n1"))
    world.start(DeploymentController("deployments", switches=QUIET))
    world.start(ReplicaSetController("replicasets", switches=QUIET))
    world.claim(always(a_rollout_keeps_what_must_be_available))
    # Expectations expire after five minutes: news that is later than that is no news for them.
    world.limit(lateness_ms=60_000)


def _template(version: str) -> PodTemplate:
    labels = Map(app="web", version=version)
    return PodTemplate(
        Meta(labels=labels), Pod.of("", cpu_m=100, grace_s=1, scheduler_name="alpha").spec
    )


def _deployment() -> Deployment:
    strategy = UpdateStrategy("RollingUpdate", RollingUpdate(0, 1))
    return Deployment(
        "web", spec=DeploymentSpec(REPLICAS, template=_template("1"), strategy=strategy)
    )
