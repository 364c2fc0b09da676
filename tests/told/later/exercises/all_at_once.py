"""All at once: a Deployment says that all its pods may be unavailable, so its controller ends both
old pods before a new one is there; a kubelet carries that out."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from actors.apiserver import ApiServer
from actors.controllers.deployment.controller import DeploymentController
from actors.controllers.replicaset import ReplicaSetController
from actors.kubelet import Kubelet, Runtime
from actors.scheduler import Scheduler
from testbed import Actor, Client, Evidence, World
from testbed.invariant import COMMIT, Invariant
from testbed.objects import (
    Deployment,
    DeploymentSpec,
    LabelSelector,
    Map,
    Meta,
    Node,
    Pod,
    PodTemplate,
    RollingUpdate,
    UpdateStrategy,
)
from testbed.objects.form import to_tree
from testbed.turns.trace import Step
from tests.told.frame import Told

QUIET = Map(events="off")


class Ann(Actor):
    """Rolls out a new version."""

    async def run(self, client: Client) -> None:
        """After twenty seconds."""
        await client.sleep(20_000, "roll out")
        await client.patch(Deployment("web"), {"spec": {"template": to_tree(template("2"))}})


class NeverDown(Invariant):
    """Once a pod of web was ready, there is always one."""

    name = "never_down"
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT})

    def __init__(self) -> None:
        self.was_up = False

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        """Something was written."""
        pods: list[Any] = [entry.value for entry in evidence.store.snapshot("pods/")]
        ready = [pod for pod in pods if pod.is_ready and not pod.meta.is_terminating]
        if self.was_up and not ready:
            return "web is down"
        self.was_up = self.was_up or len(ready) == 2
        return None


def template(version: str) -> PodTemplate:
    """The pods of that version."""
    labels = Map(app="web", version=version)
    return PodTemplate(Meta(labels=labels), Pod.of("", cpu_m=100, grace_s=2).spec)


def all_at_once(world: World, *, guard: bool = False) -> None:
    """A rollout of two pods; guarded, one at a time."""
    world.serve(ApiServer)
    world.serve(partial(Runtime, node="n1"))
    strategy = UpdateStrategy("RollingUpdate", RollingUpdate(1 if guard else 2, 0))
    selector = LabelSelector(Map(app="web"))
    spec = DeploymentSpec(2, selector, template("1"), strategy)
    world.add(Node.of("n1", cpu_m=1000), Deployment("web", spec=spec))
    world.start(Kubelet("kubelet-n1", "n1"), Scheduler("default-scheduler"))
    world.start(DeploymentController("deployments", switches=QUIET))
    world.start(ReplicaSetController("replicasets", switches=QUIET), Ann("ann"))
    world.claim(NeverDown())
    world.limit(until_ms=60_000)


TRUE = Told(
    all_at_once,
    actor=("deployments", "replicasets"),
    about=("replicasets/default/web-", "pods/default/web-", "deployments/default/web"),
    did=("scaled", "patched", "updated", "deleted"),
    words=("guard", "unavailable", "at once", r"\b0\b", r"spec\.replicas"),
    never=("^kubelet", "kubelet-n1 deleted", "^ann", "believing", "not knowing", "never created"),
    said=(
        "deployments scaled the old ReplicaSet of deployments/default/web to 0 at once, since its "
        "maxUnavailable of 2 allows that; replicasets deleted both pods."
    ),
)
