"""Kubelet: admits the pods that are bound to its node, runs them, and writes their status.

Its main loop admits pods, one after another; a task for each pod does the rest (`lifecycle.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import attrs

from actors.kubelet.admission import AdmissionRefusal, Displacement, admission_of
from actors.kubelet.containers import Report
from actors.kubelet.ending import PodEnding
from actors.kubelet.eviction import EvictionSettings
from actors.kubelet.evictor import Evictor
from actors.kubelet.heartbeat import Heartbeat
from actors.kubelet.lifecycle import Lifecycle, PodSettings
from actors.kubelet.node_status import NodeStatusWriter
from actors.kubelet.oom import MEMORY
from actors.kubelet.oom_watcher import OomWatcher
from actors.kubelet.runtime import runtime_of
from actors.kubelet.runtime_client import ask_runtime, draw_usage
from actors.kubelet.static_pods import MirrorPod, static_pod
from actors.kubelet.status_writer import StatusWriter
from actors.kubelet.switches import AT_EXIT, KUBELET, LOWER, OFF, SCORE
from actors.kubelet.usage import behave_alike
from actors.shared.critical import is_mirror
from actors.shared.recorder import Recorder
from actors.shared.settings import at_least
from testbed import Actor, Cache, Client, Operation, Selector
from testbed.code.quick import quick
from testbed.objects import Map, Node, Pod, Quantity, Revision
from testbed.objects.event import WARNING
from testbed.switches import Component, switch_texts, told
from testbed.turns.because import Because

PREEMPTED = PodEnding(
    "Preempting",
    "Preempted in order to admit critical pod",
    "Pod was preempted by Kubelet to accommodate a critical pod.",
)
DISPLACED = PodEnding(
    "Preempting",
    "Preempted in order to admit a more important pod",
    "Pod was preempted by Kubelet to accommodate a more important pod.",
)
NODE_READS = ("meta.labels", "spec.taints", "status.allocatable")
"""The fields of its node that admission looks at."""
STATUS_READS = (*NODE_READS, "status.capacity", "status.conditions")
"""Those that it looks at if it evicts, or reports how its node is."""


@attrs.frozen
class Kubelet(Actor):
    """The agent of one node. The containers are in the node's Runtime, and outlive its crashes."""

    rank: ClassVar[int] = 2
    component: ClassVar[Component] = KUBELET
    lifecycle: ClassVar[type[Lifecycle]] = Lifecycle
    """How each of its pods is run; a mutant has another."""
    writer: ClassVar[type[StatusWriter]] = StatusWriter
    """How statuses are written; a mutant has another."""
    evictor: ClassVar[type[Evictor]] = Evictor
    """What evicts, if there are settings for it; a mutant has another."""
    oom_watcher: ClassVar[type[OomWatcher]] = OomWatcher
    """What hears of the kernel's kills, if it kills at all; a mutant has another."""

    node: str
    """The name of its node."""
    start_delay_ms: int = attrs.field(default=0, validator=at_least(0))
    """From the admission of a pod until its containers run: the pull of an image, say."""
    ready_delay_ms: int = attrs.field(default=0, validator=at_least(0))
    """From then until the pod is Ready."""
    eviction: EvictionSettings | None = None
    """How it keeps its node from running short; None: it does not look."""
    reserved: Map[Quantity] | None = None
    """What it keeps from pods, by resource: then it says what is allocatable (KUB-46). None: that
    stays as it is."""
    static_pods: tuple[Pod, ...] = ()
    """The manifests in its own configuration (KUB-1)."""
    quorum: bool = False
    """Whether its first list of pods is of the Store and not of its server's cache: slower, and
    never back in time."""
    profile: str = ""
    """Its bundle of switches: `k8s-1.26`, which is the default, `k8s-modern` or `seed`."""
    switches: Map[str] = attrs.field(factory=Map, converter=switch_texts)
    """The switches that differ from the profile: `{"evict_rank": "seed_pct"}`."""

    @property
    def told(self) -> Mapping[str, str]:
        return told(self.profile, self.switches)

    @property
    def system_memory(self) -> int:
        """How much memory of its node is used beside pods."""
        used = None if self.eviction is None else self.eviction.system.get(MEMORY)
        return 0 if used is None else used.whole

    async def run(self, client: Client) -> None:
        """Run until it crashes."""
        await _MainLoop(self, client).run()


@quick
@attrs.frozen
class _PodUpdate:
    """One notification by its Cache of pods."""

    revision: Revision
    """The revision of the Cache then: updates of one revision came together, as in a list."""
    pod: Pod
    is_new: bool = False
    is_gone: bool = False


class _MainLoop:
    """The main loop of one life of a kubelet, with a Lifecycle for each pod that it knows."""

    def __init__(self, kubelet: Kubelet, client: Client) -> None:
        self.kubelet = kubelet
        self.client = client
        self.pods: dict[str, Lifecycle] = {}
        """By uid, since a name may be used again: then both pods are here until nothing of the
        first is left."""
        self.static = {
            pod.meta.uid: pod
            for pod in (static_pod(each, kubelet.node) for each in kubelet.static_pods)
        }
        """The static pods, by uid."""
        self.mirrors: dict[str, tuple[Lifecycle, MirrorPod]] = {}
        """By key, the static pods with their mirror pods."""
        self.updates: list[_PodUpdate] = []
        """Those that have come, and that it will handle next."""
        self.handling: list[_PodUpdate] = []
        """Those that it handles now, in order."""
        self.is_preempting = False
        """Whether it waits for the victims of a critical pod to end."""
        self.inbox = client.queue("pods", idle=True)
        self.recorder = Recorder(client, "kubelet")
        self.switches = client.switches
        self.oom: OomWatcher | None = None
        if self.switches.oom_model == SCORE:
            self.oom = kubelet.oom_watcher(
                client, kubelet.node, kubelet.system_memory, self.pods, self.recorder
            )
        self.settings = PodSettings(
            kubelet.node, kubelet.start_delay_ms, kubelet.ready_delay_ms,
            self.switches.terminal_phase_before_delete, self.switches.publish_terminal == AT_EXIT,
            None if self.oom is None else self.oom.look_again,
            None if self.oom is None else self.oom.kill_of,
        )  # fmt: skip
        self.statuses = kubelet.writer(client, self.switches.status_delay_ms)
        self.eviction: Evictor | None = None
        self.node_status: NodeStatusWriter | None = None
        client.show("kubelet", self)

    def digest(self, now_ms: int) -> object:
        """The memory, beside its Caches, that its next actions depend on. Times count from now."""
        node = None if self.node_status is None else self.node_status.digest(now_ms)
        pods = [(uid, each.digest(now_ms)) for uid, each in self.pods.items()]
        mirrors = [mirror.pod for _, mirror in self.mirrors.values()]
        # Which victims are left in the middle of a preemption is in no field. The time makes such a
        # moment like no other.
        odd = now_ms if self.is_preempting else None
        updates = [*self.handling, *self.updates]
        return pods, mirrors, updates, self.statuses.digest(now_ms), node, odd

    async def run(self) -> None:
        """1. Learn the node. 2. List its pods, and the containers that an earlier life has started.
        3. Handle updates of pods in the order in which they come."""
        node = self.kubelet.node
        reads = STATUS_READS if self.is_reporting else NODE_READS
        nodes = Cache(self.client, Node, Selector(name=node), reads=reads)
        await nodes.synced()
        mine = Selector(fields=(("spec.node_name", node),))
        pods = Cache(self.client, Pod, mine, quorum=self.kubelet.quorum)
        self.listen(pods)
        self.client.spawn("statuses", self.statuses.run)
        if self.oom is not None:
            await self.oom.limit(nodes.get(node, ""))
            self.client.spawn("oom", self.oom.run)
        await pods.synced()
        reports = await ask_runtime(self.client, Operation("list", endpoint=runtime_of(node)))
        self.adopt({report.pod.meta.uid: report for report in reports}, pods)
        for pod in self.static.values():
            await self.begin_static(pod, nodes.get(node, ""))
        self.watch_node(lambda: nodes.get(node, ""))
        while True:
            self.handling, self.updates = _in_order(self.updates), []
            while self.handling:
                await self.handle(self.handling.pop(0), nodes.get(node, ""))
            await self.inbox.get()

    @property
    def is_reporting(self) -> bool:
        """Whether it looks how its node is, or reports it."""
        return self.kubelet.eviction is not None or self.client.switches.heartbeat != OFF

    def watch_node(self, node: Callable[[], Node | None]) -> None:
        """Start what evicts pods and what reports on the node, as far as the settings say so."""
        if not self.is_reporting:
            return
        kubelet, client = self.kubelet, self.client
        if kubelet.eviction is not None:
            self.eviction = kubelet.evictor(
                client, kubelet.eviction, kubelet.node, node, self.pods, self.recorder
            )
            client.spawn("eviction", self.eviction.run)
        heartbeat = client.switches.heartbeat
        self.node_status = NodeStatusWriter(
            client, node, self.eviction, kubelet.reserved, heartbeat
        )
        client.spawn("node-status", self.node_status.run)
        if heartbeat != OFF:
            client.spawn("lease", Heartbeat(client, kubelet.node, heartbeat).run)

    def listen(self, pods: Cache[Pod]) -> None:
        """Queue the updates of the Cache. If a name got another uid, the old pod is gone and a new
        one has come."""

        def note(pod: Pod, *, is_new: bool = False, is_gone: bool = False) -> None:
            self.updates.append(_PodUpdate(pods.revision, pod, is_new, is_gone))
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
        """Start a Lifecycle for each pod that an earlier life has left running and that will not
        be admitted again: because its object is gone, it has to end, or the settings say so."""
        # They hold their room while they run. Were they not begun before the first admission, a
        # new pod could be admitted into room that is still taken.
        known = {pod.meta.uid: pod for pod in pods.all()}
        readmits, counts_over = self.switches.readmit_running, self.switches.bug_counts_terminal
        for uid, report in sorted(running.items()):
            pod = known.get(uid)
            if uid in self.static:
                continue
            if pod is None:
                self.begin(report.pod, None, holds_room=not report.is_torn_down, is_gone=True)
            elif pod.meta.is_terminating or not readmits or (pod.is_over and not counts_over):
                self.begin(pod, None, holds_room=not report.is_torn_down)

    async def handle(self, update: _PodUpdate, node: Node | None) -> None:
        """Admit a new pod, or pass the update on to the Lifecycle of a known one."""
        pod = update.pod
        known = self.pods.get(pod.meta.uid)
        if is_mirror(pod):
            self.handle_mirror(pod, is_gone=update.is_gone)
        elif known is not None:
            if self.eviction is not None and not behave_alike(pod, known.pod):
                self.eviction.heard(pod)
            known.update(pod, is_gone=update.is_gone)
        elif update.is_new:
            await self.admit(pod, node)

    async def admit(self, pod: Pod, node: Node | None) -> None:
        """Admit or reject a pod, and start its Lifecycle in both cases. A pod that is terminating
        already is not checked, and will not be started (KUB-10). While it kills the victims of a
        critical pod, no other pod is handled (KUB-15)."""
        if pod.meta.is_terminating or pod.is_over:
            counts = pod.is_over and self.switches.bug_counts_terminal
            self.begin(pod, None, holds_room=counts)
            return
        active = [each.pod for each in self.pods.values() if each.holds_room]
        pressures = () if self.eviction is None else self.eviction.pressures
        admission = admission_of(pod, node, active, pressures, self.displacement())
        self.is_preempting = bool(admission.victims)
        for victim in admission.victims:
            await self.preempt(victim, pod)
        self.is_preempting = False
        refusal, because = admission.refusal, None
        if refusal is not None:
            said = f"rejected {pod.key}: {refusal.why.strip(' .')}"
            because = self.client.record("rejected", pod=pod.key, reason=refusal.reason, said=said)
            self.recorder.note(pod, refusal.reason, refusal.why, WARNING)
        else:
            self.client.record("admitted", pod=pod.key)
            if self.oom is not None:
                await self.oom.limit(node)
            await draw_usage(self.client, self.kubelet.node, pod)
        behind = [self.displace(each, pod) for each in admission.displaced]
        self.begin(pod, refusal, holds_room=refusal is None, because=because, behind=behind)

    def displacement(self) -> Displacement | None:
        """How it makes less important pods end; None if it does so for critical pods only."""
        if self.switches.preempts != LOWER:
            return None
        pods, now_ms = self.pods, self.client.now()
        return Displacement(
            self.switches.victim_tiebreak, lambda pod: pods[pod.meta.uid].is_ending, now_ms
        )

    def displace(self, victim: Pod, pod: Pod) -> Lifecycle:
        """Let a pod end with its own grace, unless it is ending, so that another can start after
        it; returns its Lifecycle, to be waited for (CTL-54)."""
        lifecycle = self.pods[victim.meta.uid]
        if not lifecycle.is_ending:
            said = f"ended {victim.key}, to admit {pod.key}, which is more important"
            because = self.client.record(
                "preempting", {"pod": victim.key, "for": pod.key, "uid": pod.meta.uid, "said": said}
            )
            self.recorder.note(victim, DISPLACED.reason, DISPLACED.message, WARNING)
            lifecycle.end(DISPLACED, None, because)
        return lifecycle

    async def preempt(self, victim: Pod, pod: Pod) -> None:
        """Kill a pod with its own grace, to admit a critical one. The admission goes on even if the
        pod does not end in time."""
        said = f"killed {victim.key}, to admit {pod.key}, which is critical"
        because = self.client.record("preempting", pod=victim.key, critical=pod.key, said=said)
        self.recorder.note(victim, PREEMPTED.reason, PREEMPTED.message, WARNING)
        lifecycle = self.pods[victim.meta.uid]
        await lifecycle.kill(PREEMPTED, victim.spec.grace_s or 0, None, because)

    async def begin_static(self, pod: Pod, node: Node | None) -> None:
        """Admit a static pod, and keep its mirror pod."""
        await self.admit(pod, node)
        mirror = MirrorPod(self.client, pod, self.switches.mirror_delay_ms)
        self.mirrors[pod.key] = self.pods[pod.meta.uid], mirror
        self.client.spawn(f"mirror-{pod.meta.name}", mirror.run)

    def handle_mirror(self, pod: Pod, *, is_gone: bool) -> None:
        """Pass the update of a mirror pod on to its static pod."""
        if pod.key in self.mirrors:
            lifecycle, mirror = self.mirrors[pod.key]
            lifecycle.mirrored(None if is_gone else pod)
            mirror.heard(None if is_gone else pod)

    def begin(
        self,
        pod: Pod,
        refusal: AdmissionRefusal | None,
        *,
        holds_room: bool,
        is_gone: bool = False,
        because: Because | None = None,
        behind: Sequence[Lifecycle] = (),
    ) -> None:
        """Start the Lifecycle of a pod, in a task of its own; its containers only when those it is
        `behind` have stopped."""
        uid = pod.meta.uid
        lifecycle = self.kubelet.lifecycle(
            self.client, self.settings, self.statuses, pod, refusal, holds_room=holds_room,
            is_gone=is_gone, because=because, behind=behind,
        )  # fmt: skip
        self.pods[uid] = lifecycle
        if self.eviction is not None:
            self.eviction.heard(pod)

        async def run_to_end() -> None:
            await lifecycle.run()
            del self.pods[uid]

        self.client.spawn(f"pod-{pod.meta.name}", run_to_end)
        if behind:
            self.client.spawn(f"room-for-{pod.meta.name}", lifecycle.wait_for_room)


def _in_order(updates: list[_PodUpdate]) -> list[_PodUpdate]:
    """Updates as they came; but those that came together, as in a list, by age (KUB-2)."""
    if len(updates) < 2:
        return updates
    ordered: list[_PodUpdate] = []
    together: list[_PodUpdate] = []
    for each in updates:
        # By identity, since to compare the revisions of lists would be a look. A Cache hands on one
        # Revision for all that came together, and another for each delivery.
        if together and together[0].revision is not each.revision:
            ordered += sorted(together, key=_age)
            together = []
        together.append(each)
    return ordered + sorted(together, key=_age)


def _age(update: _PodUpdate) -> tuple[int, str]:
    meta = update.pod.meta
    return meta.created_ms or 0, f"{meta.namespace}/{meta.name}"
