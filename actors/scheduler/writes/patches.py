"""Writing: the patches of a scheduler, each only of what differs, and tried again a few times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from actors.framework.cluster_events import NOMINATED
from actors.scheduler.memory.books import Books
from actors.scheduler.writes.difference import difference
from testbed import ApiError, Unavailable
from testbed.errors import CONNECTION_LOST, InternalError, TimedOut
from testbed.objects import Pod

RETRY_MS = (10, 50, 250)
"""How long it waits before it tries a patch again (SCH-69)."""


async def patch_status(books: Books, pod: Pod, patch: Mapping[str, Any], because: int) -> None:
    """Patch the status of a pod, whatever has become of it; ApiError. Nothing, if that is empty."""
    await _patch(books, pod, patch, "status", because)


async def clear_nomination(books: Books, pod: Pod, because: int) -> None:
    """Take a nomination back, if the pod was seen to have it; that this fails is no matter."""
    if books.nominator.said(pod):
        try:
            await nominate(books, pod, "", because)
        except ApiError as error:
            books.client.record("nomination kept", pod=pod.key, error=str(error))


async def nominate(books: Books, pod: Pod, node: str, because: int) -> None:
    """Write to which node a pod is nominated, or none, where such is written (SCH-50)."""
    if books.switches.nnn_storage == "annotation":
        patch = {"metadata": {"annotations": {NOMINATED: node or None}}}
        await _patch(books, pod, patch, "", because)
    else:
        status = attrs.evolve(pod.status, nominated_node_name=node)
        await _patch(books, pod, difference(pod, status), "status", because)


async def _patch(
    books: Books, pod: Pod, patch: Mapping[str, Any], subresource: str, because: int
) -> None:
    """Again if the server was at a loss or refused to be reached, at most so often; what is lost
    on its way is lost."""
    if not patch:
        return
    client = books.client
    for wait_ms in (*RETRY_MS, None):
        books.must_lead()
        try:
            await client.patch(
                pod, patch, how="strategic", subresource=subresource, because=because
            )
            return
        except (InternalError, Unavailable) as error:
            if wait_ms is None or is_lost(error):
                raise
        await client.sleep(wait_ms, f"retry patch {pod.key}")


def is_lost(error: ApiError) -> bool:
    """Whether it was lost on its way, and not refused."""
    return isinstance(error, TimedOut) or CONNECTION_LOST in error.causes
