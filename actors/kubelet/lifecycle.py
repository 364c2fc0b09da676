"""Lifecycle: one pod on its node, from its admission until nothing of it is left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import attrs

from actors.kubelet.admission import AdmissionRefusal
from actors.kubelet.back_off import BackOff
from actors.kubelet.containers import Report
from actors.kubelet.ending import PodEnding
from actors.kubelet.runtime import runtime_of
from actors.kubelet.runtime_client import ask_runtime, draw_usage
from actors.kubelet.status import OVER, Facts, restarts, status_of
from actors.kubelet.status_writer import StatusWriter
from actors.kubelet.usage import behave_alike
from actors.shared.critical import is_static
from testbed import Client, Operation
from testbed.objects import Map, Pod
from testbed.store.endpoint import NO_OPTIONS
from testbed.turns.because import Because

GRACE_MS_MIN = 1000
"""The shortest grace that containers are given (KUB-19)."""
KILL_MS_MIN = 10_000
"""How long a kubelet waits at least for a pod to end that it kills (KUB-15)."""


@attrs.frozen
class PodSettings:
    """The settings of a kubelet that each Lifecycle needs."""

    node: str
    start_delay_ms: int = 0
    """From the admission of a pod until its containers run."""
    ready_delay_ms: int = 0
    """From then until the pod is Ready."""
    terminal_phase_before_delete: bool = False
    """The switch of that name."""
    publishes_at_exit: bool = False
    """Whether a terminal phase is published while the node still holds what the pod took."""
    on_change: Callable[[], None] | None = None
    """Called whenever the runtime was asked to do anything; None: there is nothing to call."""
    oom_kill: Callable[[str], Awaitable[Because | None]] | None = None
    """Returns the record of the kernel's last kill of the pod of a uid; None: it never kills."""


class Lifecycle:
    """Runs one pod, of one uid. What to do follows each time from the pod as last heard of and from
    the state of its containers. A crash loses nothing of that but the back-off, as in Kubernetes.

    1. It starts the containers, unless the pod was rejected, is terminating, gone, ended by the
       kubelet itself or over.
    2. In those cases it tells them to end, and kills them when their grace is over.
    3. It starts them again if they end by themselves and the restart policy says so.
    4. It gives their status to the StatusWriter, which writes it, and deletes the object once
       nothing of a terminating pod is left on the node.
    """

    def __init__(
        self,
        client: Client,
        settings: PodSettings,
        statuses: StatusWriter,
        pod: Pod,
        refusal: AdmissionRefusal | None,
        *,
        holds_room: bool = False,
        is_gone: bool,
        because: Because | None = None,
        behind: Sequence[Lifecycle] = (),
    ) -> None:
        self.pod = pod
        """The pod as last heard of."""
        self.is_gone = is_gone
        """Whether its object no longer exists."""
        self.mirror: Pod | None = None
        """The mirror pod of a static pod, if there is one: its status is written there."""
        self.holds_room = holds_room
        """Whether its requests count at admission: it was admitted, or some of it runs (KUB-3)."""
        self._client = client
        self._settings = settings
        self._statuses = statuses
        self._refusal = refusal
        self._because = because
        """The record of why the kubelet rejects it, or ends it."""
        self._ending: PodEnding | None = None
        """Why the kubelet itself ends it. A crash forgets that: the next life admits it again."""
        self._ending_grace_ms: int | None = None
        """The grace that goes with it; None: the pod's own."""
        self._behind = tuple(behind)
        """Pods of less importance that have to stop before it starts (CTL-54)."""
        self.stopped = client.signal(f"stopped-{pod.meta.name}")
        """Set once nothing of it runs, and nothing ever will."""
        self._began_ms = client.now()
        self._status = pod.status
        """The status as it should be."""
        self._back_off = BackOff()
        self._restart_at_ms: int | None = None
        """When to start containers again that have ended; None if there are none."""
        self._updates = client.queue(f"pod-{pod.meta.name}", idle=True)
        self._key = pod.key
        self._runtime = runtime_of(settings.node)
        self._asked = self._operation("status")
        """Asks the node's runtime for the state of its containers."""

    def digest(self, now_ms: int) -> object:
        """What it remembers, with times as distances from now."""
        at_ms = self._restart_at_ms
        starts_in_ms = self._began_ms + self._settings.start_delay_ms - now_ms
        return (
            self.pod, self.is_gone, self.mirror, self.holds_room, self._refusal, self._ending,
            self._ending_grace_ms, self._status, max(starts_in_ms, 0),
            None if at_ms is None else max(at_ms - now_ms, 0), self._back_off.digest(now_ms),
            [each.pod for each in self._awaited],
        )  # fmt: skip

    def update(self, pod: Pod, *, is_gone: bool = False) -> None:
        """Take the pod as it is now, or as gone; called by the main loop of the kubelet."""
        self.pod, self.is_gone = pod, is_gone
        self.wake()

    def mirrored(self, pod: Pod | None) -> None:
        """Take the mirror pod of this static pod as it is now; None: there is none."""
        if self.mirror is not None and (pod is None or pod.meta.uid != self.mirror.meta.uid):
            self._statuses.forget(self.mirror)
        self.mirror = pod
        self.wake()

    def end(
        self, ending: PodEnding, grace_s: int | None = None, because: Because | None = None
    ) -> None:
        """End the pod for a reason of the kubelet's own, with this grace or, if it is None, the
        pod's. A grace of 0 is none at all (KUB-37). Its status says so once its containers have
        stopped (KUB-18). The first ending stays; a later one can shorten the grace."""
        grace_ms = None if grace_s is None else grace_s * 1000
        if self._ending is None:
            self._ending, self._ending_grace_ms = ending, grace_ms
            self._because = because
        elif grace_ms is not None:
            before_ms = self._ending_grace_ms
            self._ending_grace_ms = grace_ms if before_ms is None else min(before_ms, grace_ms)
        self.wake()

    def wake(self) -> None:
        """Let it look again: something may have changed."""
        if not len(self._updates):
            self._updates.put(None)

    async def kill(
        self, ending: PodEnding, asked_s: int, grace_s: int | None, because: Because | None
    ) -> None:
        """End the pod as `end` does, and wait until it has stopped. Give up after one and a half
        times the grace that was asked for, cut to whole seconds, but not before ten (KUB-15,
        KUB-29)."""
        self.end(ending, grace_s, because)
        patience_ms = max((asked_s + asked_s // 2) * 1000, KILL_MS_MIN)
        timer = self._client.sleep(patience_ms, f"give up on {self._key}")
        await self._client.first(self.stopped.wait(), timer)

    async def wait_for_room(self) -> None:
        """Look again once each pod has stopped that this one is to start behind."""
        for each in self._behind:
            await each.stopped.wait()
        self.wake()

    async def run(self) -> None:
        """Do what there is to do; wait for an update, or for the time of the next thing to do."""
        while True:
            report = await self._sync_containers()
            is_stopped = report is None or report.is_torn_down
            because = self._because
            if because is None and report is not None and report.is_oom:
                because = await self._oom_kill()
            now_ms = self._client.now()
            self._sync_status(report, now_ms, is_stopped=is_stopped, because=because)
            if is_stopped and self._must_not_run:
                self.holds_room = False
                if not self.stopped.is_set:
                    self.stopped.set()
            if is_stopped and self.is_gone:
                await self._ask("remove")
                return
            await self._wait(report, now_ms)

    @property
    def is_ending(self) -> bool:
        """Whether its room will be free, without anything being done for that."""
        return self._must_not_run

    @property
    def _awaited(self) -> list[Lifecycle]:
        """The pods that it waits for."""
        return [each for each in self._behind if not each.stopped.is_set]

    @property
    def _must_not_run(self) -> bool:
        """Whether nothing of the pod may run, now or ever again."""
        pod = self.pod
        return (
            self.is_gone or pod.meta.deleted_ms is not None or pod.status.phase in OVER
            or self._status.phase in OVER or self._refusal is not None or self._ending is not None
        )  # fmt: skip

    # -- its containers -------------------------------------------------------------------------

    async def _sync_containers(self) -> Report | None:
        """Start the containers when it is time, or make them end; returns their state then."""
        report: Report | None = await ask_runtime(self._client, self._asked)
        # As long as it asks nothing of the runtime, what that has reported stays true in this turn.
        is_current = report is None or behave_alike(report.pod, self.pod)
        if not is_current:
            await self._behave_anew()
        if self._must_not_run:
            if report is None or not report.is_running:
                return report
            grace_ms = self._grace_ms()
            if not grace_ms:
                return await self._ask("kill")
            if report.grace_ms is None or grace_ms < report.grace_ms:
                return await self._ask("signal", grace_ms=grace_ms)
            if not report.grace_left_ms:
                return await self._ask("kill")
            if is_current:
                return report
        elif report is None and self._starts_in_ms() <= 0 and not self._awaited:
            report = await self._ask("start", self.pod)
            self._client.record("started", pod=self._key)
            return report
        elif report is not None and report.ended_ms is not None and restarts(self.pod, report):
            await self._restart(report.ended_ms)
        elif is_current:
            return report
        anew: Report | None = await ask_runtime(self._client, self._asked)
        return anew

    async def _behave_anew(self) -> None:
        """Let the containers read the pod's annotations, as through the downward API."""
        await self._ask("annotate", self.pod)
        await draw_usage(self._client, self._settings.node, self.pod)

    async def _restart(self, ended_ms: int) -> None:
        """Start containers again when their back-off is over; at the earliest at the next look, so
        that their end is published first."""
        now_ms = self._client.now()
        if self._restart_at_ms is None:
            self._restart_at_ms = max(self._back_off.due_ms(ended_ms), now_ms)
        elif self._restart_at_ms <= now_ms:
            self._restart_at_ms = None
            await self._ask("restart", self.pod)
            self._back_off.restarted(ended_ms, now_ms)
            self._client.record("restarted", pod=self._key)

    def _starts_in_ms(self) -> int:
        return self._began_ms + self._settings.start_delay_ms - self._client.now()

    def _grace_ms(self) -> int:
        """The grace of its containers: none but the minimum if the object is gone (KUB-21); 0 only
        if the kubelet itself ends it at once."""
        grace_s = self.pod.meta.grace_s if self.pod.meta.is_terminating else self.pod.spec.grace_s
        grace_ms = max(0 if self.is_gone else (grace_s or 0) * 1000, GRACE_MS_MIN)
        if self._ending_grace_ms is None:
            return grace_ms
        return min(grace_ms, self._ending_grace_ms)

    async def _ask(self, verb: str, body: Any = None, **options: Any) -> Report | None:
        """Ask the node's runtime to do something to this pod; returns the state of its containers
        then."""
        report: Report | None = await ask_runtime(
            self._client, self._operation(verb, body, Map(options))
        )
        if self._settings.on_change is not None:
            self._settings.on_change()
        return report

    def _operation(self, verb: str, body: Any = None, options: Map[Any] = NO_OPTIONS) -> Operation:
        meta = self.pod.meta
        return Operation(
            verb, "pods", meta.name, meta.namespace, body, uid=meta.uid, options=options,
            endpoint=self._runtime,
        )  # fmt: skip

    async def _oom_kill(self) -> Because | None:
        """The record of the kernel's kill that has ended its containers."""
        asks = self._settings.oom_kill
        return None if asks is None else await asks(self.pod.meta.uid)

    # -- its status -----------------------------------------------------------------------------

    def _sync_status(
        self, report: Report | None, now_ms: int, *, is_stopped: bool, because: Because | None
    ) -> None:
        """Work out the status, and hand it on to be written."""
        if self.is_gone:
            self._statuses.forget(self.pod)
            return
        before = self.pod.status if self.pod.is_over else self._status
        self._status = status_of(self._facts(report), before, now_ms)
        if not is_static(self.pod):
            self._statuses.set(self.pod, self._status, is_stopped=is_stopped, because=because)
        elif self.mirror is not None:
            # It is not for the static pod that its mirror is deleted.
            self._statuses.set(self.mirror, self._status, is_stopped=False)

    def _facts(self, report: Report | None) -> Facts:
        is_running = report is not None and report.is_running
        is_ready = is_running and self._ready_in_ms(report) <= 0
        is_last = self._settings.terminal_phase_before_delete and self.pod.meta.is_terminating
        may_be_over = report is None or report.is_torn_down
        if self._settings.publishes_at_exit and report is not None:
            may_be_over = not report.is_running
        waits = self._restart_at_ms is not None and self._restart_at_ms > self._client.now()
        return Facts(
            self.pod, report, self._refusal, is_ready, is_last, self._ending,
            self._back_off.wait_ms if waits else None, may_be_over,
        )  # fmt: skip

    def _ready_in_ms(self, report: Report | None) -> int:
        return self._settings.ready_delay_ms - (0 if report is None else report.ran_ms)

    # -- what comes next ------------------------------------------------------------------------

    async def _wait(self, report: Report | None, now_ms: int) -> None:
        """Wait for an update, or for the first of what is to come."""
        ahead = self._ahead(report, now_ms)
        if not ahead:
            await self._updates.get()
            return
        in_ms, what = min(ahead)
        timer = self._client.sleep(in_ms, f"{what} {self._key}")
        await self._client.first(self._updates.get(), timer)

    def _ahead(self, report: Report | None, now_ms: int) -> list[tuple[int, str]]:
        """What there will be to do without an update: in how many milliseconds, and its name."""
        ahead: list[tuple[int, str]] = []
        if report is None:
            if not self._must_not_run and not self._awaited:
                ahead.append((max(self._starts_in_ms(), 0), "start"))
        elif report.is_running:
            if report.ends_in_ms is not None:
                ahead.append((report.ends_in_ms, "end"))
            if report.grace_ms is not None:
                ahead.append((report.grace_left_ms, "kill"))
            elif self._ready_in_ms(report) > 0:
                ahead.append((self._ready_in_ms(report), "ready"))
        elif not self._must_not_run and self._restart_at_ms is not None:
            ahead.append((max(self._restart_at_ms - now_ms, 0), "restart"))
        elif report.torn_down_in_ms:
            ahead.append((report.torn_down_in_ms, "torn-down"))
        return ahead
