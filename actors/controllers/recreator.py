"""Recreator: keeps a number of pods of one template alive; the plainest controller of a workload.

It goes by its Cache, plus the pods that it has created and not yet heard of. A create that gets no
answer is an error like any other: it goes by its Cache again after a while, and that may be late.
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
"""The first and the longest backoff after an error; it doubles each time (CTL-1)."""
EXPECTED_MS = 300_000
"""After this time it asks for the pods that it has created and not heard of (CTL-2)."""


@attrs.frozen
class Recreator(Actor):
    """Replaces each pod that is over or terminating, at once; deletes those that are too many."""

    rank: ClassVar[int] = 3

    template: Pod
    """The labels, annotations and spec of its pods; its name is the prefix of theirs."""
    replicas: int = 1
    """How many pods there are to be."""
    guard: bool = False
    """Whether it names its pods itself, so that none is created twice; else the server does
    (`generateName`)."""

    async def run(self, client: Client) -> None:
        """Reconcile whenever its Cache has news."""
        await _Reconciler(self, client).run()


class _Reconciler:
    """One life of it: what it knows, and what it has created."""

    def __init__(self, settings: Recreator, client: Client) -> None:
        self.settings = settings
        self.client = client
        self.news = client.queue("news", idle=True)
        self.heard: set[str] = set()
        """The names that its Cache notified since the last create."""
        self.expected: set[str] = set()
        """The names of pods that it has created and not yet heard of: its expectations."""
        self.look_at_ms: int | None = None
        """When it asks for them; None if it has, or has none to ask for."""
        self.retry_ms = RETRY_MS
        """How long it waits after the next error."""
        client.show("reconciler", self)
        mine = Selector(labels=parse(f"{OWNER}={settings.name}"))
        self.pods = Cache(client, Pod, mine, reads=READS)
        self.pods.on(add=self._note, update=lambda _, new: self._note(new), delete=self._note)

    def digest(self, now_ms: int) -> object:
        """The memory, beside its Cache, that its next actions depend on. Times count from now."""
        look_in_ms = None
        if self.expected and self.look_at_ms is not None:
            look_in_ms = max(self.look_at_ms - now_ms, 0)
        return (frozenset(self.heard), frozenset(self.expected), look_in_ms, self.retry_ms)

    def _note(self, pod: Pod) -> None:
        self.heard.add(pod.meta.name)
        self.expected.discard(pod.meta.name)
        if not len(self.news):
            self.news.put(None)

    async def run(self) -> None:
        """1. Reconcile. 2. Wait for news, or, after an error, for the backoff."""
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
            if self.expected and self.look_at_ms is not None:
                in_ms = self.look_at_ms - client.now()
                await client.first(self.news.get(), client.sleep(in_ms, "look"))
            else:
                await self.news.get()

    async def _sync(self) -> None:
        """Create the pods that are missing, delete those that are too many."""
        await self._drop_lost()
        alive = self._alive()
        while len(alive) + len(self.expected) < self.settings.replicas:
            await self._create()
            alive = self._alive()
        for pod in sorted(alive, key=_worth)[self.settings.replicas :]:
            await self._delete(pod)

    def _alive(self) -> list[Pod]:
        """Its pods that are neither over nor terminating."""
        return [
            pod
            for pod in self.pods.all()
            if pod.meta.deleted_ms is None and pod.status.phase not in (SUCCEEDED, FAILED)
        ]

    async def _drop_lost(self) -> None:
        """Stop to expect pods that no longer exist. A pod that was created and deleted between two
        lists of its Cache is never heard of; one that exists will be."""
        if self.look_at_ms is None or self.look_at_ms > self.client.now():
            return
        namespace = self.settings.template.meta.namespace
        for name in sorted(self.expected):
            try:
                await self.client.get(Pod, name, namespace)
            except NotFound:
                self.expected.discard(name)
        self.look_at_ms = None

    async def _create(self) -> None:
        settings, client = self.settings, self.client
        name = next(self._free_names()) if settings.guard else ""
        template = settings.template.meta
        meta = Meta(
            name, template.namespace, labels=template.labels.having(**{OWNER: settings.name}),
            annotations=template.annotations, generate_name="" if name else f"{template.name}-",
        )  # fmt: skip
        # The watch may deliver the pod before the create is answered. If that pod were expected
        # all the same, it would count twice, and one pod would be missing for five minutes.
        self.heard.clear()
        try:
            pod = await client.create(Pod(meta, spec=settings.template.spec))
        except AlreadyExists:
            if not name:
                raise
        else:
            name = pod.meta.name
        if name not in self.heard:
            self.expected.add(name)
            self.look_at_ms = client.now() + EXPECTED_MS

    def _free_names(self) -> Iterator[str]:
        """Names with the lowest numbers that none of its pods has, as far as it knows. If a create
        got no answer, the same name comes again, and the server refuses the second pod."""
        taken = {pod.meta.name for pod in self.pods.all()} | self.expected
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
    """The order in which pods are kept: first those that have a node, then the older ones."""
    return not pod.spec.node_name, pod.meta.created_ms or 0, pod.meta.name
