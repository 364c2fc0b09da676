"""Defaults: what the server fills in, so that not to say something is to say the usual."""

from __future__ import annotations

from typing import Any

import pytest

from actors.apiserver import ApiServer
from testbed.client.client import Client
from testbed.objects import (
    DaemonSet,
    Deployment,
    DeploymentSpec,
    Job,
    JobSpec,
    Object,
    Pod,
    PodTemplate,
    ReplicaSet,
    StatefulSet,
    UpdateStrategy,
)
from testbed.objects.form import to_tree
from tests.each_row import each_row
from tests.shared.stage import play, world_of

TEMPLATE = PodTemplate(spec=Pod.of("", cpu_m=100).spec)
BRIEF = PodTemplate(spec=Pod.of("", cpu_m=100, restart_policy="Never").spec)
"""That of a Job, whose pods have to end."""
ROLLING = {"type": "RollingUpdate"}
QUARTERS = {**ROLLING, "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}}
FILLED: dict[type[Object], dict[str, Any]] = {
    ReplicaSet: {"replicas": 1},
    Deployment: {
        "replicas": 1, "strategy": QUARTERS, "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
    },
    StatefulSet: {
        "replicas": 1, "podManagementPolicy": "OrderedReady", "revisionHistoryLimit": 10,
        "updateStrategy": {**ROLLING, "rollingUpdate": {"partition": 0}}, "serviceName": "",
    },
    DaemonSet: {
        "revisionHistoryLimit": 10,
        "updateStrategy": {**ROLLING, "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}},
    },
    Job: {"completions": 1, "parallelism": 1, "backoffLimit": 6},
}  # fmt: skip
"""What the spec of each kind says if it said nothing but a template."""


def created(item: Object) -> dict[str, Any]:
    """The spec that the server stores, as a tree."""

    async def user(client: Client) -> None:
        await client.create(item)

    world = world_of(user=user)
    world.serve(ApiServer)
    play(world)
    stored = world.store.peek(item.key)
    assert stored is not None
    spec: dict[str, Any] = to_tree(stored.value)["spec"]
    return spec


@pytest.mark.spec("API-60")
@each_row("kind", FILLED, ids=lambda kind: kind.__name__)
def test_a_workload_that_says_nothing_gets_the_usual(kind: Any) -> None:
    """As Kubernetes 1.26 has it. The template is completed as a pod is."""
    bare: Any = kind("a")
    given = BRIEF if kind is Job else TEMPLATE
    spec = created(kind("a", spec=type(bare.spec)(template=given)))
    template = spec.pop("template")
    assert spec == FILLED[kind]
    assert template["spec"]["schedulerName"] == "default-scheduler"
    assert template["spec"]["terminationGracePeriodSeconds"] == 30


def test_what_it_says_is_kept() -> None:
    """Nothing is added to a strategy that has no bounds; a Job may be a work queue."""
    strategy = UpdateStrategy("Recreate")
    spec = created(Deployment("a", spec=DeploymentSpec(0, template=TEMPLATE, strategy=strategy)))
    assert (spec["replicas"], spec["strategy"]) == (0, {"type": "Recreate"})
    queue = created(Job("a", spec=JobSpec(parallelism=3, template=BRIEF)))
    assert (queue["parallelism"], queue.get("completions")) == (3, None)
