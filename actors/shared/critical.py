"""Critical: pods that a kubelet kills others for, and never evicts (KUB-11, KUB-34)."""

from __future__ import annotations

from testbed.objects import Pod

CRITICAL_FROM = 2_000_000_000
"""The lowest priority of a critical pod."""
SOURCE, MIRROR = "kubernetes.io/config.source", "kubernetes.io/config.mirror"
"""The annotations of a static pod, and of its copy in the API server."""
API = "api"


def is_static(pod: Pod) -> bool:
    """Whether the kubelet has it from elsewhere than the API server, such as from a file."""
    return pod.meta.annotations.get(SOURCE, API) != API and not is_mirror(pod)


def is_mirror(pod: Pod) -> bool:
    """Whether it is the copy of a static pod in the API server."""
    return MIRROR in pod.meta.annotations


def is_critical(pod: Pod) -> bool:
    """Whether it is static, or a mirror, or of a priority from two billion on."""
    return is_static(pod) or is_mirror(pod) or pod.priority >= CRITICAL_FROM


def may_preempt(pod: Pod, other: Pod) -> bool:
    """Whether the other pod may be killed to admit this one: this one is critical and the other is
    not, or the other has a lower priority (KUB-12)."""
    return (is_critical(pod) and not is_critical(other)) or pod.priority > other.priority
