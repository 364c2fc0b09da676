"""Defaults: what the server fills in where a pod or a workload says nothing.

A template is completed as a pod is. So a Deployment and its ReplicaSets have equal templates, and
not to say something is the same as to say its default: it begins no rollout.
"""

from __future__ import annotations

from typing import TypeVar

from testbed.objects import (
    Container,
    DaemonSet,
    Deployment,
    Job,
    Map,
    Pod,
    PodSpec,
    PodTemplate,
    ReplicaSet,
    Resources,
    RollingUpdate,
    StatefulSet,
    UpdateStrategy,
)
from testbed.objects.deployment import OrderedUpdate, OrderedUpdateStrategy
from testbed.objects.meta import evolved

V = TypeVar("V")
GRACE_S = 30
"""How long a pod has to end if its spec does not say."""
ROLLING = "RollingUpdate"
QUARTER = "25%"
"""How many pods of a Deployment may be surplus, and how many unavailable."""
HISTORY = 10
"""How many old revisions are kept."""
PROGRESS_S = 600
"""How long a Deployment may make no progress."""
BACKOFF_LIMIT = 6
"""How many pods of a Job may fail (T-32)."""


def complete_pod(pod: Pod) -> Pod:
    """A pod with its defaults."""
    spec = _complete_spec(pod.spec)
    return pod if spec is pod.spec else evolved(pod, spec=spec)


def complete_replica_set(item: ReplicaSet) -> ReplicaSet:
    """A ReplicaSet with its defaults."""
    spec = item.spec
    return evolved(
        item,
        spec=evolved(
            spec, replicas=_given(spec.replicas, 1), template=_complete_template(spec.template)
        ),
    )


def complete_deployment(item: Deployment) -> Deployment:
    """A Deployment with its defaults."""
    spec = item.spec
    new = evolved(
        spec,
        replicas=_given(spec.replicas, 1),
        template=_complete_template(spec.template),
        strategy=_complete_strategy(spec.strategy, QUARTER, QUARTER),
        revision_history_limit=_given(spec.revision_history_limit, HISTORY),
        progress_deadline_s=_given(spec.progress_deadline_s, PROGRESS_S),
    )
    return evolved(item, spec=new)


def complete_stateful_set(item: StatefulSet) -> StatefulSet:
    """A StatefulSet with its defaults."""
    spec, strategy = item.spec, item.spec.update_strategy
    kind = strategy.type or ROLLING
    if kind == ROLLING:
        rolling = strategy.rolling_update or OrderedUpdate()
        rolling = evolved(rolling, partition=_given(rolling.partition, 0))
        strategy = OrderedUpdateStrategy(kind, rolling)
    new = evolved(
        spec,
        replicas=_given(spec.replicas, 1),
        template=_complete_template(spec.template),
        update_strategy=strategy,
        pod_management_policy=spec.pod_management_policy or "OrderedReady",
        revision_history_limit=_given(spec.revision_history_limit, HISTORY),
    )
    return evolved(item, spec=new)


def complete_daemon_set(item: DaemonSet) -> DaemonSet:
    """A DaemonSet with its defaults."""
    spec = item.spec
    new = evolved(
        spec,
        template=_complete_template(spec.template),
        update_strategy=_complete_strategy(spec.update_strategy, 1, 0),
        revision_history_limit=_given(spec.revision_history_limit, HISTORY),
    )
    return evolved(item, spec=new)


def complete_job(item: Job) -> Job:
    """A Job with its defaults. One that names neither number runs one pod once; one that names only
    how many run at once is a work queue, and has no number of completions."""
    spec = item.spec
    is_bare = spec.completions is None and spec.parallelism is None
    new = evolved(
        spec,
        completions=1 if is_bare else spec.completions,
        parallelism=_given(spec.parallelism, 1),
        backoff_limit=_given(spec.backoff_limit, BACKOFF_LIMIT),
        template=_complete_template(spec.template),
    )
    return evolved(item, spec=new)


def _given(value: V | None, default: V) -> V:
    return default if value is None else value


def _complete_strategy(
    strategy: UpdateStrategy, unavailable: int | str, surge: int | str
) -> UpdateStrategy:
    """A strategy that replaces pods step by step has both bounds."""
    kind = strategy.type or ROLLING
    if kind != ROLLING:
        return strategy
    rolling = strategy.rolling_update or RollingUpdate()
    bounds = RollingUpdate(
        _given(rolling.max_unavailable, unavailable), _given(rolling.max_surge, surge)
    )
    return UpdateStrategy(kind, bounds)


def _complete_template(template: PodTemplate) -> PodTemplate:
    spec = _complete_spec(template.spec)
    return template if spec is template.spec else evolved(template, spec=spec)


def _complete_spec(spec: PodSpec) -> PodSpec:
    """The same spec if it is complete, as that of every pod is once it is stored."""
    containers, init_containers = spec.containers, spec.init_containers
    has_requests = all(map(_has_requests, containers)) and all(map(_has_requests, init_containers))
    if has_requests and spec.scheduler_name and spec.restart_policy and spec.grace_s is not None:
        return spec
    return evolved(
        spec,
        scheduler_name=spec.scheduler_name or "default-scheduler",
        restart_policy=spec.restart_policy or "Always",
        grace_s=GRACE_S if spec.grace_s is None else spec.grace_s,
        containers=tuple(map(_complete_container, containers)),
        init_containers=tuple(map(_complete_container, init_containers)),
    )


def _has_requests(container: Container) -> bool:
    """Whether it has a request wherever it has a limit."""
    return container.resources.limits.keys() <= container.resources.requests.keys()


def _complete_container(container: Container) -> Container:
    """Where it has a limit and no request, its limit becomes its request."""
    if _has_requests(container):
        return container
    requests, limits = container.resources.requests, container.resources.limits
    return evolved(container, resources=Resources(Map({**limits, **requests}), limits))
