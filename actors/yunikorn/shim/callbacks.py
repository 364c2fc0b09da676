"""Callbacks: what the shim does in Kubernetes for the core: it binds pods, and deletes victims."""

from __future__ import annotations

from actors.shared.recorder import Recorder
from actors.shared.verbs import bind
from actors.yunikorn.messages import (
    PREEMPTED,
    CoreEvent,
    NewAllocation,
    ReleasedAllocation,
    ToShim,
)
from actors.yunikorn.shim.context import ShimContext
from actors.yunikorn.shim.pods import ALLOCATED, BOUND, ShimTask
from testbed import ApiError, Client
from testbed.objects.event import WARNING

BIND_TRIES, BIND_RETRY_MS, BIND_RETRY_MS_MAX = 8, 1_000, 30_000
"""How often it tries to bind a pod, and how long it waits in between: it doubles."""


class Callbacks:
    """Does what the core's messages ask for, in their order; binds run beside them."""

    def __init__(self, client: Client, context: ShimContext, component: str) -> None:
        self._client = client
        self._context = context
        self._recorder = Recorder(client, component)

    async def call(self, message: ToShim) -> None:
        """Do what one message asks for. A pod that is gone meanwhile needs nothing."""
        task = self._context.tasks.get(message.key)
        if task is None:
            return
        match message:
            case NewAllocation():
                self._allocated(task, message.node)
            case ReleasedAllocation():
                await self._released(task, message)
            case CoreEvent():
                self._recorder.note(task.pod, message.reason, message.message, WARNING)

    def _allocated(self, task: ShimTask, node: str) -> None:
        """Assume the pod on its node, and bind it (YK-31)."""
        if not task.pod.spec.node_name:
            task.state, task.node = ALLOCATED, node
            self._client.spawn("bind", self._bind, task, node)

    async def _bind(self, task: ShimTask, node: str) -> None:
        """Bind a pod, several times if that fails; at last ask for another place."""
        because = self._client.record("binds", pod=task.pod.key, node=node)
        wait_ms = BIND_RETRY_MS
        for _ in range(BIND_TRIES):
            try:
                await bind(self._client, task.pod, node, because=because)
            except ApiError as error:
                self._client.record("not bound", pod=task.pod.key, error=error.reason)
            else:
                # If its node was gone in between, the watch tells the core where it is.
                task.state = BOUND if task.node == node else task.state
                return
            await self._client.sleep(wait_ms, f"bind {task.pod.key} again")
            wait_ms = min(2 * wait_ms, BIND_RETRY_MS_MAX)
            if self._context.tasks.get(task.key) is not task or task.state == BOUND:
                return
            if task.node != node:
                break
        self._context.place_again(task)

    async def _released(self, task: ShimTask, message: ReleasedAllocation) -> None:
        """Delete a victim with its own grace period (YK-29). If that fails, it does not try
        again (YK-33). A victim that is terminating already is left alone: a second request would
        change nothing. An allocation released because its node is gone is only forgotten."""
        if message.why != PREEMPTED:
            self._context.lost(task)
            return
        task.why = message.why
        if task.pod.meta.deleted_ms is not None:
            return
        said = f"was told to delete {task.pod.key}, {message.message}"
        facts = {"pod": task.pod.key, "said": said}
        if (ask := self._context.tasks.get(message.ask)) is not None:
            facts |= {"for": ask.pod.key, "uid": ask.key, "room": ask.key}
        because = self._client.record("preempts", facts)
        try:
            # By name alone, as the real shim does: a new pod of the same name would go, too.
            await self._client.delete(task.pod, whatever_it_was=True, because=because)
        except ApiError as error:
            self._client.record("not deleted", pod=task.pod.key, error=error.reason)
