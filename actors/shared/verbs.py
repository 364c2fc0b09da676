"""Bind and evict: the two subresources of a pod that are created, each as one call."""

from __future__ import annotations

from typing import Any

from testbed import Client, Operation
from testbed.objects import Binding, DeleteOptions, Eviction, Meta, Pod, Revision, Target
from testbed.objects.meta import UNSET
from testbed.turns.because import Because


async def bind(
    client: Client,
    pod: Pod,
    node: str,
    *,
    revision: Revision = UNSET,
    timeout_ms: int | None = None,
    because: Because | None = None,
) -> Pod:
    """Bind a pod to a node. Conflict if the pod has a node, is being deleted, has another uid than
    the one given here, or has changed since `revision`, if that is given."""
    body = Binding(_of(pod, uid=pod.meta.uid, revision=revision), target=Target(node))
    return await _post(client, pod, body, "binding", timeout_ms, because)  # type: ignore[no-any-return]


async def evict(
    client: Client,
    pod: Pod,
    options: DeleteOptions | None = None,
    *,
    timeout_ms: int | None = None,
    because: Because | None = None,
) -> None:
    """Delete a pod, if its PodDisruptionBudget allows that. If not, the `causes` of the
    TooManyRequests say why."""
    await _post(client, pod, Eviction(_of(pod), options), "eviction", timeout_ms, because)


def _of(pod: Pod, **preconditions: Any) -> Meta:
    return Meta(pod.meta.name, pod.meta.namespace, **preconditions)


async def _post(
    client: Client,
    pod: Pod,
    body: Any,
    subresource: str,
    timeout_ms: int | None,
    because: Because | None,
) -> Any:
    meta = pod.meta
    operation = Operation(
        "create", pod.plural, meta.name, meta.namespace, body, subresource=subresource
    )
    return await client.ask(operation, timeout_ms=timeout_ms, because=because)
