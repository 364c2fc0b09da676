"""StatusWriter: writes the statuses of a kubelet's pods, and deletes the pods that are done.

It is a task of its own, so that a write which gets no answer keeps no pod from being stopped in
time. It writes one status after the other, as the real one does: a slow answer makes all of them
late.
"""

from __future__ import annotations

from actors.kubelet.status import own_alike, patch_of
from testbed import ApiError, Client, NotFound, Operation
from testbed.objects import Map, Pod, PodStatus
from testbed.turns.because import Because

RECHECK_MS = 10_000
"""How often it looks whether a status was changed by others (KUB-22); what failed is repeated then.
"""


class _Entry:
    """One pod: its status as it should be, and what there is to write."""

    def __init__(self, pod: Pod) -> None:
        self.pod = pod
        """The pod as last heard of."""
        self.status = pod.status
        """The status as it should be."""
        self.patch_at_ms: int | None = None
        """When to write it; None if it is written."""
        self.delete_at_ms: int | None = 0
        """When to delete the object, once it is ready for that; None if that is done."""
        self.is_under_way = False
        """Whether a write of the status is not answered yet."""
        self.because: Because | None = None
        """The record that says why it is so, if the kubelet itself has decided it."""
        self.is_stopped = False
        """Whether nothing of the pod is left on the node."""
        self.is_ending = False
        """Whether the pod was terminating when its status was last worked out."""

    @property
    def due_ms(self) -> int | None:
        """When to write the status or to delete the object; None if there is neither to do."""
        # The order is what makes a graceful delete safe. The object is the only thing that tells
        # others that this pod may still run, so the kubelet removes it last: after its containers
        # have ended and after its final status is written.
        if self.patch_at_ms is not None or self.is_under_way:
            return self.patch_at_ms
        is_done = self.is_stopped and self.pod.meta.deleted_ms is not None
        return self.delete_at_ms if is_done else None


class StatusWriter:
    """All statuses of one life of a kubelet, by uid of the pod."""

    def __init__(self, client: Client, delay_ms: int = 0) -> None:
        self._client = client
        self._began_ms = client.now()
        self._delay_ms = delay_ms
        self._entries: dict[str, _Entry] = {}
        self._news = client.queue("statuses", idle=True)

    def digest(self, now_ms: int) -> object:
        """What it remembers, with times as distances from now."""
        entries = [
            (uid, each.pod, each.status, _left(each.patch_at_ms, now_ms),
             _left(each.delete_at_ms, now_ms), each.is_under_way, each.is_stopped, each.is_ending)
            for uid, each in self._entries.items()
        ]  # fmt: skip
        return entries, (now_ms - self._began_ms) % RECHECK_MS

    def set(
        self, pod: Pod, status: PodStatus, *, is_stopped: bool, because: Because | None = None
    ) -> None:
        """The status of a pod as it should be now, and the record that says why. It is written at
        once if it has changed, or if others have changed it and the pod begins to terminate
        (SCH-97); else at the next check (KUB-22)."""
        entry = self._entries.get(pod.meta.uid)
        if entry is None:
            entry = self._entries[pod.meta.uid] = _Entry(pod)
        is_ending = pod.meta.is_terminating
        begins_to_end = is_ending and not entry.is_ending
        entry.is_ending = is_ending
        is_as_before = own_alike(status, entry.status)
        entry.pod, entry.status, entry.is_stopped = pod, status, is_stopped
        entry.because = because
        now_ms = self._client.now()
        if not is_as_before:
            entry.patch_at_ms = now_ms + self._delay_ms
        elif own_alike(status, pod.status):
            entry.patch_at_ms = None
        elif begins_to_end:
            entry.patch_at_ms = now_ms
        elif entry.patch_at_ms is None and not entry.is_under_way:
            entry.patch_at_ms = self._next_check_ms()
        if entry.due_ms is not None and not len(self._news):
            self._news.put(None)

    def forget(self, pod: Pod) -> None:
        """The object is gone: there is nothing more to write."""
        self._entries.pop(pod.meta.uid, None)

    async def run(self) -> None:
        """Do what is due, what was due first before the rest; then wait for the next thing."""
        while True:
            entry, due_ms = self._next()
            if entry is None:
                await self._news.get()
                continue
            in_ms = due_ms - self._client.now()
            if in_ms > 0:
                timer = self._client.sleep(in_ms, f"retry {entry.pod.key}")
                await self._client.first(self._news.get(), timer)
            elif entry.patch_at_ms is not None:
                await self._patch(entry)
            else:
                await self._delete(entry)

    def _next(self) -> tuple[_Entry | None, int]:
        """What is due first, and when; None if there is nothing to do."""
        first: _Entry | None = None
        first_ms = 0
        for each in self._entries.values():
            due_ms = each.due_ms
            if due_ms is not None and (first is None or due_ms < first_ms):
                first, first_ms = each, due_ms
        return first, first_ms

    async def _patch(self, entry: _Entry) -> None:
        """Patch the status, whatever revision it is at, unless the name has another uid by now."""
        entry.patch_at_ms, entry.is_under_way = None, True
        patch = patch_of(entry.pod, entry.status, self._client.now())
        # A Conflict need not mean another uid: a server also answers so when it has tried a patch
        # too often. So it is repeated like any error, until the watch shows the object gone.
        try:
            await self._client.patch(
                entry.pod, patch, how="strategic", subresource="status", because=entry.because
            )
        except NotFound:
            return
        except ApiError:
            if entry.patch_at_ms is None:
                entry.patch_at_ms = self._next_check_ms()
        finally:
            entry.is_under_way = False

    async def _delete(self, entry: _Entry) -> None:
        """Delete the object for good; retry until it is gone (KUB-20)."""
        meta = entry.pod.meta
        delete = Operation(
            "delete", "pods", meta.name, meta.namespace, uid=meta.uid, options=Map(grace_s=0)
        )
        entry.delete_at_ms = None
        try:
            await self._client.ask(delete)
        except NotFound:
            return
        except ApiError:
            entry.delete_at_ms = self._next_check_ms()

    def _next_check_ms(self) -> int:
        """When the kubelet next compares all statuses: every ten seconds, however long it takes."""
        now_ms = self._client.now()
        return now_ms + RECHECK_MS - (now_ms - self._began_ms) % RECHECK_MS


def _left(at_ms: int | None, now_ms: int) -> int | None:
    """How long until then; None if there is no such time."""
    return None if at_ms is None else max(at_ms - now_ms, 0)
