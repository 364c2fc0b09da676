"""Validation: what is wrong with the spec of an object, in the words of Kubernetes (API-62).

Each function yields a line for each mistake, in the order in which Kubernetes finds them: the field
and what is wrong with it. Only mistakes are looked for that would mislead what reads the object.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from testbed.objects import DaemonSet, Deployment, Job, Pod, PodSpec, ReplicaSet, StatefulSet
from testbed.objects.labels import LabelSelector
from testbed.objects.quantity import Quantity
from testbed.objects.workload import PodTemplate

Wrongs = Iterator[str]
"""Lines such as `spec.replicas: Invalid value: -1: must be greater than or equal to 0`."""
NEGATIVE = "must be greater than or equal to 0"
UNRELATED = "`selector` does not match template `labels`"
ALWAYS, ON_FAILURE, NEVER = "Always", "OnFailure", "Never"


def wrong_in_pod(pod: Pod) -> Wrongs:
    """What is wrong with a pod."""
    yield from _in_spec("spec", pod.spec)


def wrong_in_workload(item: Deployment | ReplicaSet | StatefulSet) -> Wrongs:
    """What is wrong with an object that keeps a number of pods running."""
    yield from _negative("spec.replicas", item.spec.replicas)
    yield from _in_template(item.spec.template, item.spec.selector)


def wrong_in_daemon_set(item: DaemonSet) -> Wrongs:
    """What is wrong with a DaemonSet."""
    yield from _in_template(item.spec.template, item.spec.selector)


def wrong_in_job(job: Job) -> Wrongs:
    """What is wrong with a Job. Its pods have to end, so none may be restarted for ever."""
    spec = job.spec
    yield from _negative("spec.parallelism", spec.parallelism)
    yield from _negative("spec.completions", spec.completions)
    yield from _negative("spec.activeDeadlineSeconds", spec.active_deadline_s)
    yield from _negative("spec.backoffLimit", spec.backoff_limit)
    yield from _in_spec("spec.template.spec", spec.template.spec)
    field, policy = "spec.template.spec.restartPolicy", spec.template.spec.restart_policy
    if policy == ALWAYS:
        yield f'{field}: Required value: valid values: "{ON_FAILURE}", "{NEVER}"'
    else:
        yield from _unsupported(field, policy, ON_FAILURE, NEVER)


def _in_template(template: PodTemplate, selector: LabelSelector | None) -> Wrongs:
    """What is wrong with a template of pods that are to run for ever."""
    labels = template.meta.labels
    if selector is not None and not selector.matches(labels):
        said = ", ".join(f'"{name}":"{labels[name]}"' for name in sorted(labels))
        shown = f"map[string]string{{{said}}}" if labels else "map[string]string(nil)"
        yield f"spec.template.metadata.labels: Invalid value: {shown}: {UNRELATED}"
    yield from _in_spec("spec.template.spec", template.spec)
    policy = template.spec.restart_policy
    yield from _unsupported("spec.template.spec.restartPolicy", policy, ALWAYS)


def _in_spec(path: str, spec: PodSpec) -> Wrongs:
    for name, containers in (
        ("containers", spec.containers),
        ("initContainers", spec.init_containers),
    ):
        for place, container in enumerate(containers):
            resources = container.resources
            for what, amounts in (("limits", resources.limits), ("requests", resources.requests)):
                if amounts:
                    field = f"{path}.{name}[{place}].resources.{what}"
                    yield from _negative_amounts(field, amounts)
    yield from _unsupported(f"{path}.restartPolicy", spec.restart_policy, ALWAYS, ON_FAILURE, NEVER)
    yield from _negative_amounts(f"{path}.overhead.limits", spec.overhead)


def _negative(field: str, number: int | None) -> Wrongs:
    if number is not None and number < 0:
        yield f"{field}: Invalid value: {number}: {NEGATIVE}"


def _negative_amounts(field: str, amounts: Mapping[str, Quantity]) -> Wrongs:
    for name, amount in amounts.items():
        if amount.nano < 0:
            yield f'{field}[{name}]: Invalid value: "{amount}": {NEGATIVE}'


def _unsupported(field: str, value: str, *known: str) -> Wrongs:
    if value not in known:
        listed = ", ".join(f'"{each}"' for each in known)
        yield f'{field}: Unsupported value: "{value}": supported values: {listed}'
