"""Validation: what makes no sense is refused in the words of Kubernetes, whoever creates it."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from actors.apiserver import ApiServer
from testbed.errors import Invalid, ScenarioError
from testbed.objects import (
    Container,
    DaemonSet,
    Deployment,
    Job,
    JobSpec,
    LabelSelector,
    Map,
    Meta,
    Object,
    Pod,
    PodSpec,
    PodTemplate,
    ReplicaSet,
    Resources,
    StatefulSet,
)
from testbed.objects.quantity import amounts
from testbed.world.world import World
from tests.each_row import each_row
from tests.models.counter import Counter

NEGATIVE = "must be greater than or equal to 0"
UNRELATED = "`selector` does not match template `labels`"
WEB = LabelSelector(Map(app="web"))
LONG_LIVED = (DaemonSet, Deployment, ReplicaSet, StatefulSet)


def template(policy: str = "", **labels: str) -> PodTemplate:
    """A template of pods with these labels."""
    spec = Pod.of("", cpu_m=100, restart_policy=policy).spec
    return PodTemplate(Meta(labels=Map(labels)), spec)


def workload(kind: Any, **spec: Any) -> Any:
    """An object of that kind, whose spec says this."""
    return kind("a", spec=type(kind("a").spec)(**{"template": template(), **spec}))


def demanding(**resources: dict[str, str]) -> PodSpec:
    """The spec of a pod with these requests and limits."""
    given = {name: amounts(each) for name, each in resources.items()}
    return PodSpec(containers=(Container("c"), Container("d", resources=Resources(**given))))


WRONG: dict[str, tuple[Object, str]] = {
    "a request": (
        Pod("a", spec=demanding(requests={"cpu": "-100m", "memory": "1Gi"})),
        f'Pod "a" is invalid: spec.containers[1].resources.requests[cpu]: Invalid value: "-100m": '
        f"{NEGATIVE}",
    ),
    "a limit, which is the request, too": (
        Pod("a", spec=demanding(limits={"memory": "-1Gi"})),
        f'Pod "a" is invalid: [spec.containers[1].resources.limits[memory]: Invalid value: "-1Gi": '
        f'{NEGATIVE}, spec.containers[1].resources.requests[memory]: Invalid value: "-1Gi": '
        f"{NEGATIVE}]",
    ),
    "a policy": (
        Pod.of("a", restart_policy="Sometimes"),
        'Pod "a" is invalid: spec.restartPolicy: Unsupported value: "Sometimes": supported values: '
        '"Always", "OnFailure", "Never"',
    ),
    "a Job for ever": (
        workload(Job),
        'Job.batch "a" is invalid: spec.template.spec.restartPolicy: Required value: valid values: '
        '"OnFailure", "Never"',
    ),
    "the counts of a Job": (
        Job("a", spec=JobSpec(-1, -2, backoff_limit=-3, template=template("Never"))),
        f'Job.batch "a" is invalid: [spec.parallelism: Invalid value: -1: {NEGATIVE}, '
        f"spec.completions: Invalid value: -2: {NEGATIVE}, "
        f"spec.backoffLimit: Invalid value: -3: {NEGATIVE}]",
    ),
    "the pods of a Job": (
        workload(Job, template=PodTemplate(spec=demanding(requests={"cpu": "-1"}))),
        'Job.batch "a" is invalid: [spec.template.spec.containers[1].resources.requests[cpu]: '
        f'Invalid value: "-1": {NEGATIVE}, spec.template.spec.restartPolicy: Required value: valid '
        'values: "OnFailure", "Never"]',
    ),
    **{
        f"the replicas of a {kind.kind}": (
            workload(kind, replicas=-1),
            f'{kind.kind}.apps "a" is invalid: spec.replicas: Invalid value: -1: {NEGATIVE}',
        )
        for kind in LONG_LIVED if kind is not DaemonSet
    },
    **{
        f"the selector of a {kind.kind}": (
            workload(kind, selector=WEB, template=template(tier="b", app="db")),
            f'{kind.kind}.apps "a" is invalid: spec.template.metadata.labels: Invalid value: '
            f'map[string]string{{"app":"db", "tier":"b"}}: {UNRELATED}',
        )
        for kind in LONG_LIVED
    },
    "a template without labels": (
        workload(Deployment, selector=WEB),
        'Deployment.apps "a" is invalid: spec.template.metadata.labels: Invalid value: '
        f"map[string]string(nil): {UNRELATED}",
    ),
    **{
        f"the pods of a {kind.kind}": (
            workload(kind, template=template("Never")),
            f'{kind.kind}.apps "a" is invalid: spec.template.spec.restartPolicy: Unsupported '
            'value: "Never": supported values: "Always"',
        )
        for kind in LONG_LIVED
    },
}  # fmt: skip


@pytest.mark.spec("API-62")
@each_row("name", WRONG)
def test_what_makes_no_sense_is_never_created(name: str) -> None:
    """422 for a client, with all that is wrong; the same words for a scenario that adds it."""
    item, said = WRONG[name]
    with pytest.raises(Invalid) as refused:
        Counter().create(item)
    assert str(refused.value) == said
    world = World("invalid")
    world.serve(ApiServer)
    with pytest.raises(ScenarioError) as told:
        world.add(item)
    assert str(told.value) == (
        f"world.add was given {item.key}, which api refuses: {said}.\n"
        "Next: give that field a value that it may have."
    )
    early = World("invalid")
    early.add(item)
    with pytest.raises(ScenarioError, match="which api refuses"):
        early.serve(ApiServer)


@pytest.mark.spec("API-62")
@each_row("kind", LONG_LIVED, ids=lambda kind: kind.kind)
def test_what_makes_sense_is_created_and_cannot_be_spoilt(kind: Any) -> None:
    """A selector may ask for less than the labels say; 0 is a number. An update is looked at as
    well, and leaves the object as it is."""
    counter = Counter()
    made = counter.create(workload(kind, selector=WEB, template=template(app="web", tier="b")))
    spoilt = attrs.evolve(made.spec, template=template(app="db"))
    with pytest.raises(Invalid, match="`selector` does not match"):
        counter.update(attrs.evolve(made, spec=spoilt))
    assert counter.get(kind, "a") == made
    none = {} if kind is DaemonSet else {"replicas": 0}
    counter.update(attrs.evolve(made, spec=attrs.evolve(made.spec, **none)))
