"""Runtime: the containers that run on a node, which outlive every crash of its kubelet.

It has no task of its own: the state of a pod's containers is a function of what was asked of the
runtime and of the time (`containers.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from actors.kubelet.containers import PodContainers, Report
from actors.kubelet.meter import Meter, Metered, Stats
from actors.kubelet.oom import MEMORY, NodeMemory, OomKill, Process, killed
from actors.kubelet.usage import usage_texts
from testbed.errors import Invalid, NotFound
from testbed.store.endpoint import BETWEEN, Handler, Operation
from testbed.store.footprint import NOTHING, Footprint
from testbed.store.watch import Cursor


def runtime_of(node: str) -> str:
    """The name of a node's runtime."""
    return f"runtime-{node}"


@attrs.frozen
class Ooms:
    """What the kernel of a node has killed because memory ran out."""

    kills: tuple[OomKill, ...]
    """All so far, oldest first."""
    next_in_ms: int | None
    """How long until the next one if nothing more is asked; None if there will be none."""


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
        self._marks = (f"containers:{self.name}",)
        self.on_behind: Callable[[Cursor], None] | None = None
        self._store = store
        self._containers: dict[str, PodContainers] = {}
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
        """Answer in the caller's own turn; to what is asked of one pod, with its report then."""
        self._store.mark(writes=self._marks)
        uid, options = operation.uid, operation.options
        match operation.verb:
            case "status":
                found = self._containers.get(uid)
                return None if found is None else found.report(now_ms)
            case "start":
                self._containers.setdefault(uid, PodContainers.of(operation.body, now_ms))
            case "restart":
                self._found(operation).restart(operation.body, now_ms)
                self._meter.read_anew(uid)
            case "signal":
                self._found(operation).signal(now_ms, options["grace_ms"])
            case "kill":
                self._found(operation).kill(now_ms)
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
                if any(len(texts) > 1 for texts in usage_texts(operation.body).values()):
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
        found = self._containers.get(uid)
        return None if found is None else found.report(now_ms)
        yield BETWEEN

    def _foresee(self, now_ms: int) -> None:
        """Work out what the kernel will kill if nothing more is asked. What it has killed by now
        stays; all that was foreseen of later is worked out again, since anything that is asked can
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

    def _running(self, at_ms: int) -> list[PodContainers]:
        return [each for each in self._containers.values() if each.runs_at(at_ms)]

    def _found(self, operation: Operation) -> PodContainers:
        found = self._containers.get(operation.uid)
        if found is None:
            raise NotFound(f"{self.name} has no containers of {operation.key} {operation.uid}")
        return found

    def may(self, operation: Operation, caller: str = "") -> Footprint:
        """Nothing beyond the caller's own turn."""
        return NOTHING

    def restart(self) -> None:
        """Nothing: containers do not end with the daemon that started them."""
