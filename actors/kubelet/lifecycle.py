"""Lifecycle: one pod on its node, from its admission until nothing of it is left."""

from __future__ import annotations

from typing import Any

import attrs

from actors.kubelet.admission import AdmissionRefusal
from actors.kubelet.ending import PodEnding
from actors.kubelet.runtime import Report, runtime_of
from actors.kubelet.status import Facts, own_part, patch_of, status_of
from testbed import ApiError, Client, NotFound, Operation, Unavailable
from testbed.objects import Map, Pod
from testbed.objects.pod import FAILED, SUCCEEDED

RECHECK_MS = 10_000
"""How often it looks whether its status was changed by others (KUB-22), and how long it waits to
retry a failed write."""
RUNTIME_RETRY_MS = 1000
GRACE_MS_MIN = 1000
"""The shortest grace that containers are given (KUB-19)."""


@attrs.frozen
class PodSettings:
    """The settings of a kubelet that each Lifecycle needs."""

    node: str
    start_delay_ms: int = 0
    ready_delay_ms: int = 0
    terminal_phase_before_delete: bool = False
    began_ms: int = 0
    """When the kubelet began; its checks every ten seconds count from here."""


class Lifecycle:
    """Runs one pod, of one uid. What to do follows each time from the pod as last heard of and from
    the state of its containers, so nothing need be remembered over a crash.

    1. It starts the containers, unless the pod was rejected, is terminating, gone, ended by the
       kubelet itself or over.
    2. In those cases it tells them to end, and kills them when their grace is over.
    3. It writes the status when that changes. Where others have changed it, it writes it again: at
       once when the pod begins to terminate, else at the next check.
    4. Once nothing of a terminating pod runs, and its status says so, it deletes the object.
    """

    def __init__(
        self,
        client: Client,
        settings: PodSettings,
        pod: Pod,
        refusal: AdmissionRefusal | None,
        *,
        is_gone: bool,
    ) -> None:
        self.pod = pod
        """The pod as last heard of."""
        self.is_gone = is_gone
        """Whether its object no longer exists."""
        self.holds_room = False
        """Whether its requests count at admission: it was admitted, or some of it runs (KUB-3)."""
        self._client = client
        self._settings = settings
        self._refusal = refusal
        self._ending: PodEnding | None = None
        """Why the kubelet itself ends it. A crash forgets that: the next life admits it again."""
        self._ending_grace_ms: int | None = None
        """The grace that goes with it; None: the pod's own."""
        self.stopped = client.signal(f"stopped-{pod.meta.name}")
        """Set once nothing of it runs, and nothing ever will."""
        self._began_ms = client.now()
        self._status = pod.status
        """The status as it should be."""
        self._patch_at_ms: int | None = None
        """When to write the status; None if it is written."""
        self._is_ending = False
        """Whether the pod was terminating when its status was last worked out."""
        self._delete_at_ms: int | None = 0
        """When to delete the object, once it is ready for that; None if that is done."""
        self._updates = client.queue(f"pod-{pod.meta.name}", idle=True)

    def update(self, pod: Pod, *, is_gone: bool = False) -> None:
        """The pod has changed, or its object is gone; called by the main loop of the kubelet."""
        self.pod, self.is_gone = pod, is_gone
        if not len(self._updates):
            self._updates.put(None)

    def end(self, ending: PodEnding, grace_s: int | None = None) -> None:
        """End the pod for a reason of the kubelet's own, with this grace or, if it is None, the
        pod's. A grace of 0 is none at all (KUB-37). Its status says so once its containers have
        stopped (KUB-18). The first ending stays; a later one can shorten the grace."""
        grace_ms = None if grace_s is None else grace_s * 1000
        if self._ending is None:
            self._ending, self._ending_grace_ms = ending, grace_ms
        elif grace_ms is not None:
            before_ms = self._ending_grace_ms
            self._ending_grace_ms = grace_ms if before_ms is None else min(before_ms, grace_ms)
        if not len(self._updates):
            self._updates.put(None)

    async def run(self) -> None:
        """Do what there is to do; wait for an update, or for the time of the next thing to do."""
        while True:
            report = await self._sync_containers()
            self._sync_status(report)
            is_stopped = report is None or not report.is_running
            if is_stopped and self._must_not_run:
                self.holds_room = False
                if not self.stopped.is_set:
                    self.stopped.set()
            if is_stopped and self.is_gone:
                await self._ask("remove")
                return
            if self._is_due(self._patch_at_ms):
                await self._patch_status()
            # The order is what makes a graceful delete safe. The object is the only thing that
            # tells others that this pod may still run, so the kubelet removes it last:
            # after its containers have ended and after its final status is written.
            if is_stopped and self.pod.meta.is_terminating and self._patch_at_ms is None:
                await self._delete()
            await self._wait(report)

    @property
    def _must_not_run(self) -> bool:
        """Whether nothing of the pod may run, now or ever again."""
        has_ended = self._status.phase in (SUCCEEDED, FAILED)
        return (
            self.is_gone or self.pod.meta.is_terminating or self.pod.is_over or has_ended
            or self._refusal is not None or self._ending is not None
        )  # fmt: skip

    # -- its containers -------------------------------------------------------------------------

    async def _sync_containers(self) -> Report | None:
        """Start the containers when it is time, or make them end; returns their state then."""
        report: Report | None = await self._ask("status")
        if self._must_not_run:
            if report is None or not report.is_running:
                return report
            grace_ms = self._grace_ms()
            if not grace_ms:
                await self._ask("kill")
            elif report.grace_ms is None or grace_ms < report.grace_ms:
                await self._ask("signal", grace_ms=grace_ms)
            elif not report.grace_left_ms:
                await self._ask("kill")
        elif report is None and self._starts_in_ms() <= 0:
            await self._ask("start", self.pod)
            self._client.record("started", pod=self.pod.key)
        return await self._ask("status")  # type: ignore[no-any-return]

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

    async def _ask(self, verb: str, body: Any = None, **options: Any) -> Any:
        """Ask the node's runtime about this pod."""
        meta = self.pod.meta
        operation = Operation(
            verb, "pods", meta.name, meta.namespace, body, uid=meta.uid, options=Map(options),
            endpoint=runtime_of(self._settings.node),
        )  # fmt: skip
        return await ask_runtime(self._client, operation)

    # -- its status -----------------------------------------------------------------------------

    def _sync_status(self, report: Report | None) -> None:
        """Work out the status, and when to write it: at once if it has changed, or if others have
        changed it and the pod begins to terminate (SCH-97), else at the next check (KUB-22)."""
        now_ms = self._client.now()
        begins_to_end = self.pod.meta.is_terminating and not self._is_ending
        self._is_ending = self.pod.meta.is_terminating
        before = self.pod.status if self.pod.is_over else self._status
        new = status_of(self._facts(report), before, now_ms)
        if self.is_gone:
            self._patch_at_ms = None
        elif own_part(new) != own_part(self._status):
            self._patch_at_ms = now_ms
        elif own_part(new) == own_part(self.pod.status):
            self._patch_at_ms = None
        elif begins_to_end:
            self._patch_at_ms = now_ms
        elif self._patch_at_ms is None:
            self._patch_at_ms = self._next_check_ms()
        self._status = new

    def _facts(self, report: Report | None) -> Facts:
        is_running = report is not None and report.is_running
        is_ready = is_running and self._ready_in_ms(report) <= 0
        is_last = self._settings.terminal_phase_before_delete and self.pod.meta.is_terminating
        return Facts(self.pod, report, self._refusal, is_ready, is_last, self._ending)

    def _ready_in_ms(self, report: Report | None) -> int:
        return self._settings.ready_delay_ms - (0 if report is None else report.ran_ms)

    async def _patch_status(self) -> None:
        """Patch the status, whatever revision it is at, unless the name has another uid by now."""
        patch = patch_of(self.pod, self._status, self._client.now())
        # A Conflict need not mean another uid: a server also answers so when it has tried a patch
        # too often. So it is repeated like any error, until the watch shows the object gone.
        try:
            await self._client.patch(self.pod, patch, how="strategic", subresource="status")
        except NotFound:
            pass
        except ApiError:
            self._patch_at_ms = self._next_check_ms()
            return
        self._patch_at_ms = None

    def _next_check_ms(self) -> int:
        """When the kubelet next compares all statuses: every ten seconds, however long it takes."""
        now_ms = self._client.now()
        return now_ms + RECHECK_MS - (now_ms - self._settings.began_ms) % RECHECK_MS

    # -- its end --------------------------------------------------------------------------------

    async def _delete(self) -> None:
        """Delete the object for good; retry until it is gone (KUB-20)."""
        if not self._is_due(self._delete_at_ms):
            return
        meta = self.pod.meta
        delete = Operation(
            "delete", "pods", meta.name, meta.namespace, uid=meta.uid, options=Map(grace_s=0)
        )
        try:
            await self._client.ask(delete)
        except NotFound:
            pass
        except ApiError:
            self._delete_at_ms = self._next_check_ms()
            return
        self._delete_at_ms = None

    # -- what comes next ------------------------------------------------------------------------

    async def _wait(self, report: Report | None) -> None:
        """Wait for an update, or for the first of what is to come."""
        ahead = self._ahead(report)
        if not ahead:
            await self._updates.get()
            return
        in_ms, what = min(ahead)
        timer = self._client.sleep(in_ms, f"{what} {self.pod.key}")
        await self._client.first(self._updates.get(), timer)

    def _ahead(self, report: Report | None) -> list[tuple[int, str]]:
        """What there will be to do without an update: in how many milliseconds, and its name."""
        now_ms = self._client.now()
        ahead: list[tuple[int, str]] = []
        if self._patch_at_ms is not None:
            ahead.append((self._patch_at_ms - now_ms, "retry"))
        elif self._delete_at_ms and self.pod.meta.is_terminating:
            ahead.append((self._delete_at_ms - now_ms, "retry"))
        if report is None:
            if not self._must_not_run:
                ahead.append((self._starts_in_ms(), "start"))
        elif report.is_running:
            if report.ends_in_ms is not None:
                ahead.append((report.ends_in_ms, "end"))
            if report.grace_ms is not None:
                ahead.append((report.grace_left_ms, "kill"))
            elif self._ready_in_ms(report) > 0:
                ahead.append((self._ready_in_ms(report), "ready"))
        return ahead

    def _is_due(self, at_ms: int | None) -> bool:
        return at_ms is not None and at_ms <= self._client.now()


async def ask_runtime(client: Client, operation: Operation) -> Any:
    """Ask the runtime of a node; retry while it is down."""
    while True:
        try:
            return await client.ask(operation)
        except Unavailable:
            await client.sleep(RUNTIME_RETRY_MS, "retry runtime")
