"""Expectations: the creates and deletes that a controller has done and not yet heard of (CTL-2).

A Cache is late. A controller that counted only what is in it would create a pod again that it has
just created. So it notes, by the key of the owner, how many creates and which deletes its Caches
must still show, and neither creates nor deletes for that owner until they have shown them all. News
that never comes, because a list has skipped it, is waited for no longer than five minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import attrs

from testbed import Client

EXPIRY_MS = 300_000
"""How long news is waited for (T-29)."""


@attrs.define
class Outstanding:
    """What must still be heard of for one owner."""

    due_ms: int
    """When it is waited for no longer."""
    creates: int = 0
    """How many pods are to be added."""
    deletes: dict[str, None] = attrs.field(factory=dict)
    """The keys of the pods that are to be deleted. A pod is heard of twice, when it is marked and
    when it is gone, so a number would be wrong."""


class Expectations:
    """What one life of a controller still expects to hear of, for each owner by its key."""

    def __init__(self, client: Client, expired: Callable[[str], None]) -> None:
        """`expired` is called with the key of an owner that is waited for no longer."""
        self._client = client
        self._is_on = client.switches.expectations
        self._expired = expired
        self._open: dict[str, Outstanding] = {}
        """Those that are not met, the oldest first."""
        self._alarm = client.alarm("expectations")
        if self._is_on:
            client.spawn("expectations", self._expire)

    def are_met(self, key: str) -> bool:
        """Whether nothing is expected for that owner any more."""
        found = self._open.get(key)
        return found is None or found.due_ms <= self._client.elapsed()

    def expect(self, key: str, *, creates: int = 0, deletes: Iterable[str] = ()) -> None:
        """Expect this, and nothing that was expected for that owner before. Call it before the
        first create: the news of it may come before the answer."""
        if self._is_on:
            self._open.pop(key, None)
            due_ms = self._client.elapsed() + EXPIRY_MS
            self._open[key] = Outstanding(due_ms, creates, dict.fromkeys(deletes))
            self._look(key)

    def created(self, key: str) -> None:
        """A pod of that owner was added, or its create has failed."""
        if found := self._open.get(key):
            found.creates -= 1
            self._look(key)

    def deleted(self, key: str, pod_key: str) -> None:
        """A pod of that owner was marked as terminating or is gone, or its delete has failed."""
        if found := self._open.get(key):
            found.deletes.pop(pod_key, None)
            self._look(key)

    def forget(self, key: str) -> None:
        """Expect nothing for an owner that is gone."""
        if self._open.pop(key, None):
            self._set()

    def digest(self, now_ms: int) -> object:
        """What is expected; times count from now."""
        return [
            (key, found.due_ms - now_ms, found.creates, frozenset(found.deletes))
            for key, found in self._open.items()
        ]

    def _look(self, key: str) -> None:
        """Drop what is met."""
        found = self._open[key]
        if found.creates <= 0 and not found.deletes:
            del self._open[key]
        self._set()

    def _set(self) -> None:
        """Let the alarm go off when the oldest expires. While nothing is expected it is not set, so
        the World may come to rest."""
        oldest = next(iter(self._open.values()), None)
        in_ms = None if oldest is None else oldest.due_ms - self._client.elapsed()
        self._alarm.set(in_ms)

    async def _expire(self) -> None:
        """Sync an owner again if its news did not come in time. In Kubernetes the next change of a
        pod or the resync of the informers leads to that sync."""
        while True:
            await self._alarm.wait()
            now_ms = self._client.elapsed()
            for key in [key for key, found in self._open.items() if found.due_ms <= now_ms]:
                del self._open[key]
                self._expired(key)
            self._set()
