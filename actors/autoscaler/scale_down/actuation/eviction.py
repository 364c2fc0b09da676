"""Eviction: one pod is asked to go, again and again, until a time is over (CA-29)."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from actors.autoscaler.scale_down.actuation.surroundings import Surroundings
from actors.autoscaler.scale_down.overtime import GRACE_S
from actors.shared.daemon_pods import is_daemon_pod
from actors.shared.verbs import evict
from testbed import ApiError, NotFound
from testbed.objects import DeleteOptions, Pod
from testbed.objects.event import WARNING

EVICT_DAEMON = "cluster-autoscaler.kubernetes.io/enable-ds-eviction"
"""The annotation of a daemon pod that says whether it is evicted, whatever the options say."""


@attrs.frozen
class Patience:
    """How often an eviction is asked for, and until when."""

    retry_ms: int
    until_ms: int


async def evict_pod(around: Surroundings, pod: Pod, patience: Patience) -> str:
    """Evict a pod with its own grace, within bounds; returns what is amiss, or nothing. After
    any refusal it asks again. A pod that is gone already is as good as evicted."""
    around.announcer.note(pod, "ScaleDown", "deleting pod for node scale down")
    client, options = around.client, DeleteOptions(grace_s=_grace_s(around, pod))
    while True:
        try:
            await evict(client, pod, options)
        except NotFound:
            return ""
        except ApiError as error:
            refusal = str(error) or error.reason
        else:
            return ""
        await client.sleep(patience.retry_ms, f"evict {pod.meta.name} again")
        if client.elapsed() >= patience.until_ms:
            break
    if not is_daemon_pod(pod):
        around.announcer.note(pod, "ScaleDownFailed", "failed to delete pod for ScaleDown", WARNING)
    key = f"{pod.meta.namespace}/{pod.meta.name}"
    return f"failed to evict pod {key} within allowed timeout (last error: {refusal})"


def daemons_to_evict(pods: Iterable[Pod], *, usually: bool) -> list[Pod]:
    """The daemon pods that are evicted: as their annotation says, or else as is usual."""
    says = {True: "true", False: "false"}[usually]
    return [pod for pod in pods if pod.meta.annotations.get(EVICT_DAEMON, says) == "true"]


def _grace_s(around: Surroundings, pod: Pod) -> int:
    own_s = pod.spec.grace_s
    return (
        GRACE_S
        if own_s is None
        else min(own_s, around.settings.max_graceful_termination_ms // 1000)
    )
