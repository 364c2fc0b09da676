"""Deed: what a scheduler writes because of one cycle. Its patches are retried a few times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from actors.scheduler.memory.books import Books
from actors.scheduler.writes.nomination import nomination_patch
from testbed import ApiError, Unavailable
from testbed.errors import CONNECTION_LOST, InternalError, TimedOut
from testbed.objects import Pod
from testbed.turns.because import Because

RETRY_MS = (10, 50, 250)
"""How long it waits before each retry of a patch (SCH-69)."""


@attrs.frozen(eq=False)
class Deed:
    """What a scheduler does because of one cycle, and what it does that with."""

    books: Books
    because: Because
    """The cycle's record: every write names it."""

    async def patch_status(self, pod: Pod, patch: Mapping[str, Any]) -> None:
        """Patch the status of the pod, whatever its revision is by now; ApiError. An empty patch is
        not sent."""
        await self._patch(pod, patch, "status")

    async def clear_nomination(self, pod: Pod) -> None:
        """Clear the nomination of the pod, if its informer has shown one. Errors are recorded and
        ignored."""
        if self.books.beliefs.nominator.said(pod):
            try:
                await self.nominate(pod, "")
            except ApiError as error:
                self.books.client.record("nomination kept", pod=pod.key, error=str(error))

    async def nominate(self, pod: Pod, node: str, *, is_first: bool = False) -> None:
        """Write the node that the pod is nominated to, empty for none, to the status or the
        annotation (SCH-50); if it `is_first`, only to the pod as it is given here; ApiError."""
        patch, subresource = nomination_patch(pod, node, self.books.switches.nnn_storage)
        if is_first:
            revision = {"resourceVersion": pod.meta.revision}
            patch = {**patch, "metadata": {**patch.get("metadata", {}), **revision}}
        await self._patch(pod, patch, subresource)

    async def _patch(self, pod: Pod, patch: Mapping[str, Any], subresource: str) -> None:
        """Patch, and retry a few times if the server is unavailable or has failed. A patch is
        not retried if its reply is lost."""
        if not patch:
            return
        client = self.books.client
        for wait_ms in (*RETRY_MS, None):
            self.books.must_lead()
            try:
                await client.patch(
                    pod, patch, how="strategic", subresource=subresource, because=self.because
                )
                return
            except (InternalError, Unavailable) as error:
                if wait_ms is None or is_lost(error):
                    raise
            await client.sleep(wait_ms, f"retry patch {pod.key}")


def is_lost(error: ApiError) -> bool:
    """Whether the request or its reply was lost, so that the write may have taken effect."""
    return isinstance(error, TimedOut) or CONNECTION_LOST in error.causes
