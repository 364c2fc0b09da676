"""A controller does not see its own creates yet, and creates the pods again."""

from __future__ import annotations

from typing import Any

from actors.apiserver import ApiServer
from actors.controllers.replicaset import ReplicaSetController
from actors.shared.user import User
from testbed import Evidence, Found, World, always
from testbed.errors import ScenarioError
from testbed.objects import Map, Meta, Pod, PodTemplate, ReplicaSet, ReplicaSetSpec

LABELS = Map(app="web")
REPLICAS_MAX = 20


def own_writes_unseen(world: World, *, guard: bool = False, replicas: int = 2) -> None:
    """A ReplicaSet is synced before the news of its new pods has come: too many are created.

    Its own write of the status wakes the controller, by another watch than that of the pods. What
    Kubernetes does against it are the expectations of its `controller_utils.go` (CTL-2): with the
    guard, nothing is created until all that was created has been heard of, or five minutes later:
    so the scenario is over after one.

    With faults that are not allowed here it can still happen: if the answer to a create is lost,
    the controller expects no news of that pod, and creates another; and expectations end with the
    life of the controller.

    Cause: the controller counts the pods in its cache, which does not have all of its own creates
      yet.
    Look for: the third create, while the news of a pod that it has created is held back.
    Source: kubernetes PR#6866, which added the expectations; kubernetes#129795, where they expire.
    Tags: stale-cache.
    """
    if not 1 <= replicas <= REPLICAS_MAX:
        raise ScenarioError(
            f"replicas={replicas}: expected 1 to {REPLICAS_MAX}\nNext: --switch replicas=2"
        )
    template = PodTemplate(Meta(labels=LABELS), Pod.of("", cpu_m=100).spec)
    web = ReplicaSet("web", spec=ReplicaSetSpec(replicas, template=template))
    switches = Map(expectations="on" if guard else "off", events="off")
    world.serve(ApiServer)
    world.start(User("ann", ((0, web),)), ReplicaSetController("controller", switches=switches))

    def no_more_pods_than_wanted(see: Evidence) -> Found | None:
        """Each pod does work, and takes room: one too many may even push out another."""
        pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
        names = [pod.meta.name for pod in pods if not pod.meta.is_terminating]
        if len(names) > replicas:
            text = f"web wants {replicas} pods and has {len(names)}: {', '.join(names)}"
            return Found(text, reason="too many")
        return None

    # Expectations expire after five minutes: news that is later than that is no news for them.
    world.limit(lateness_ms=60_000)
    world.claim(always(no_more_pods_than_wanted, reads=("log:pods",)))
