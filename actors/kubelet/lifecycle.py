"""Lifecycle: one pod on its node, from its admission until nothing is left of it."""

from __future__ import annotations

from typing import Any

import attrs

from actors.kubelet.admission import AdmissionRefusal
from actors.kubelet.runtime import Report, runtime_of
from actors.kubelet.status import Facts, own_part, patch_of, said_of
from testbed import ApiError, Client, Conflict, NotFound, Operation, Unavailable
from testbed.objects import Map, Pod
from testbed.objects.pod import FAILED, SUCCEEDED

RECHECK_MS = 10_000
"""How often it looks at what somebody has changed (KUB-22); how long until it tries again."""
RUNTIME_RETRY_MS = 1000
GRACE_MS_MIN = 1000
"""No containers are given less to end (KUB-19)."""


@attrs.frozen
class Habits:
    """How a kubelet treats each of its pods."""

    node: str
    start_delay_ms: int = 0
    ready_delay_ms: int = 0
    terminal_phase_before_delete: bool = False
    began_ms: int = 0
    """When it began, and to look every ten seconds at what others have changed."""


class Lifecycle:
    """Sees to one pod of one uid. What is to be done follows each time from the pod as it is known
    and from its containers as they fare, so nothing need be remembered over a crash.

    1. Its containers are started, unless it was refused, is terminating, gone or over.
    2. If it was, they are told to end, and killed when their time is up.
    3. Its status is said when it changes, and said again where somebody has changed it: when it
       begins to terminate, else at the next look.
    4. Once nothing of a terminating pod runs and that is said, the object is deleted.
    """

    def __init__(
        self,
        client: Client,
        habits: Habits,
        pod: Pod,
        refusal: AdmissionRefusal | None,
        *,
        is_gone: bool,
    ) -> None:
        self.pod = pod
        """As it was last heard of."""
        self.is_gone = is_gone
        """There is no such object any more."""
        self.holds_room = False
        """Whether what it asks for is taken: it was admitted, or something of it runs."""
        self._client = client
        self._habits = habits
        self._refusal = refusal
        self._began_ms = client.now()
        self._said = pod.status
        self._say_at_ms: int | None = None
        """When its status is to be said; None if it has been."""
        self._is_ending = False
        """Whether it was known to be terminating when its status was last seen to."""
        self._delete_at_ms: int | None = 0
        """When it is to be deleted, if it is ready for that; None if it has been."""
        self._news = client.queue(f"pod-{pod.meta.name}", idle=True)

    def hear(self, pod: Pod, *, is_gone: bool = False) -> None:
        """It has changed, or is gone."""
        self.pod, self.is_gone = pod, is_gone
        if not len(self._news):
            self._news.put(None)

    async def run(self) -> None:
        """Do what is to be done, and wait for news or for the time of the next thing."""
        while True:
            report = await self._see_to_containers()
            self._see_to_status(report)
            is_stopped = report is None or not report.is_running
            if is_stopped and self._has_to_go:
                self.holds_room = False
            if is_stopped and self.is_gone:
                await self._ask("remove")
                return
            if self._is_due(self._say_at_ms):
                await self._say()
            if is_stopped and self.pod.meta.is_terminating and self._say_at_ms is None:
                await self._delete()
            await self._wait(report)

    @property
    def _has_to_go(self) -> bool:
        """Whether nothing of it is to run, now or ever again."""
        has_ended = self._said.phase in (SUCCEEDED, FAILED)
        return (
            self.is_gone or self.pod.meta.is_terminating or self.pod.is_over or has_ended
            or self._refusal is not None
        )  # fmt: skip

    # -- its containers -------------------------------------------------------------------------

    async def _see_to_containers(self) -> Report | None:
        """Start them when it is time, or see to it that they end; how they fare then."""
        report: Report | None = await self._ask("status")
        if self._has_to_go:
            if report is None or not report.is_running:
                return report
            grace_ms = self._grace_ms()
            if report.grace_ms is None or grace_ms < report.grace_ms:
                await self._ask("signal", grace_ms=grace_ms)
            elif not report.grace_left_ms:
                await self._ask("kill")
        elif report is None and self._starts_in_ms() <= 0:
            await self._ask("start", self.pod)
            self._client.record("started", pod=self.pod.key)
        return await self._ask("status")  # type: ignore[no-any-return]

    def _starts_in_ms(self) -> int:
        return self._began_ms + self._habits.start_delay_ms - self._client.now()

    def _grace_ms(self) -> int:
        """How long its containers are given to end."""
        grace_s = self.pod.meta.grace_s if self.pod.meta.is_terminating else self.pod.spec.grace_s
        return max(0 if self.is_gone else (grace_s or 0) * 1000, GRACE_MS_MIN)

    async def _ask(self, verb: str, body: Any = None, **options: Any) -> Any:
        """Something of the node's runtime, until it answers."""
        meta = self.pod.meta
        operation = Operation(
            verb, "pods", meta.name, meta.namespace, body, uid=meta.uid, options=Map(options),
            endpoint=runtime_of(self._habits.node),
        )  # fmt: skip
        return await ask_runtime(self._client, operation)

    # -- its status -----------------------------------------------------------------------------

    def _see_to_status(self, report: Report | None) -> None:
        """It is to be said if it has changed, or if somebody has: at once when it begins to
        terminate (SCH-97), else at the next look (KUB-22)."""
        now_ms = self._client.now()
        begins_to_end = self.pod.meta.is_terminating and not self._is_ending
        self._is_ending = self.pod.meta.is_terminating
        before = self.pod.status if self.pod.is_over else self._said
        new = said_of(self._facts(report), before, now_ms)
        if self.is_gone:
            self._say_at_ms = None
        elif own_part(new) != own_part(self._said):
            self._say_at_ms = now_ms
        elif own_part(new) == own_part(self.pod.status):
            self._say_at_ms = None
        elif begins_to_end:
            self._say_at_ms = now_ms
        elif self._say_at_ms is None:
            since_look_ms = (now_ms - self._habits.began_ms) % RECHECK_MS
            self._say_at_ms = now_ms + RECHECK_MS - since_look_ms
        self._said = new

    def _facts(self, report: Report | None) -> Facts:
        is_running = report is not None and report.is_running
        is_ready = is_running and self._ready_in_ms(report) <= 0
        is_last = self._habits.terminal_phase_before_delete and self.pod.meta.is_terminating
        return Facts(self.pod, report, self._refusal, is_ready, is_last)

    def _ready_in_ms(self, report: Report | None) -> int:
        return self._habits.ready_delay_ms - (0 if report is None else report.ran_ms)

    async def _say(self) -> None:
        """Patch it, whatever revision it is at; a pod of another uid is none of its business."""
        said = patch_of(self.pod, self._said, self._client.now())
        try:
            await self._client.patch(self.pod, said, how="strategic", subresource="status")
        except (NotFound, Conflict):
            pass
        except ApiError:
            self._say_at_ms = self._client.now() + RECHECK_MS
            return
        self._say_at_ms = None

    # -- its end --------------------------------------------------------------------------------

    async def _delete(self) -> None:
        """Delete it for good, until that is done or was done by another (KUB-20)."""
        if not self._is_due(self._delete_at_ms):
            return
        meta = self.pod.meta
        delete = Operation(
            "delete", "pods", meta.name, meta.namespace, uid=meta.uid, options=Map(grace_s=0)
        )
        try:
            await self._client.ask(delete)
        except (NotFound, Conflict):
            pass
        except ApiError:
            self._delete_at_ms = self._client.now() + RECHECK_MS
            return
        self._delete_at_ms = None

    # -- what comes next ------------------------------------------------------------------------

    async def _wait(self, report: Report | None) -> None:
        """For news of it, or for the first of what is to come."""
        ahead = self._ahead(report)
        if not ahead:
            await self._news.get()
            return
        in_ms, what = min(ahead)
        timer = self._client.sleep(in_ms, f"{what} {self.pod.key}")
        await self._client.first(self._news.get(), timer)

    def _ahead(self, report: Report | None) -> list[tuple[int, str]]:
        """What there will be to do without any news: in how long, and the word for it."""
        now_ms = self._client.now()
        ahead: list[tuple[int, str]] = []
        if self._say_at_ms is not None:
            ahead.append((self._say_at_ms - now_ms, "retry"))
        elif self._delete_at_ms and self.pod.meta.is_terminating:
            ahead.append((self._delete_at_ms - now_ms, "retry"))
        if report is None:
            if not self._has_to_go:
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
    """Something of a node's runtime; as long as that is down, again."""
    while True:
        try:
            return await client.ask(operation)
        except Unavailable:
            await client.sleep(RUNTIME_RETRY_MS, "retry runtime")
