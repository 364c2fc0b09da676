"""YuniKornCore: the Endpoint that keeps the books and decides; it knows nothing of Kubernetes.

It has no task of its own: the shim asks it for each scheduling cycle, and fetches what the cycle
has to tell. In YuniKorn both are one program, so what one forgets the other must tell again. A core
that restarts refuses its shim, which then begins a new life. A shim that begins registers: that
empties the books.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import attrs

from actors.yunikorn.core.allocation import Allocation
from actors.yunikorn.core.application import Application
from actors.yunikorn.core.cycle import SchedulingCycle
from actors.yunikorn.core.partition import PartitionContext
from actors.yunikorn.core.queue import QueueSettings
from actors.yunikorn.messages import CycleResult
from actors.yunikorn.switches import YUNIKORN, YuniKornSwitches
from testbed.errors import Expired, Invalid
from testbed.store.endpoint import BETWEEN, Handler, Operation
from testbed.store.footprint import Footprint
from testbed.store.watch import Cursor
from testbed.switches import Component, told

CORE = "yunikorn-core"
NEWS = ("put_node", "drop_node", "submit", "release")
"""The verbs that tell it something: each is heard once, however often it is sent."""


class YuniKornCore:
    """The core of YuniKorn, with one partition.

    Verbs: `register` begins a session, with empty books, and answers its name; every other request
    must name that session. `put_node`, `drop_node`, `submit` and `release` tell it something.
    `cycle` runs one scheduling cycle, `preempt` one preemption workflow for the ask of a uid.
    `take` answers the messages for the shim, and forgets those that the shim says it has got.
    """

    near = False
    is_front = False
    marks_memory = True
    component: ClassVar[Component] = YUNIKORN
    cycles: ClassVar[type[SchedulingCycle]] = SchedulingCycle
    books: ClassVar[type[PartitionContext]] = PartitionContext

    def __init__(
        self,
        store: Any,
        name: str = CORE,
        *,
        queues: Sequence[QueueSettings] = (),
        profile: str = "",
        switches: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.on_behind: Callable[[Cursor], None] | None = None
        self.told = told(profile, switches)
        self.switches: YuniKornSwitches = YUNIKORN.told(self.told)
        self._store = store
        self._queues = tuple(queues)
        self._sessions = 0
        """How many sessions there were. It is kept when it restarts, since no session may get
        the name of an earlier one."""
        self._begin_anew("")

    def begin(self) -> None:
        """Nothing: it does not read the Store."""

    def restart(self) -> None:
        """Begin with empty books, and without a session."""
        self._begin_anew("")

    @property
    def announced(self) -> int:
        """How many messages for the shim there were in this session."""
        return self._taken + len(self.partition.to_shim)

    def digest_at(self, now_ms: int) -> dict[str, object]:
        """What its next cycles depend on, with times as distances from now."""
        return {"session": bool(self.session), "books": self.partition.digest(now_ms)}

    def may(self, operation: Operation, caller: str = "") -> Footprint:
        """Its own memory."""
        return Footprint(writes=frozenset({self._memory}))

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        """Answer in one part."""
        self._store.mark(writes=(self._memory,))
        if operation.verb == "register":
            self._sessions += 1
            self._begin_anew(f"{caller}-{self._sessions}")
            return self.session
        if operation.options.get("session") != self.session:
            raise Expired(f"{self.name} does not know the session of {caller}: register again")
        return self._answered(operation, now_ms)
        yield BETWEEN

    def _answered(self, operation: Operation, now_ms: int) -> Any:
        options = operation.options
        if operation.verb in NEWS:
            self._hear(operation, options["nth"])
            return None
        match operation.verb:
            case "cycle":
                return self._cycle(now_ms, options.get("first", ()))
            case "preempt":
                return self._preempt(operation.uid)
            case "take":
                return self._take(options["got"])
        known = ", ".join(("register", *NEWS, "cycle", "preempt", "take"))
        raise Invalid(f"{self.name} cannot {operation}: it knows {known}")

    def _begin_anew(self, session: str) -> None:
        self.session = session
        """The name of the session; empty: no shim has registered."""
        self.partition = self.books(self._queues)
        """Its books; claims look at them."""
        self._heard = 0
        """How many pieces of news it has heard in this session."""
        self._taken = 0
        """How many messages the shim has got."""

    def _hear(self, operation: Operation, nth: int) -> None:
        """Take over a piece of news, unless it was sent again because its answer was lost."""
        if nth <= self._heard:
            return
        self._heard = nth
        match operation.verb:
            case "put_node":
                self.partition.put_node(operation.body)
            case "drop_node":
                self.partition.drop_node(operation.name)
            case "submit":
                self.partition.put(operation.body)
            case "release":
                self.partition.release(operation.body, operation.options["app"])

    def _cycle(self, now_ms: int, first: Sequence[str]) -> CycleResult:
        result = self.cycles(self.partition, self.switches, now_ms, first).run()
        return attrs.evolve(result, told=self.announced)

    def _preempt(self, key: str) -> CycleResult:
        """What a workflow does for its ask, once (YK-11). It does not look whether there is room by
        now, since the design document does not say that it should."""
        found = self._reserved(key)
        if found is not None and found[1].awaits_workflow:
            app, ask = found
            node = self.partition.nodes[app.reservations[key].node]
            preemptor = self.cycles.preemptor(self.partition, self.switches)
            ask.has_workflow = preemptor.try_preemption(ask, node)
        return CycleResult(told=self.announced)

    def _reserved(self, key: str) -> tuple[Application, Allocation] | None:
        """An ask that has reserved a node, with its application."""
        for app in self.partition.apps.values():
            if key in app.reservations and key in app.asks:
                return app, app.asks[key]
        return None

    def _take(self, got: int) -> tuple[Any, ...]:
        """The messages that the shim has not got, oldest first."""
        del self.partition.to_shim[: got - self._taken]
        self._taken = got
        return tuple(self.partition.to_shim)

    @property
    def _memory(self) -> str:
        return f"memory:{self.name}"
