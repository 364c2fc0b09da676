"""Runtime: the containers that run on a node, which outlive every crash of its kubelet.

It has no task of its own: the state of a pod's containers is a function of what was asked of the
runtime and of the time. The containers of one pod start and end together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from actors.kubelet.meter import Meter, Metered, Stats
from actors.kubelet.workload import Workload
from testbed.errors import Invalid, NotFound
from testbed.objects import Pod
from testbed.store.endpoint import BETWEEN, Handler, Operation
from testbed.store.footprint import NOTHING, Footprint
from testbed.store.watch import Cursor

STOPPED, KILLED = 143, 137
"""The exit codes of a container that ends by the signal to terminate, and of one that is killed."""


def runtime_of(node: str) -> str:
    """The name of a node's runtime."""
    return f"runtime-{node}"


@attrs.frozen
class Ended:
    """How the containers ended the time before the last start."""

    started_ms: int
    ended_ms: int
    exit_code: int


@attrs.frozen
class Report:
    """The state of the containers of one pod, as their runtime reports it now."""

    pod: Pod
    """The pod as it was when they were started, with the annotations that they have read since."""
    started_ms: int
    ran_ms: int
    """How long they have run so far, or ran until they ended."""
    ended_ms: int | None
    """When they ended; None while they run."""
    exit_code: int
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

    @property
    def is_running(self) -> bool:
        """Whether they run."""
        return self.ended_ms is None

    @property
    def is_torn_down(self) -> bool:
        """Whether they have ended, and the node holds nothing any more of what they took."""
        return not self.is_running and self.torn_down_in_ms <= 0


class Runtime:
    """The runtime of one node. It answers within the turn of its kubelet that asks.

    Verbs, each about the pod of a uid: `start` its containers, once; `restart` them if they have
    ended, with the annotations that the pod has now; `signal` them to end within `grace_ms`, which
    can only become shorter; `kill` them; `status`, which is None if there are none; `remove` them
    for good. `list` reports the containers of all pods. `stats` are what pods use, `draw` says
    which of its usages a pod will have, and `collect` deletes the images that no container uses.
    """

    near = True
    is_front = False
    marks_memory = True

    def __init__(self, store: Any, node: str, images: int = 0) -> None:
        self.name = runtime_of(node)
        self.on_behind: Callable[[Cursor], None] | None = None
        self._store = store
        self._containers: dict[str, _Containers] = {}
        self._meter = Meter(images)

    def begin(self) -> None:
        """Nothing: it does not read the Store."""

    def reports(self, now_ms: int) -> list[Report]:
        """The state of all containers, for claims: it leaves no mark in a footprint."""
        return [each.report(now_ms) for _, each in sorted(self._containers.items())]

    def digest_at(self, now_ms: int) -> dict[str, object]:
        """What it holds, with times as distances from now, to be compared with another moment."""
        return {
            "containers": [(uid, each.digest(now_ms)) for uid, each in self._containers.items()],
            "meter": self._meter.digest(
                (each.pod, now_ms - each.started_ms) for each in self._containers.values()
            ),
        }

    def stats(self, now_ms: int) -> Stats:
        """What the pods use, for claims: it leaves no mark in a footprint."""
        return self._meter.stats(
            Metered(each.pod, each.ran_ms, each.is_running, each.ends_in_ms)
            for each in self.reports(now_ms)
            if not each.is_torn_down
        )

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        """Answer in the caller's own turn."""
        self._store.mark(writes=(f"containers:{self.name}",))
        uid, options = operation.uid, operation.options
        match operation.verb:
            case "start":
                self._containers.setdefault(uid, _Containers.of(operation.body, now_ms))
            case "restart":
                self._found(operation).restart(operation.body, now_ms)
                self._meter.read_anew(uid)
            case "signal":
                self._found(operation).signal(now_ms, options["grace_ms"])
            case "kill":
                self._found(operation).kill(now_ms)
            case "status":
                return self._containers[uid].report(now_ms) if uid in self._containers else None
            case "list":
                return tuple(self.reports(now_ms))
            case "remove":
                self._containers.pop(uid, None)
                self._meter.forget(uid)
            case "stats":
                return self.stats(now_ms)
            case "annotate":
                self._found(operation).annotate(operation.body, now_ms)
                self._meter.forget(uid)
            case "draw":
                self._meter.draw(uid, operation.body)
            case "collect":
                self._meter.collect()
            case _:
                raise Invalid(
                    f"{self.name} cannot {operation}: it knows start, restart, annotate, signal, "
                    "kill, status, list, remove, stats, draw and collect"
                )
        return None
        yield BETWEEN

    def _found(self, operation: Operation) -> _Containers:
        found = self._containers.get(operation.uid)
        if found is None:
            raise NotFound(f"{self.name} has no containers of {operation.key} {operation.uid}")
        return found

    def may(self, operation: Operation, caller: str = "") -> Footprint:
        """Nothing beyond the caller's own turn."""
        return NOTHING

    def restart(self) -> None:
        """Nothing: containers do not end with the daemon that started them."""


class _Containers:
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
        self.restarts = 0
        self.last: Ended | None = None
        self.annotated_ms = 0
        """When they last read other annotations."""

    @classmethod
    def of(cls, pod: Pod, now_ms: int) -> _Containers:
        """The containers of a pod, started now."""
        return cls(pod, Workload.of(pod), now_ms)

    def restart(self, pod: Pod | None, now_ms: int) -> None:
        """Start them again if they have ended, whatever has ended them; nothing while they run.
        They read the annotations of the pod, if it is given."""
        end = self.end()
        if end is None or end[0] > now_ms:
            return
        self.last = Ended(self.started_ms, *end)
        if pod is not None:
            self._read(pod)
        self.started_ms, self.restarts = now_ms, self.restarts + 1
        self.signalled_ms = self.grace_ms = self.due_ms = self.killed_ms = None

    def annotate(self, pod: Pod, now_ms: int) -> None:
        """Behave from now on as the annotations of the pod say; nothing if they have ended."""
        end = self.end()
        if end is None or end[0] > now_ms:
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

    def end(self) -> tuple[int, int] | None:
        """When they end, and with which exit code, if nothing more is asked; None if never. It is
        the first of: their own end, the end that the signal brings, the kill."""
        ends: list[tuple[int, int]] = []
        workload = self.workload
        runs_ms, exit_code = workload.at_start(self.restarts)
        if runs_ms is not None:
            ends.append((self.started_ms + runs_ms, exit_code))
        if self.signalled_ms is not None and self.due_ms is not None and not workload.is_deaf:
            after_ms = workload.stops_after_ms
            at_ms = self.due_ms if after_ms is None else self.signalled_ms + after_ms
            ends.append((at_ms, STOPPED))
        # By what they have read since, they should perhaps have ended before they read it.
        ends = [(max(at_ms, self.annotated_ms), code) for at_ms, code in ends]
        if self.killed_ms is not None:
            ends.append((self.killed_ms, KILLED))
        return min(ends, key=lambda end: end[0]) if ends else None

    def digest(self, now_ms: int) -> object:
        """Their state, with times as distances from now. How long they have run matters only if
        they will end by themselves, since they may be started again then."""
        found = self.report(now_ms)
        ran_ms = 0 if found.ends_in_ms is None else found.ran_ms
        return (
            self.pod, found.is_running, ran_ms, found.exit_code, found.ends_in_ms, found.grace_ms,
            found.grace_left_ms, found.restarts, found.torn_down_in_ms, self.killed_ms is not None,
        )  # fmt: skip

    def report(self, now_ms: int) -> Report:
        """Their state now."""
        end_ms, exit_code = self.end() or (None, 0)
        has_ended = end_ms is not None and end_ms <= now_ms
        until_ms = end_ms if end_ms is not None and has_ended else now_ms
        return Report(
            self.pod, self.started_ms, until_ms - self.started_ms, end_ms if has_ended else None,
            exit_code if has_ended else 0,
            None if end_ms is None or has_ended else end_ms - now_ms, self.grace_ms,
            0 if self.due_ms is None else max(self.due_ms - now_ms, 0), self.restarts, self.last,
            max(until_ms + self.workload.torn_down_after_ms - now_ms, 0),
        )  # fmt: skip
