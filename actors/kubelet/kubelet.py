"""Kubelet: admits the pods that were bound to its node, runs them, and says how they fare.

Its loop admits, one after another; a task for each pod does the rest (`lifecycle.py`). Left out as
yet: pressure, critical pods, static pods, heartbeats, and starting containers again.
"""

from __future__ import annotations

from typing import ClassVar

import attrs

from actors.kubelet.admission import AdmissionRefusal, refusal_of
from actors.kubelet.lifecycle import Habits, Lifecycle, ask_runtime
from actors.kubelet.runtime import Report, runtime_of
from actors.shared.recorder import Recorder
from testbed import Actor, Cache, Client, Operation, Selector
from testbed.objects import Node, Pod, Revision
from testbed.objects.event import WARNING

NODE_READS = ("meta.labels", "spec.taints", "status.allocatable")
"""What of its node admission looks at."""


@attrs.frozen
class Kubelet(Actor):
    """The agent of one node. Its containers are in the node's Runtime, and outlive it."""

    rank: ClassVar[int] = 2

    node: str
    start_delay_ms: int = 0
    """From admission until its containers run: the pull of an image, say."""
    ready_delay_ms: int = 0
    """From then until it is Ready."""
    readmit_running: bool = True
    """After a restart, whether what runs has to be admitted again (KUB-43)."""
    quorum: bool = False
    """Whether it begins with the pods that the Store holds, not with those that its server has
    read of: slower, and never back in time."""
    terminal_phase_before_delete: bool = False
    """Whether the last status of a pod that was to run always says that it is over: newer than
    1.26 (KUB-20)."""

    async def run(self, client: Client) -> None:
        """Until it crashes."""
        await _Household(self, client).run()


@attrs.frozen
class _News:
    """One thing its Cache of pods has told."""

    revision: Revision
    """As of when; what was told as of one revision was told together."""
    pod: Pod
    is_new: bool = False
    is_gone: bool = False


class _Household:
    """What one life of a kubelet knows: its node, its pods, and what there is of each."""

    def __init__(self, kubelet: Kubelet, client: Client) -> None:
        self.kubelet = kubelet
        self.client = client
        self.pods: dict[str, Lifecycle] = {}
        """By uid, all that it sees to; those of a name that was used again stand beside each
        other until nothing of the first is left."""
        self.fresh: list[_News] = []
        self.inbox = client.queue("pods", idle=True)
        self.recorder = Recorder(client, "kubelet")
        self.habits = Habits(
            kubelet.node, kubelet.start_delay_ms, kubelet.ready_delay_ms,
            kubelet.terminal_phase_before_delete, client.now(),
        )  # fmt: skip

    async def run(self) -> None:
        """1. Learn of the node. 2. Of what runs there from an earlier life, and of its pods.
        3. Take in what is told of pods, in the order in which it is told."""
        node = self.kubelet.node
        nodes = Cache(self.client, Node, Selector(name=node), reads=NODE_READS)
        await nodes.synced()
        mine = Selector(fields=(("spec.node_name", node),))
        pods = Cache(self.client, Pod, mine, quorum=self.kubelet.quorum)
        self.listen(pods)
        await pods.synced()
        reports = await ask_runtime(self.client, Operation("list", endpoint=runtime_of(node)))
        self.adopt({report.pod.meta.uid: report for report in reports}, pods)
        while True:
            news, self.fresh = self.fresh, []
            for each in _in_order(news):
                self.take(each, nodes.get(node, ""))
            await self.inbox.get()

    def listen(self, pods: Cache[Pod]) -> None:
        """Note what the Cache tells; another pod of the same name is another one."""

        def note(pod: Pod, *, is_new: bool = False, is_gone: bool = False) -> None:
            self.fresh.append(_News(pods.revision, pod, is_new, is_gone))
            if not len(self.inbox):
                self.inbox.put(None)

        def changed(old: Pod, new: Pod) -> None:
            is_another = old.meta.uid != new.meta.uid
            if is_another:
                note(old, is_gone=True)
            note(new, is_new=is_another)

        pods.on(
            add=lambda pod: note(pod, is_new=True),
            update=changed,
            delete=lambda pod: note(pod, is_gone=True),
        )

    def adopt(self, running: dict[str, Report], pods: Cache[Pod]) -> None:
        """What an earlier life has left running counts as long as it does: what is not to be
        admitted again, and what has no object any more."""
        known = {pod.meta.uid: pod for pod in pods.all()}
        for uid, report in sorted(running.items()):
            pod = known.get(uid)
            if pod is None:
                self.begin(report.pod, None, holds_room=report.is_running, is_gone=True)
            elif pod.meta.is_terminating or pod.is_over or not self.kubelet.readmit_running:
                self.begin(pod, None, holds_room=report.is_running)

    def take(self, news: _News, node: Node | None) -> None:
        """Admit a pod, or tell its task what has become of it."""
        pod = news.pod
        known = self.pods.get(pod.meta.uid)
        if known is not None:
            known.hear(pod, is_gone=news.is_gone)
        elif news.is_new:
            self.admit(pod, node)

    def admit(self, pod: Pod, node: Node | None) -> None:
        """See to it from now on, refused or not. One that is to go already is not asked about, and
        is not started (KUB-10)."""
        if pod.meta.is_terminating or pod.is_over:
            self.begin(pod, None, holds_room=False)
            return
        active = [each.pod for each in self.pods.values() if each.holds_room]
        refusal = refusal_of(pod, node, active)
        if refusal is not None:
            self.client.record("rejected", pod=pod.key, reason=refusal.reason)
            self.recorder.note(pod, refusal.reason, refusal.said, WARNING)
        else:
            self.client.record("admitted", pod=pod.key)
        self.begin(pod, refusal, holds_room=refusal is None)

    def begin(
        self, pod: Pod, refusal: AdmissionRefusal | None, *, holds_room: bool, is_gone: bool = False
    ) -> None:
        """Give it a task of its own."""
        uid = pod.meta.uid
        lifecycle = Lifecycle(self.client, self.habits, pod, refusal, is_gone=is_gone)
        lifecycle.holds_room = holds_room
        self.pods[uid] = lifecycle

        async def see_to_it() -> None:
            await lifecycle.run()
            del self.pods[uid]

        self.client.spawn(f"pod-{pod.meta.name}", see_to_it)


def _in_order(news: list[_News]) -> list[_News]:
    """As it was told; but pods that were told of together, as in a list, by their age (KUB-2)."""
    ordered: list[_News] = []
    together: list[_News] = []
    for each in news:
        if together and together[0].revision != each.revision:
            ordered += sorted(together, key=_age)
            together = []
        together.append(each)
    return ordered + sorted(together, key=_age)


def _age(news: _News) -> tuple[int, str]:
    meta = news.pod.meta
    return meta.created_ms or 0, f"{meta.namespace}/{meta.name}"
