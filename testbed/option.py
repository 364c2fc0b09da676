"""Option: one thing that may happen next. Choice: its number, or that it is held back. Footprint:
what it touches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import attrs

from testbed.change import Change
from testbed.objects.meta import changed_fields

# The kinds, in calm order: finish what is in flight, let every watch settle, let one actor decide,
# let time pass. Wakes of one instant are ordered further by their actor's rank; faults stand last.
SERVE, ANSWER, FEED, DELIVER, START, RESUME, WAKE, FAULT, PICK = (
    "serve", "answer", "feed", "deliver", "start", "resume", "wake", "fault", "pick",
)  # fmt: skip
HOLD, RELEASE, PASS = "hold", "release", "pass"
"""Steps that are no turn: an Option was taken out of the pending ones, or came back to them; or
only time has passed."""
CALM_ORDER = {SERVE: 0, ANSWER: 0, FEED: 10, DELIVER: 10, START: 20, RESUME: 20, WAKE: 30}
"""First part of the place of an Option among those of one instant; a rank is added to a wake's."""
EFFECTS = frozenset({SERVE, FEED, DELIVER, FAULT})
"""What samplers count and draw among; the rest is glue, done at once in calm order."""


@attrs.frozen
class HoldBack:
    """Chosen instead of an index: that ready Option is taken out of the pending ones, so that
    everything else, and time, may pass it. It is no turn. When nothing else can
    move, the Chooser is asked with no Option ready: it releases something then."""

    index: int
    for_ms: int | None = None
    """It becomes due so much later; None: until it is released."""


@attrs.frozen
class LetPass:
    """Chosen instead of an index: time passes, and nothing else; not beyond the earliest due."""

    to_ms: int


@attrs.frozen
class Release:
    """Chosen instead of an index: that one of `options.held` comes back, and comes next."""

    index: int


Choice = int | HoldBack | Release | LetPass
"""What a Chooser has decided, as a trace keeps it."""


class Sentence(NamedTuple):
    """The identity of an Option: no revision, serial or turn number, so it survives an edit."""

    kind: str
    path: str
    verb: str
    key: str
    change: str
    nth: int

    def __str__(self) -> str:
        words = [self.kind, self.path, self.verb, self.key, self.change]
        return " ".join(word for word in words if word) + (f"#{self.nth}" if self.nth > 1 else "")


@attrs.frozen
class Footprint:
    """The keys a turn reads and writes; two turns that do not clash commute.

    A key is an object's key, `log:pods` (every object of a kind), `log:pods.spec.node_name` (one
    field of them), `cursor:…`, `cache:…`, `queue:…`, `signal:…`, `mem:<actor>` or `budget:<fault>`.
    """

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()

    def __or__(self, other: Footprint) -> Footprint:
        """What either of them touches."""
        return Footprint(self.reads | other.reads, self.writes | other.writes)

    def clashes(self, other: Footprint) -> bool:
        """Whether their order can matter: one writes what the other reads or writes."""
        return (
            _meet(self.writes, other.writes)
            or _meet(self.writes, other.reads)
            or _meet(self.reads, other.writes)
        )


NOTHING = Footprint()


def _meet(some: frozenset[str], others: frozenset[str]) -> bool:
    if not some or not others:
        return False
    if not some.isdisjoint(others):
        return True
    logs = [key for key in some if key.startswith("log:")]
    return any(
        mine.startswith(f"{theirs}.") or theirs.startswith(f"{mine}.")
        for theirs in others
        if logs and theirs.startswith("log:")
        for mine in logs
    )


class Marks:
    """What the turn under way has touched so far, as Store, Cache, signal and queue note it."""

    __slots__ = ("changes", "reads", "writes")

    def __init__(self) -> None:
        self.reads: list[str] = []
        self.writes: list[str] = []
        self.changes: list[Change] = []
        """The Store's own writes; their keys and changed fields are worked out only if asked."""

    def footprint(self) -> Footprint:
        """What was touched, in full: a written object also writes its kind's log, by field."""
        writes = set(self.writes)
        for change in self.changes:
            writes.add(change.key)
            log = f"log:{change.key.partition('/')[0]}"
            if change.old is None or change.new is None:
                writes.add(log)
            else:
                old, new = change.old.value, change.new.value
                writes.update(f"{log}.{path}" for path in changed_fields(old, new))
        return Footprint(frozenset(self.reads), frozenset(writes))


class Option:
    """One thing that may happen next. Made by whoever offers it, performed by the World alone."""

    __slots__ = (
        "actor", "causes", "change", "due_ms", "fault", "key", "kind", "label", "may_touch", "nth",
        "path", "perform", "place", "rank", "seat", "ticket", "verb",
    )  # fmt: skip

    def __init__(
        self,
        kind: str,
        path: str,
        perform: Callable[[], Any],
        causes: tuple[int, ...] = (),
        due_ms: int = 0,
        actor: str = "",
        verb: str = "",
        key: str = "",
        change: str = "",
        nth: int = 1,
        rank: int = 0,
        seat: Any = None,
        may: Callable[[], Footprint] | None = None,
        label: str = "",
    ) -> None:
        self.kind = kind
        """serve, answer, feed, deliver, start, resume, wake, fault or pick."""
        self.path = path
        """The process it belongs to: a task, a watch stream, a cursor, a kind of fault."""
        self.perform = perform
        """Makes it happen; returns the Seat that is to move then, or None. Called once."""
        self.causes = causes
        """The numbers of the Steps that made it possible, oldest first."""
        self.due_ms = due_ms
        self.actor = actor
        """The actor whose path it is, or that a fault strikes; empty for a cursor."""
        self.verb = verb
        self.key = key
        self.change = change
        self.nth = nth
        """Which of the same sentence it is since its life began, from 1."""
        self.rank = rank
        """Orders the wakes of one instant; the testbed only compares it."""
        self.seat = seat
        """The Seat that would move; None if no task does."""
        self.ticket = seat.number if seat is not None else 0
        """The wait of that Seat it would end; it must still be the same one when performed."""
        self.may_touch = may
        self.label = label
        """What a person calls it, when that is not the sentence: a pick's alternative. Of a `hold`
        or a `release`: the kind of what is held."""
        self.fault: Any = None
        """The Fault it is a way of, if it is one."""
        self.place: tuple[Any, ...] | None = None
        """Its place in calm order while it is pending; None otherwise."""

    @property
    def may(self) -> Footprint:
        """What it may touch, announced before it happens."""
        if self.may_touch is not None:
            return self.may_touch()
        may: Footprint = NOTHING if self.seat is None else self.seat.life.role.may
        return may

    @property
    def is_effect(self) -> bool:
        """Whether it changes more than its own actor: what samplers draw among."""
        return self.kind in EFFECTS

    @property
    def sentence(self) -> Sentence:
        """Its identity."""
        return Sentence(self.kind, self.path, self.verb, self.key, self.change, self.nth)

    def __str__(self) -> str:
        return self.label or str(self.sentence)

    def __repr__(self) -> str:
        return f"<{self} at {self.due_ms} ms>"
