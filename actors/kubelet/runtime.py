"""Runtime: the containers that run on a node, which outlive every crash of its kubelet.

It has no task of its own: the state of a pod's containers is a function of what was asked of the
runtime and of the time. The containers of one pod start and end together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from actors.kubelet.meter import Meter, Metered, Stats
from actors.kubelet.oom import MEMORY, NodeMemory, OomKill, Process, killed
from actors.kubelet.usage import told
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
    """One end of the containers of a pod."""

    started_ms: int
    """When they were started."""
    ended_ms: int
    exit_code: int
    is_oom: bool = False
    """Whether the kernel killed them because memory ran out."""


@attrs.frozen
class Ooms:
    """What the kernel of a node has killed because memory ran out."""

    kills: tuple[OomKill, ...]
    """All so far, oldest first."""
    next_in_ms: int | None
    """How long until the next one if nothing more is asked; None if there will be none."""


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
        return not self.is_running and self.torn_down_in_ms <= 0


class Runtime:
    """The runtime of one node. It answers within the turn of its kubelet that asks.

    Verbs about the pod of a uid:

    - `start` its containers, once; `restart` them if they have ended, with the annotations that the
      pod has now; `annotate` them: while they run, they behave as those annotations say;
    - `signal` them to end within `grace_ms`, which can only become shorter; `kill` them; `remove`
      them for good;
    - `status` reports them: None if there are none;
    - `draw` says which of its usages the pod will have.

    Verbs about the node:

    - `list` reports the containers of all pods, and `stats` what they use;
    - `collect` deletes the images that no container uses;
    - `limit` says, once and for all, how much memory there is: from then on the kernel kills when
      it runs out, and `ooms` reports what it has killed.
    """

    near = True
    is_front = False
    marks_memory = True
    kernel = staticmethod(killed)
    """What its kernel kills; a mutant has another."""

    def __init__(self, store: Any, node: str, images: int = 0) -> None:
        self.name = runtime_of(node)
        self.on_behind: Callable[[Cursor], None] | None = None
        self._store = store
        self._containers: dict[str, _Containers] = {}
        self._meter = Meter(images)
        self._memory: NodeMemory | None = None
        """How much memory there is; None: the kernel never kills."""
        self._kills: list[OomKill] = []
        """What the kernel has killed, and what it will kill if nothing more is asked."""

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
            Metered(each.pod, each.ran_ms, each.is_running, each.ends_in_ms, each.is_oom)
            for each in self.reports(now_ms)
            if not each.is_torn_down
        )

    def ooms(self, now_ms: int) -> Ooms:
        """What the kernel has killed, for claims: it leaves no mark in a footprint."""
        past = tuple(each for each in self._kills if each.at_ms <= now_ms)
        ahead = [each.at_ms - now_ms for each in self._kills[len(past) :]]
        return Ooms(past, min(ahead, default=None))

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
            case "ooms":
                return self.ooms(now_ms)
            case "limit":
                # The machine stays as it is, whatever its Node says later.
                self._memory = self._memory or operation.body
            case "annotate":
                self._found(operation).annotate(operation.body, now_ms)
                self._meter.forget(uid)
                if any(len(texts) > 1 for texts in told(operation.body).values()):
                    # What it uses is drawn next, in this turn. The kernel must not act before.
                    return None
            case "draw":
                self._meter.draw(uid, operation.body)
            case "collect":
                self._meter.collect()
            case _:
                raise Invalid(
                    f"{self.name} cannot {operation}: it knows start, restart, annotate, signal, "
                    "kill, status, list, remove, stats, draw, collect, limit and ooms"
                )
        self._foresee(now_ms)
        return None
        yield BETWEEN

    def _foresee(self, now_ms: int) -> None:
        """Work out what the kernel will kill if nothing more is asked. What it has killed by now
        stays; all that was foreseen of later is worked out anew, since anything that is asked can
        change it."""
        memory = self._memory
        if memory is None:
            return
        self._kills = [each for each in self._kills if each.at_ms <= now_ms]
        for each in self._containers.values():
            each.spare(now_ms)
        at_ms: int | None = now_ms
        while at_ms is not None:
            for kill in self.kernel(self._processes(at_ms), memory, at_ms):
                self._containers[kill.pod.meta.uid].oom_ms = at_ms
                self._kills.append(kill)
            at_ms = self._next_step_ms(at_ms)

    def _processes(self, at_ms: int) -> list[Process]:
        """What runs then, and the memory that it uses; 0 if that is unknown."""
        found = []
        for each in self._running(at_ms):
            used = self._meter.usage_of(each.pod).at(at_ms - each.started_ms)
            found.append(Process(each.pod, 0 if used is None else used.get(MEMORY, 0)))
        return found

    def _next_step_ms(self, at_ms: int) -> int | None:
        """The first instant after that one at which the usage of what runs then changes."""
        steps = [self._meter.usage_of(each.pod).changes_in_ms(at_ms - each.started_ms)
                 for each in self._running(at_ms)]  # fmt: skip
        return min((at_ms + in_ms for in_ms in steps if in_ms is not None), default=None)

    def _running(self, at_ms: int) -> list[_Containers]:
        return [each for each in self._containers.values() if each.runs_at(at_ms)]

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
        self.oom_ms: int | None = None
        """When the kernel kills them, if nothing more is asked."""
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
        ends: list[tuple[int, int]] = []
        workload = self.workload
        runs_ms, exit_code = workload.at_start(self.restarts)
        if runs_ms is not None:
            ends.append((self.started_ms + runs_ms, exit_code))
        if self.signalled_ms is not None and self.due_ms is not None and not workload.is_deaf:
            after_ms = workload.stops_after_ms
            at_ms = self.due_ms if after_ms is None else self.signalled_ms + after_ms
            ends.append((at_ms, STOPPED))
        # Annotations hold from when they are read, and not before: what they say may put an end
        # before that time.
        ends = [(max(at_ms, self.annotated_ms), code) for at_ms, code in ends]
        if self.killed_ms is not None:
            ends.append((self.killed_ms, KILLED))
        found = [Ended(self.started_ms, *end) for end in ends]
        if self.oom_ms is not None:
            found.append(Ended(self.started_ms, self.oom_ms, KILLED, is_oom=True))
        return min(found, key=lambda end: end.ended_ms) if found else None

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
        end = self.end()
        end_ms = None if end is None else end.ended_ms
        ended = end if end is not None and end.ended_ms <= now_ms else None
        until_ms = now_ms if ended is None else ended.ended_ms
        return Report(
            self.pod, self.started_ms, until_ms - self.started_ms,
            None if ended is None else ended.ended_ms, 0 if ended is None else ended.exit_code,
            None if end_ms is None or ended is not None else end_ms - now_ms, self.grace_ms,
            0 if self.due_ms is None else max(self.due_ms - now_ms, 0), self.restarts, self.last,
            max(until_ms + self.workload.torn_down_after_ms - now_ms, 0),
            ended is not None and ended.is_oom,
        )  # fmt: skip
