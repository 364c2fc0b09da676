"""Static pods: what a kubelet runs by its own configuration, and the mirror pods that tell of them.

A static pod is not in the API. The kubelet shows it there by a mirror pod, which it creates when it
can: until then no scheduler knows of the room that is taken (kubernetes#115325).
"""

from __future__ import annotations

import attrs

from actors.shared.critical import MIRROR, SOURCE
from testbed import ApiError, Client, NotFound, Operation
from testbed.objects import Map, Meta, Pod

FILE = "file"
GRACE_S = 30
RETRY_MS = 60_000
"""How long it waits after a failure: the period in which the real one looks at a pod again."""


def static_pod(manifest: Pod, node: str) -> Pod:
    """The pod that a manifest in a node's own configuration stands for."""
    name = f"{manifest.meta.name}-{node}"
    annotations = manifest.meta.annotations.having(**{SOURCE: FILE})
    meta = attrs.evolve(manifest.meta, name=name, uid=f"static-{name}", annotations=annotations)
    spec = manifest.spec
    grace_s = GRACE_S if spec.grace_s is None else spec.grace_s
    return attrs.evolve(
        manifest, meta=meta, spec=attrs.evolve(spec, node_name=node, grace_s=grace_s)
    )


def mirror_of(pod: Pod) -> Pod:
    """The mirror pod of a static pod, as it is created."""
    meta = pod.meta
    annotations = meta.annotations.having(**{MIRROR: meta.uid})
    return attrs.evolve(
        pod, meta=Meta(meta.name, meta.namespace, labels=meta.labels, annotations=annotations)
    )


class MirrorPod:
    """The mirror pod of one static pod: created, and created again whenever it is gone. Its
    deletion ends nothing but the object (KUB-1)."""

    def __init__(self, client: Client, pod: Pod, delay_ms: int) -> None:
        self.pod: Pod | None = None
        """The mirror pod as last heard of; None if there is none."""
        self._client = client
        self._wanted = mirror_of(pod)
        self._delay_ms = delay_ms
        self._news = client.queue(f"mirror-{pod.meta.name}", idle=True)

    def heard(self, pod: Pod | None) -> None:
        """The mirror pod has changed, or is gone."""
        self.pod = pod
        if not len(self._news):
            self._news.put(None)

    async def run(self) -> None:
        """Create it, and finish what others have begun to delete; retry what fails."""
        if self._delay_ms:
            await self._client.sleep(self._delay_ms, f"mirror {self._wanted.key}")
        while True:
            try:
                await self._sync()
            except ApiError:
                timer = self._client.sleep(RETRY_MS, f"retry {self._wanted.key}")
                await self._client.first(self._news.get(), timer)
            else:
                await self._news.get()

    async def _sync(self) -> None:
        if self.pod is None:
            await self._client.create(self._wanted)
        elif self.pod.meta.is_terminating:
            meta = self.pod.meta
            delete = Operation(
                "delete", "pods", meta.name, meta.namespace, uid=meta.uid, options=Map(grace_s=0)
            )
            try:
                await self._client.ask(delete)
            except NotFound:
                return
