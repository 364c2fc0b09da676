"""Bind: from the choice of a node to the bind, and back if that fails (SCH-63, SCH-64).

Within the scheduling cycle the pod is assumed on its node, reserved, and asked about (Permit). The
rest, the binding cycle, is a task of its own, while later scheduling cycles go on: it waits for the
Permit plugins, runs PreBind, binds, and says so. Whatever fails, the pod is forgotten and requeued;
for the other queued pods that is the same event as a deleted pod.
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
from actors.scheduler.writes.deed import Deed
from actors.scheduler.writes.fail import ERROR, UNSCHEDULABLE, Failure, fail
from actors.shared.verbs import bind
from testbed import ApiError
from testbed.objects import Pod, Revision
from testbed.objects.meta import UNSET


@attrs.frozen
class Placement:
    """A pod and the node that one cycle has chosen for it."""

    deed: Deed
    queued: QueuedPod
    pod: Pod
    """As it was when it was taken from the queue."""
    node: str


class Binder:
    """Binds pods to the nodes chosen for them, with the plugins of one life of a scheduler."""

    def __init__(self, books: Books, plugins: Sequence[Any]) -> None:
        self._books = books
        self._cache, self._waiting = books.beliefs.cache, books.beliefs.waiting
        self._reserves = [each for each in plugins if isinstance(each, Reserve)]
        self._permits = [each for each in plugins if isinstance(each, Permit)]
        self._pre_binds = [each for each in plugins if isinstance(each, PreBind)]
        self._binds = [each for each in plugins if isinstance(each, Bind)]

    # -- within the scheduling cycle ------------------------------------------------------------

    def begin(self, place: Placement) -> Failure | None:
        """Assume the pod on its node, and start its binding cycle; or return why not."""
        books, pod = self._books, place.pod
        # The bind takes effect at some later time, and the informer shows it later still. The next
        # cycle may come before that: it must count the pod's room as taken already.
        try:
            self._cache.assume(pod, place.node)
        except NotCached as error:
            return Failure(str(error), ERROR)
        books.beliefs.nominator.drop(pod)
        failure = self._reserve(place) or self._ask_permits(place)
        if failure is not None:
            self._forget(place, failure.message)
            return failure
        books.client.record("assumed", pod=pod.key, uid=pod.meta.uid, node=place.node)
        books.client.spawn(f"bind-{pod.meta.name}", self._binding_cycle, place)
        return None

    def _reserve(self, place: Placement) -> Failure | None:
        for plugin in self._reserves:
            rejected = plugin.reserve(place.pod, place.node)
            if rejected is not None:
                return Failure(f'running Reserve plugin "{plugin.name}": {rejected.said}', ERROR)
        return None

    def _ask_permits(self, place: Placement) -> Failure | None:
        """Ask all Permit plugins. The pod waits if one asks for that and none rejects it."""
        client, pod = self._books.client, place.pod
        timeouts_ms: dict[str, int] = {}
        for plugin in self._permits:
            answer = plugin.permit(pod, place.node, self._waiting)
            if isinstance(answer, Wait):
                timeouts_ms[plugin.name] = min(answer.timeout_ms, TIMEOUT_MS_MAX)
            elif answer is not None:
                return _not_permitted(answer, plugin.name)
        if timeouts_ms:
            self._waiting[pod.meta.uid] = PermitWait(client, pod, place.node, timeouts_ms)
            client.record("waits on permit", pod=pod.key, of=sorted(timeouts_ms))
        return None

    def _forget(self, place: Placement, why: str) -> bool:
        """Undo reserving and assuming. Whether the pod was still assumed there."""
        for plugin in reversed(self._reserves):
            plugin.unreserve(place.pod, place.node)
        try:
            self._cache.forget(place.pod, place.node)
        except NotCached as error:
            self._books.client.record("not cached", why=str(error))
            return False
        message = f"gave up {place.node} for {place.pod.key}: {why.rstrip('.')}"
        self._books.client.record("forgot", said=message, pod=place.pod.key, node=place.node)
        return True

    # -- the binding cycle, in a task of its own ------------------------------------------------

    async def _binding_cycle(self, place: Placement) -> None:
        books, pod, uid = self._books, place.pod, place.pod.meta.uid
        waiting = self._waiting.get(uid)
        if waiting is not None:
            rejected = await waiting.settled()
            del self._waiting[uid]
            if rejected is not None:
                await self._permit_rejected(place, rejected)
                return
        failure = await self._pre_bind(place) or await self._bind(place)
        if failure is None:
            books.beliefs.queue.done(place.queued)
            books.client.record("bound", pod=pod.key, uid=uid, node=place.node)
            message = f"Successfully assigned {pod.meta.namespace}/{pod.meta.name} to {place.node}"
            books.recorder.note(pod, "Scheduled", message, action="Binding")
            return
        # As long as it stays assumed, its room is lost to all other pods, and it is not requeued:
        # without a bind no informer would ever show it bound, and it would stay so for ever. Other
        # pods may fit now, so they are moved before this one is requeued.
        if self._forget(place, failure.message):
            books.move(POD_DELETED)
        await fail(place.deed, place.queued, failure)

    async def _permit_rejected(self, place: Placement, rejected: Rejected) -> None:
        """Forget and requeue a pod that a Permit plugin rejected. The other pods are moved last,
        and the pod itself is not: its own room is no news to it (SCH-66)."""
        was_assumed = self._forget(place, rejected.said)
        failure = Failure(rejected.said, ERROR if rejected.is_error else UNSCHEDULABLE)
        await fail(place.deed, place.queued, failure)
        if was_assumed:
            uid = place.pod.meta.uid
            self._books.move(POD_DELETED, lambda pod: pod.meta.uid != uid)

    async def _pre_bind(self, place: Placement) -> Failure | None:
        for plugin in self._pre_binds:
            rejected = await plugin.pre_bind(self._books.client, place.pod, place.node)
            if rejected is not None:
                return Failure(f'running PreBind plugin "{plugin.name}": {rejected.said}', ERROR)
        return None

    async def _bind(self, place: Placement) -> Failure | None:
        """Bind with the first Bind plugin, or as the DefaultBinder does."""
        client, name = self._books.client, "DefaultBinder"
        self._books.must_lead()
        # If only the reply is lost, the pod is bound, but an error is all that is known. It is
        # forgotten all the same (SCH-65). Until the informer shows it bound, its room counts as
        # free, and another pod may be placed on it: the kubelet has to refuse one of the two.
        try:
            if self._binds:
                name = self._binds[0].name
                await self._binds[0].bind(client, place.pod, place.node)
            else:
                await bind(
                    client, place.pod, place.node, revision=self._revision(place.pod),
                    because=place.deed.because,
                )  # fmt: skip
        except ApiError as error:
            return Failure(f'running Bind plugin "{name}": {error}', ERROR)
        finally:
            self._books.timers.binding_finished(place.pod)
        return None

    def _revision(self, pod: Pod) -> Revision:
        """The revision that a fenced bind names: that of the pod as the informer has it now."""
        replica = self._books.replica
        if replica is None or not replica.is_fenced:
            return UNSET
        return (self._books.informers.pod(pod.key) or pod).meta.revision


def _not_permitted(rejected: Rejected, plugin: str) -> Failure:
    if rejected.is_error:
        return Failure(f'running Permit plugin "{plugin}": {rejected.said}', ERROR)
    return Failure(rejected.said, UNSCHEDULABLE)
