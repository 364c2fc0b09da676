"""A dumb model of a scheduler's queue and nominator: one list of pods, looked through each time."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs

from testbed.objects import Pod

PAUSES_S = {"priority": (1, 2, 4, 8, 10), "fifo": (1, 2, 4, 8, 16, 32, 60)}
Events = Mapping[str, tuple[str, ...]]


@attrs.define(eq=False)
class Waiter:
    """A pod, and where it is; `flight`: it is being tried, or has left in the midst of that."""

    pod: Pod
    place: str
    since_ms: int
    order: int
    attempts: int = 0
    refused_by: tuple[str, ...] = ()
    came: int = 0
    """How many had come by then; to the priority queue it comes again whenever it has failed."""
    is_gated: bool = False

    @property
    def name(self) -> str:
        """Its own."""
        return self.pod.meta.name


def nomination(pod: Pod) -> str:
    """Where it is nominated to by its own word."""
    return pod.status.nominated_node_name


@attrs.define(eq=False)
class Model:
    """What the real ones are compared with."""

    kind: str
    """`priority` or `fifo`."""
    moves_everything: bool
    clearing_moves: bool
    waits_for: Events
    """The events each filter waits for; one that is not in it waits for all."""
    known: dict[str, Pod]
    waiters: list[Waiter] = attrs.field(factory=list)
    nominated: list[tuple[Pod, str]] = attrs.field(factory=list)
    cycle: int = 0
    moved_in: int = -1
    order: int = 0

    # -- what is asked of it --------------------------------------------------------------------

    def names(self, place: str) -> list[str]:
        """Who waits there, in no order."""
        return sorted(each.name for each in self.waiters if each.place == place)

    def find(self, name: str) -> Waiter | None:
        """The pod that waits under that name."""
        return next((each for each in self.waiters if each.name == name), None)

    def pause_until(self, waiter: Waiter) -> int:
        """Until when it is left alone."""
        pauses = PAUSES_S[self.kind]
        return waiter.since_ms + 1000 * pauses[min(max(waiter.attempts, 1), len(pauses)) - 1]

    def due(self, place: str, when: Callable[[Waiter], int]) -> int | None:
        """When the first of those that wait there is due."""
        waiters = [each for each in self.waiters if each.place == place and not each.is_gated]
        return min((when(each) for each in waiters), default=None)

    # -- nominations ----------------------------------------------------------------------------

    def nominate(self, pod: Pod, node: str | None) -> None:
        """To that node, or as it says itself."""
        self.drop_nomination(pod)
        node = nomination(pod) if node is None else node
        known = self.known.get(pod.key)
        if node and known is not None and not known.spec.node_name:
            self.nominated.append((pod, node))

    def drop_nomination(self, pod: Pod) -> None:
        """To none."""
        self.nominated = [p for p in self.nominated if p[0].meta.uid != pod.meta.uid]

    def renominate(self, old: Pod, new: Pod) -> None:
        """It has changed."""
        held = next((n for p, n in self.nominated if p.meta.uid == old.meta.uid), None)
        self.drop_nomination(old)
        is_silent = not nomination(old) and not nomination(new)
        self.nominate(new, held if is_silent and held else nomination(new))

    # -- pods that come, change and go ----------------------------------------------------------

    def add(self, pod: Pod, now_ms: int) -> None:
        """It comes."""
        self.order += 1
        waiter = Waiter(pod, "nowhere", now_ms, self.order, came=self.order)
        self.waiters.append(waiter)
        self.let_in(waiter)
        if not waiter.is_gated:
            self.nominate(pod, None)

    def let_in(self, waiter: Waiter) -> None:
        """It is to be tried, unless it has gates."""
        waiter.is_gated = bool(waiter.pod.spec.scheduling_gates)
        if waiter.is_gated:
            waiter.place, waiter.refused_by = "unschedulable", ("SchedulingGates",)
        else:
            waiter.place = "active"
            self.order += 1
            waiter.order = self.order

    def update(self, old: Pod, new: Pod, now_ms: int, is_news: bool) -> None:
        """It has changed, in a way that may make it fit or not."""
        waiter = self.find(new.meta.name)
        if waiter is None:
            self.add(new, now_ms)
            return
        waiter.pod = new
        self.renominate(old, new)
        if waiter.place == "unschedulable":
            is_cleared = bool(nomination(old)) and not nomination(new)
            if is_news or (self.clearing_moves and is_cleared):
                self.offer(waiter, now_ms)

    def offer(self, waiter: Waiter, now_ms: int) -> None:
        """It is to be tried, when it was left alone for long enough."""
        if not waiter.is_gated and self.pause_until(waiter) > now_ms:
            waiter.place = "backoff"
        else:
            self.let_in(waiter)

    def delete(self, pod: Pod) -> None:
        """It is gone or bound."""
        self.drop_nomination(pod)
        self.waiters = [each for each in self.waiters if each.name != pod.meta.name]

    # -- attempts -------------------------------------------------------------------------------

    def pop(self) -> Waiter | None:
        """The one to try."""
        active = [each for each in self.waiters if each.place == "active"]
        if not active:
            return None
        if self.kind == "fifo":
            first = min(active, key=lambda each: each.order)
        else:
            first = min(active, key=lambda each: (-each.pod.priority, each.since_ms, each.came))
        self.waiters.remove(first)
        self.cycle += 1
        first.attempts += 1
        first.refused_by = ()
        return first

    def failed(self, waiter: Waiter, pod: Pod, refused_by: tuple[str, ...], now_ms: int) -> str:
        """It was tried in vain; where it waits now."""
        if self.find(pod.meta.name) is not None:
            return ""
        waiter.pod, waiter.since_ms, waiter.refused_by = pod, now_ms, refused_by
        has_moved = self.kind == "fifo" or self.moved_in >= self.cycle
        waiter.place = "backoff" if has_moved else "unschedulable"
        self.order += 1
        waiter.order = self.order
        if self.kind == "priority":
            waiter.came = self.order
        self.waiters.append(waiter)
        self.nominate(pod, None)
        return waiter.place

    # -- what happens ---------------------------------------------------------------------------

    def move(self, event: str, now_ms: int, may: Callable[[Pod], bool]) -> None:
        """Something has happened."""
        if self.kind == "fifo" or (event == "node deleted" and not self.moves_everything):
            return
        for waiter in list(self.waiters):
            if waiter.place == "unschedulable" and self.is_moved(waiter, event, may):
                self.offer(waiter, now_ms)
        self.moved_in = self.cycle

    def is_moved(self, waiter: Waiter, event: str, may: Callable[[Pod], bool]) -> bool:
        """Whether that event moves it."""
        is_near = waiter.pod.spec.affinity is not None
        if self.moves_everything:
            return event != "pod added" or (is_near and may(waiter.pod))
        if event in ("pod added", "pod updated") and not is_near:
            return False
        names = waiter.refused_by
        waits = not names or any(event in self.waits_for.get(n, (event,)) for n in names)
        return waits and may(waiter.pod)

    def flush_backoff(self, now_ms: int) -> None:
        """Whose time is up may be tried."""
        waiters = [each for each in self.waiters if each.place == "backoff"]
        for waiter in sorted(waiters, key=lambda each: (self.pause_until(each), each.came)):
            if self.pause_until(waiter) <= now_ms:
                self.let_in(waiter)

    def flush_unschedulable(self, now_ms: int) -> None:
        """Who has waited for more than five minutes may be tried."""
        for waiter in list(self.waiters):
            is_late = now_ms - waiter.since_ms > 300_000
            if waiter.place == "unschedulable" and is_late and not waiter.is_gated:
                self.offer(waiter, now_ms)
                self.moved_in = self.cycle
