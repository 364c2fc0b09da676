"""RemovePodsHavingTooManyRestarts: a pod whose containers start again and again may do better on
another node."""

from __future__ import annotations

from actors.controllers.descheduler.sight import Evictions, Sight
from testbed.objects import Pod


def restarts(sight: Sight) -> Evictions:
    """Node by node, the pods with the most restarts first; also those that have ended."""
    least = sight.policy.restarts_min
    for node in sight.nodes:
        name = node.meta.name
        pods = [*sight.pods_on(name), *sight.over.get(name, ())]
        found = [pod for pod in pods if restarts_of(pod) >= least]
        for pod in sorted(found, key=lambda pod: (-restarts_of(pod), pod.key)):
            if sight.may_evict(pod):
                yield pod


def restarts_of(pod: Pod) -> int:
    """How often the containers of a pod were started again, all together."""
    return sum(each.restart_count for each in pod.status.container_statuses)
