"""A controller creates a pod, gets no answer, and creates it again."""

from __future__ import annotations

from typing import Any

from actors.apiserver import ApiServer
from actors.controllers.recreator import OWNER, Recreator
from testbed import Evidence, Found, World, always
from testbed.errors import ScenarioError
from testbed.faults.lose_reply import LoseReply
from testbed.objects import Pod

REPLICAS_MAX = 10


def twice_created(world: World, *, guard: bool = False, replicas: int = 1) -> None:
    """A reply is lost while the watch is late: one pod too many; guarded, pods have fixed names.

    Cause: a create with `generateName` is not idempotent, and the controller takes one that got no
      answer for one that failed.
    Look for: the second create, after the reply to the first was lost.
    Source: kubernetes#148; the Kubernetes API Conventions, "Idempotency".
    Tags: stale-cache, lost-reply.
    """
    if not 1 <= replicas <= REPLICAS_MAX:
        raise ScenarioError(
            f"replicas={replicas}: expected 1 to {REPLICAS_MAX}\nNext: --switch replicas=2"
        )
    world.serve(ApiServer)
    world.start(Recreator("web", Pod.of("web", cpu_m=100), replicas, guard))
    world.allow(LoseReply("web"))

    def no_more_pods_than_wanted(see: Evidence) -> Found | None:
        """Each pod does its work once; one pod too many would do it twice."""
        pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
        names = [
            pod.meta.name
            for pod in pods
            if pod.meta.labels.get(OWNER) == "web" and not pod.meta.is_terminating
        ]
        if len(names) > replicas:
            text = f"web wants {replicas} pods and has {len(names)}: {', '.join(names)}"
            return Found(text, reason="too many")
        return None

    world.claim(always(no_more_pods_than_wanted, reads=("log:pods",)))
