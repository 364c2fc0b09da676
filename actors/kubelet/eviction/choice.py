"""Choice: the one pod that is evicted in a loop of the eviction manager (KUB-29, KUB-34)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from actors.kubelet.eviction.look import Look
from actors.kubelet.eviction.message import message_of
from actors.kubelet.eviction.ranking import exceeds, ranked
from actors.kubelet.eviction.settings import EvictionSettings
from actors.kubelet.eviction.signals import Observation, PodUse
from actors.kubelet.switches import KubeletSwitches
from actors.shared.critical import is_critical
from testbed.objects import Pod


@attrs.frozen
class Evicting:
    """The pod to evict."""

    pod: Pod
    resource: str
    """The resource that is short."""
    message: str
    """What its status says."""
    grace_s: int
    """The grace that the eviction asks for: 0 at a hard threshold. What 0 means is up to the switch
    `hard_evict_grace` (KUB-37)."""
    is_hard: bool
    """Whether a hard threshold was met."""


def choice_of(
    found: Look,
    pods: Iterable[PodUse],
    seen: Mapping[str, Observation],
    settings: EvictionSettings,
    switches: KubeletSwitches,
) -> Evicting | None:
    """The first pod of the ranking that may be evicted: never a critical one. None if there is no
    such pod, or nothing to act on."""  # fmt: skip
    if not found.acting:
        return None
    threshold = found.acting[0]
    resource = threshold.resource
    for each in ranked(pods, resource, switches.evict_rank):
        if is_critical(each.pod):
            continue
        if not switches.evict_within_request and not exceeds(each, resource):
            continue
        message = message_of(resource, each, found.acting, seen)
        grace_s = 0 if threshold.is_hard else settings.max_pod_grace_s
        return Evicting(each.pod, resource, message, grace_s, threshold.is_hard)
    return None
