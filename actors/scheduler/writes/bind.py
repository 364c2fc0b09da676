"""Binding: from the choice of a node to the bind, and back if that fails (SCH-63, SCH-64).

Within the cycle the pod is assumed on its node, reserved, and asked leave for. The rest is a task
of its own, while the next cycles go on: it waits for leave, prepares, binds, and says so. Whatever
fails, the pod is given up, which is as good as a pod that is deleted, and waits again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from actors.framework.cluster_events import POD_DELETED
from actors.scheduler.cluster.cache import NotCached
from actors.scheduler.memory.books import Books
from actors.scheduler.memory.permit import PermitWait
from actors.scheduler.plugins import TIMEOUT_MS_MAX, Bind, Permit, PreBind, Rejected, Reserve, Wait
from actors.scheduler.queue.queued import QueuedPod
from actors.scheduler.writes.fail import ERROR, UNSCHEDULABLE, Failure, fail
from actors.shared.verbs import bind
from testbed import ApiError
from testbed.objects import Pod, Revision
from testbed.objects.meta import UNSET


@attrs.frozen
class Placement:
    """A pod, the node that was chosen for it, and why: the number of its cycle's record."""

    queued: QueuedPod
    pod: Pod
    """As it was when it was taken from the queue."""
    node: str
    because: int


class Binder:
    """What one life of a scheduler does with a pod that has its node."""

    def __init__(self, books: Books, plugins: Sequence[Any]) -> None:
        self._books = books
        self._reserves = [each for each in plugins if isinstance(each, Reserve)]
        self._permits = [each for each in plugins if isinstance(each, Permit)]
        self._pre_binds = [each for each in plugins if isinstance(each, PreBind)]
        self._binds = [each for each in plugins if isinstance(each, Bind)]

    # -- within the cycle -----------------------------------------------------------------------

    def begin(self, place: Placement) -> Failure | None:
        """Assume it there, and let the rest go on by itself; or why not."""
        books, pod = self._books, place.pod
        try:
            books.cache.assume(pod, place.node)
        except NotCached as error:
            return Failure(str(error), ERROR)
        books.nominator.drop(pod)
        failure = self._reserve(place) or self._ask_leave(place)
        if failure is not None:
            self._give_up(place, failure.message)
            return failure
        books.client.record("assumed", pod=pod.key, uid=pod.meta.uid, node=place.node)
        books.client.spawn(f"bind-{pod.meta.name}", self._go_on, place)
        return None

    def _reserve(self, place: Placement) -> Failure | None:
        for plugin in self._reserves:
            rejected = plugin.reserve(place.pod, place.node)
            if rejected is not None:
                return Failure(f'running Reserve plugin "{plugin.name}": {rejected.said}', ERROR)
        return None

    def _ask_leave(self, place: Placement) -> Failure | None:
        """If some plugin wants it to wait, and none has rejected it, it waits."""
        books, pod = self._books, place.pod
        timeouts_ms: dict[str, int] = {}
        for plugin in self._permits:
            said = plugin.permit(pod, place.node, books.waiting)
            if isinstance(said, Wait):
                timeouts_ms[plugin.name] = min(said.timeout_ms, TIMEOUT_MS_MAX)
            elif said is not None:
                return _refused_leave(said, plugin.name)
        if timeouts_ms:
            books.waiting[pod.meta.uid] = PermitWait(books.client, pod, place.node, timeouts_ms)
            books.client.record("waits for leave", pod=pod.key, of=sorted(timeouts_ms))
        return None

    def _give_up(self, place: Placement, why: str) -> bool:
        """Take back all that was done for it; whether it was still assumed there."""
        for plugin in reversed(self._reserves):
            plugin.unreserve(place.pod, place.node)
        try:
            self._books.cache.forget(place.pod, place.node)
        except NotCached as error:
            self._books.client.record("not cached", why=str(error))
            return False
        said = f"gave up {place.node} for {place.pod.key}: {why.rstrip('.')}"
        self._books.client.record("forgot", said=said, pod=place.pod.key, node=place.node)
        return True

    # -- the pod's own task ---------------------------------------------------------------------

    async def _go_on(self, place: Placement) -> None:
        books, pod, uid = self._books, place.pod, place.pod.meta.uid
        waiting = books.waiting.get(uid)
        if waiting is not None:
            rejected = await waiting.settled()
            del books.waiting[uid]
            if rejected is not None:
                await self._leave_refused(place, rejected)
                return
        failure = await self._prepare(place) or await self._bind(place)
        if failure is None:
            books.client.record("bound", pod=pod.key, uid=uid, node=place.node)
            said = f"Successfully assigned {pod.meta.namespace}/{pod.meta.name} to {place.node}"
            books.recorder.note(pod, "Scheduled", said, action="Binding")
            return
        if self._give_up(place, failure.message):
            books.move(POD_DELETED)
        await fail(books, place.queued, failure, place.because)

    async def _leave_refused(self, place: Placement, rejected: Rejected) -> None:
        """Others may have its place; it itself has nothing from that, so they are told last
        (SCH-66)."""
        was_assumed = self._give_up(place, rejected.said)
        failure = Failure(rejected.said, ERROR if rejected.is_error else UNSCHEDULABLE)
        await fail(self._books, place.queued, failure, place.because)
        if was_assumed:
            uid = place.pod.meta.uid
            self._books.move(POD_DELETED, lambda pod: pod.meta.uid != uid)

    async def _prepare(self, place: Placement) -> Failure | None:
        for plugin in self._pre_binds:
            rejected = await plugin.pre_bind(self._books.client, place.pod, place.node)
            if rejected is not None:
                return Failure(f'running PreBind plugin "{plugin.name}": {rejected.said}', ERROR)
        return None

    async def _bind(self, place: Placement) -> Failure | None:
        """By the first plugin that binds, or as everybody does. An error does not mean that it is
        not bound (SCH-65)."""
        client, name = self._books.client, "DefaultBinder"
        self._books.must_lead()
        try:
            if self._binds:
                name = self._binds[0].name
                await self._binds[0].bind(client, place.pod, place.node)
            else:
                await bind(
                    client, place.pod, place.node, revision=self._revision(place.pod),
                    because=place.because,
                )  # fmt: skip
        except ApiError as error:
            return Failure(f'running Bind plugin "{name}": {error}', ERROR)
        finally:
            self._books.bound(place.pod)
        return None

    def _revision(self, pod: Pod) -> Revision:
        """What the bind is for, if it is fenced: the pod as it is known now."""
        replica = self._books.replica
        if replica is None or not replica.is_fenced:
            return UNSET
        return (self._books.known(pod.key) or pod).meta.revision


def _refused_leave(rejected: Rejected, plugin: str) -> Failure:
    if rejected.is_error:
        return Failure(f'running Permit plugin "{plugin}": {rejected.said}', ERROR)
    return Failure(rejected.said, UNSCHEDULABLE)
