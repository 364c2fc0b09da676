"""Without the budget: a drain is told to delete pods, and not to evict them; so no budget is asked,
and a kubelet ends both pods at once."""

from __future__ import annotations

from functools import partial
from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.controllers.disruption.controller import DisruptionController
from actors.kubelet import Kubelet, Runtime
from actors.users.drain import Drain, DrainOptions
from testbed import Evidence, World, always
from testbed.objects import (
    Condition,
    LabelSelector,
    Map,
    Node,
    Pod,
    PodDisruptionBudget,
    PodDisruptionBudgetStatus,
    PodStatus,
)
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec
from tests.told.frame import Told


def one_pod_is_ready(see: Evidence) -> str | None:
    """The budget is kept: one pod is there at any time."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    ready = [pod for pod in pods if not pod.meta.is_terminating]
    return None if ready else "the budget of web wants 1 pod, and 0 are left"


def without_budget(world: World, *, guard: bool = False) -> None:
    """A node with two pods is drained; guarded, by evictions."""
    world.serve(ApiServer)
    world.serve(partial(Runtime, node="n1"))
    world.add(Node.of("n1", cpu_m=1000))
    for name in ("web-1", "web-2"):
        pod = Pod.of(name, cpu_m=100, node_name="n1", grace_s=5, labels={"app": "web"})
        ready = PodStatus("Running", conditions=(Condition("Ready", "True"),))
        world.add(attrs.evolve(pod, status=ready))
    spec = PodDisruptionBudgetSpec(min_available=1, selector=LabelSelector(Map(app="web")))
    status = PodDisruptionBudgetStatus(1, 2, 1, 2)
    world.add(PodDisruptionBudget("web", spec=spec, status=status))
    options = DrainOptions(force=True, disable_eviction=not guard, timeout_ms=20_000)
    world.start(Kubelet("kubelet-n1", "n1"), DisruptionController(switches=Map(events="off")))
    world.start(Drain("drain", ("n1",), at_ms=2_000, options=options))
    world.claim(always(one_pod_is_ready))
    world.limit(until_ms=30_000)


TRUE = Told(
    without_budget,
    actor="drain",
    about=("pods/default/web-1", "pods/default/web-2", "poddisruptionbudgets/default/web"),
    did=("delet",),
    words=("evict", "budget", "guard", "disable_eviction"),
    never=("kubelet-n1 deleted", "^disruption", "believing", "without ever having read"),
    said=(
        "drain deleted pods/default/web-2 instead of evicting it (disable_eviction), so the budget "
        "of web was not asked."
    ),
)
