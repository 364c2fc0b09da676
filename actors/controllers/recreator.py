"""Recreator: keeps so many pods of one template alive; the plainest controller of a workload.

It goes by its Cache, and counts what it has made and was not yet told of. A create without an
answer is not hidden: it looks at its Cache again after a while, and that may be late, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import attrs

from testbed import Actor, ApiError, Cache, Client, NotFound, Operation, Selector
from testbed.errors import AlreadyExists
from testbed.objects import Meta, Pod
from testbed.objects.labels import parse
from testbed.objects.pod import FAILED, SUCCEEDED

OWNER = "owner"
"""The label by which it knows its pods."""
READS = ("meta.created_ms", "meta.deleted_ms", "spec.node_name", "status.phase")
RETRY_MS, RETRY_MS_MAX = 5, 1_000_000
"""How long it waits after an error, doubling each time (CTL-1)."""
EXPECTED_MS = 300_000
"""After so long it looks whether what it has made is there, if it was not told of it (CTL-2)."""


@attrs.frozen
class Recreator(Actor):
    """Replaces each pod that is over or is to go, at once; deletes what is too many."""

    rank: ClassVar[int] = 3

    template: Pod
    """What each of its pods is like; its name begins theirs."""
    replicas: int = 1
    guard: bool = False
    """Whether it gives its pods their names, so that none is created twice; otherwise the server
    does (`generateName`)."""

    async def run(self, client: Client) -> None:
        """Set right what is not as wanted, whenever there is news."""
        await _Reconciler(self, client).run()


class _Reconciler:
    """One life of it: what it knows, and what it has made."""

    def __init__(self, settings: Recreator, client: Client) -> None:
        self.settings = settings
        self.client = client
        self.news = client.queue("news", idle=True)
        self.told: set[str] = set()
        """The names it was told of since it last looked."""
        self.made: set[str] = set()
        """The names of those that it has made and was not told of."""
        self.look_at_ms: int | None = None
        """When it looks for them; None if it has, or has none to look for."""
        self.retry_ms = RETRY_MS
        """How long it waits after the next error."""
        client.show("reconciler", self)
        mine = Selector(labels=parse(f"{OWNER}={settings.name}"))
        self.pods = Cache(client, Pod, mine, reads=READS)
        self.pods.on(add=self._note, update=lambda _, new: self._note(new), delete=self._note)

    def digest(self, now_ms: int) -> object:
        """What all it will do depends on, beside its Cache: no time but how far it is from now."""
        look_in_ms = None
        if self.made and self.look_at_ms is not None:
            look_in_ms = max(self.look_at_ms - now_ms, 0)
        return (sorted(self.told), sorted(self.made), look_in_ms, self.retry_ms)

    def _note(self, pod: Pod) -> None:
        self.told.add(pod.meta.name)
        self.made.discard(pod.meta.name)
        if not len(self.news):
            self.news.put(None)

    async def run(self) -> None:
        """1. Set right what is not as wanted. 2. Wait for news, or, after an error, for a while."""
        client = self.client
        await self.pods.synced()
        while True:
            try:
                await self._sync()
            except ApiError as error:
                client.record("failed", error=error.reason)
                await client.sleep(self.retry_ms, "retry")
                self.retry_ms = min(2 * self.retry_ms, RETRY_MS_MAX)
                continue
            self.retry_ms = RETRY_MS
            if self.made and self.look_at_ms is not None:
                in_ms = self.look_at_ms - client.now()
                await client.first(self.news.get(), client.sleep(in_ms, "look"))
            else:
                await self.news.get()

    async def _sync(self) -> None:
        """Create what is missing, delete what is too many."""
        await self._look()
        while len(self._alive()) + len(self.made) < self.settings.replicas:
            await self._create()
        for pod in sorted(self._alive(), key=_worth)[self.settings.replicas :]:
            await self._delete(pod)

    def _alive(self) -> list[Pod]:
        """Those that are to stay and are not over."""
        return [
            pod
            for pod in self.pods.all()
            if pod.meta.deleted_ms is None and pod.status.phase not in (SUCCEEDED, FAILED)
        ]

    async def _look(self) -> None:
        """What it has made and was not told of may be gone before it could be: then it is told of
        never. What is there, it will be told of."""
        if self.look_at_ms is None or self.look_at_ms > self.client.now():
            return
        namespace = self.settings.template.meta.namespace
        for name in sorted(self.made):
            try:
                await self.client.get(Pod, name, namespace)
            except NotFound:
                self.made.discard(name)
        self.look_at_ms = None

    async def _create(self) -> None:
        settings, client = self.settings, self.client
        name = next(self._free_names()) if settings.guard else ""
        template = settings.template.meta
        meta = Meta(
            name, template.namespace, labels=template.labels.having(**{OWNER: settings.name}),
            annotations=template.annotations, generate_name="" if name else f"{template.name}-",
        )  # fmt: skip
        self.told.clear()
        try:
            pod = await client.create(Pod(meta, spec=settings.template.spec))
        except AlreadyExists:
            if not name:
                raise
        else:
            name = pod.meta.name
        if name not in self.told:
            self.made.add(name)
            self.look_at_ms = client.now() + EXPECTED_MS

    def _free_names(self) -> Iterator[str]:
        """By number: the first that none of its pods has, as far as it knows. What it has made and
        does not know of yet has no other, so the name is taken then."""
        taken = {pod.meta.name for pod in self.pods.all()} | self.made
        number = 0
        while True:
            name = f"{self.settings.template.meta.name}-{number}"
            if name not in taken:
                yield name
            number += 1

    async def _delete(self, pod: Pod) -> None:
        meta = pod.meta
        try:
            await self.client.ask(
                Operation("delete", "pods", meta.name, meta.namespace, uid=meta.uid)
            )
        except NotFound:
            return


def _worth(pod: Pod) -> tuple[bool, int, str]:
    """Which are kept: those that have a node, then the older ones."""
    return not pod.spec.node_name, pod.meta.created_ms or 0, pod.meta.name
