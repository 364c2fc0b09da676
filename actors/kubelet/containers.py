"""Containers: those of one pod, by what was asked of them and by the time.

They start and end together. They have no task of their own: what they do follows each time from
their Workload, from what was asked of them, and from the time.
"""

from __future__ import annotations

import attrs

from actors.kubelet.workload import Workload
from testbed.code.quick import quick
from testbed.objects import Pod

STOPPED, KILLED = 143, 137
"""The exit codes of a container that ends by the signal to terminate, and of one that is killed."""


@quick
@attrs.frozen
class Ended:
    """One end of the containers of a pod."""

    started_ms: int
    """When they were started."""
    ended_ms: int
    exit_code: int
    is_oom: bool = False
    """Whether the kernel killed them because memory ran out."""


@quick
@attrs.frozen
class Report:
    """The state of the containers of one pod, as their runtime reports it now."""

    pod: Pod
    """The pod as it was when they were started, with the annotations that they have read since."""
    started_ms: int
    """When they were last started."""
    ran_ms: int
    """How long they have run so far, or ran until they ended."""
    ended_ms: int | None
    """When they ended; None while they run."""
    exit_code: int
    """Their exit code; 0 while they run."""
    ends_in_ms: int | None
    """How long until they end if nothing more is asked, so that a kubelet need not poll; None if
    they never will, or have ended."""
    grace_ms: int | None
    """The shortest grace they were given; None if they were not told to end."""
    grace_left_ms: int
    """How much of the grace is left."""
    restarts: int = 0
    """How often they were started again."""
    last: Ended | None = None
    """How they ended before they were last started again; None if they never were."""
    torn_down_in_ms: int = 0
    """Once they have ended: how long until nothing of the pod is left on the node."""
    is_oom: bool = False
    """Whether the kernel has killed them because memory ran out."""

    @property
    def is_running(self) -> bool:
        """Whether they run."""
        return self.ended_ms is None

    @property
    def is_torn_down(self) -> bool:
        """Whether they have ended, and the node holds nothing any more of what they took."""
        return self.ended_ms is not None and self.torn_down_in_ms <= 0


class PodContainers:
    """The containers of one pod: what was asked of them, and what follows from that."""

    def __init__(self, pod: Pod, workload: Workload, started_ms: int) -> None:
        self.pod = pod
        self.workload = workload
        self.started_ms = started_ms
        self.signalled_ms: int | None = None
        self.grace_ms: int | None = None
        self.due_ms: int | None = None
        """When their grace ends."""
        self.killed_ms: int | None = None
        self.oom_ms: int | None = None
        """When the kernel kills them, if nothing more is asked."""
        self.restarts = 0
        self.last: Ended | None = None
        self.annotated_ms = 0
        """When they last read other annotations."""

    @classmethod
    def of(cls, pod: Pod, now_ms: int) -> PodContainers:
        """The containers of a pod, started now."""
        return cls(pod, Workload.of(pod), now_ms)

    def restart(self, pod: Pod | None, now_ms: int) -> None:
        """Start them again if they have ended, whatever has ended them; nothing while they run.
        They read the annotations of the pod, if it is given."""
        end = self.end()
        if end is None or end.ended_ms > now_ms:
            return
        self.last = end
        if pod is not None:
            self._read(pod)
        self.started_ms, self.restarts = now_ms, self.restarts + 1
        self.signalled_ms = self.grace_ms = self.due_ms = self.killed_ms = self.oom_ms = None

    def annotate(self, pod: Pod, now_ms: int) -> None:
        """Behave from now on as the annotations of the pod say; nothing if they have ended."""
        if self.runs_at(now_ms):
            self._read(pod)
            self.annotated_ms = now_ms

    def _read(self, pod: Pod) -> None:
        self.pod = self.pod.with_meta(annotations=pod.meta.annotations)
        self.workload = Workload.of(pod)

    def signal(self, now_ms: int, grace_ms: int) -> None:
        """Tell them to end within a grace; later calls can only shorten it (KUB-19)."""
        if self.signalled_ms is None:
            self.signalled_ms = now_ms
        if self.grace_ms is None or self.due_ms is None:
            self.grace_ms, self.due_ms = grace_ms, now_ms + grace_ms
        else:
            self.grace_ms = min(self.grace_ms, grace_ms)
            self.due_ms = min(self.due_ms, now_ms + grace_ms)

    def kill(self, now_ms: int) -> None:
        """End them now."""
        if self.killed_ms is None:
            self.killed_ms = now_ms

    def spare(self, now_ms: int) -> None:
        """Forget that the kernel will kill them; nothing if it has."""
        if self.oom_ms is not None and self.oom_ms > now_ms:
            self.oom_ms = None

    def runs_at(self, at_ms: int) -> bool:
        """Whether they run then, as far as is known now."""
        end = self.end()
        return end is None or end.ended_ms > at_ms

    def end(self) -> Ended | None:
        """How they end if nothing more is asked; None if never. It is the first of: their own end,
        the end that the signal brings, the kill, the kill by the kernel."""
        workload, started_ms = self.workload, self.started_ms
        runs_ms, code = workload.at_start(self.restarts)
        # Annotations hold from when they are read, and not before: what they say may put an end
        # before that time.
        end_ms = None if runs_ms is None else max(started_ms + runs_ms, self.annotated_ms)
        if self.signalled_ms is not None and self.due_ms is not None and not workload.is_deaf:
            after_ms = workload.stops_after_ms
            at_ms = self.due_ms if after_ms is None else self.signalled_ms + after_ms
            at_ms = max(at_ms, self.annotated_ms)
            if end_ms is None or at_ms < end_ms:
                end_ms, code = at_ms, STOPPED
        if self.killed_ms is not None and (end_ms is None or self.killed_ms < end_ms):
            end_ms, code = self.killed_ms, KILLED
        if self.oom_ms is not None and (end_ms is None or self.oom_ms < end_ms):
            return Ended(started_ms, self.oom_ms, KILLED, is_oom=True)
        return None if end_ms is None else Ended(started_ms, end_ms, code)

    def digest(self, now_ms: int) -> object:
        """Their state, with times as distances from now. How long they have run matters only if
        they will end by themselves, since they may be started again then."""
        found = self.report(now_ms)
        ran_ms = 0 if found.ends_in_ms is None else found.ran_ms
        return (
            self.pod, found.is_running, ran_ms, found.exit_code, found.ends_in_ms, found.grace_ms,
            found.grace_left_ms, found.restarts, found.torn_down_in_ms, self.killed_ms is not None,
            found.is_oom,
        )  # fmt: skip

    def report(self, now_ms: int) -> Report:
        """Their state now."""
        end, started_ms, takes_ms = self.end(), self.started_ms, self.workload.torn_down_after_ms
        grace_left_ms = 0 if self.due_ms is None else max(self.due_ms - now_ms, 0)
        if end is None or end.ended_ms > now_ms:
            return Report(
                self.pod, started_ms, now_ms - started_ms, None, 0,
                None if end is None else end.ended_ms - now_ms, self.grace_ms, grace_left_ms,
                self.restarts, self.last, takes_ms,
            )  # fmt: skip
        return Report(
            self.pod, started_ms, end.ended_ms - started_ms, end.ended_ms, end.exit_code, None,
            self.grace_ms, grace_left_ms, self.restarts, self.last,
            max(end.ended_ms + takes_ms - now_ms, 0), end.is_oom,
        )  # fmt: skip
