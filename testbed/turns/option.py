"""Option: one thing that may happen next. Choice: its number, or that it is held back. Footprint:
what it touches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import attrs

from testbed.store.footprint import NOTHING, TIME, Footprint

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


def request_key(path: str, verb: str, key: str, nth: int) -> str:
    """The key that a request, its answer and the faults on it share; whichever part it is at."""
    return f"request:{path} {verb.partition('/')[0].partition('.')[0]} {key}#{nth}"


class Option:
    """One thing that may happen next. Made by whoever offers it, performed by the World alone."""

    __slots__ = (
        "actor", "causes", "change", "due_ms", "fault", "has_waited", "key", "kind", "label",
        "may_touch", "nth", "path", "perform", "place", "rank", "seat", "source", "ticket", "verb",
    )  # fmt: skip
    has_waited: bool

    fault: Any
    """The Fault it is a way of; only a fault has one."""

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
        source: Any = None,
    ) -> None:
        self.kind = kind
        """serve, answer, feed, deliver, start, resume, wake, fault or pick."""
        self.path = path
        """The process it belongs to: a task, a watch stream, a cursor, a kind of fault."""
        self.perform = perform
        """Makes it happen, once; returns the Seat that moves then, or None."""
        self.causes = causes
        """The numbers of the Steps that made it possible, oldest first."""
        self.due_ms = due_ms
        self.actor = actor
        """The actor whose path it is, or that a fault strikes; empty for a cursor."""
        self.verb = verb
        self.key = key
        self.change = change
        self.nth = nth
        """Which of its sentence it is since its life began, from 1."""
        self.rank = rank
        """Orders the wakes of one instant; the testbed only compares it."""
        self.seat = seat
        """The Seat that would move; None if no task does."""
        self.ticket = seat.number if seat is not None else 0
        """The wait of that Seat it would end; it must still be the same one when performed."""
        self.may_touch = may
        self.source = source
        """The Request, Stream or Post that offers it, if any does."""
        self.label = label
        """What a person calls a pick's alternative; the kind of what is held or released."""
        self.place: tuple[Any, ...] | None = None
        """Its place in calm order while it is pending; None otherwise."""

    @property
    def life(self) -> int:
        """Which life of its actor it belongs to, from 1; 0 if it belongs to none. What an old life
        has sent may be on its way still: no two pending Options share a sentence and a life."""
        life = getattr(self.seat or self.source, "life", None)
        return 0 if life is None else life.number

    @property
    def is_timed(self) -> bool:
        """Whether it had to wait for its time, when it was offered or since: noted only if so."""
        return hasattr(self, "has_waited")

    @property
    def may(self) -> Footprint:
        """What it may touch, announced before it happens."""
        if self.may_touch is not None:
            return self.may_touch() | self.own
        may: Footprint = NOTHING if self.seat is None else self.seat.life.role.may
        return may | self.own

    @property
    def own(self) -> Footprint:
        """What performing it touches, whatever else it does: worked out only if asked.

        A task's next turn writes `task:<path>`, so that whatever may end one wait clashes with
        all else that may. What crosses the wire reads `wire:<actor>`, which a partition writes. A
        request shares a key with its answer; it reads `life:<actor>`, since whether it is to be
        answered depends on whether its caller lives.
        """
        server = getattr(self.source, "server", None)
        reads = [] if server is None else [server.key]
        writes: list[str] = [TIME] if self.is_timed and self.kind != FAULT else []
        if self.seat is not None:
            writes.append(f"task:{self.seat.path}")
        match self.kind:
            case "serve" | "answer":
                reads += [f"wire:{self.actor}", f"life:{self.actor}"]
                writes.append(request_key(self.path, self.verb, self.key, self.nth))
            case "deliver":
                reads.append(f"wire:{self.actor}")
            case "start" if self.seat is None and self.actor:
                writes.append(f"task:{self.path}")
            case "fault":
                reads.append(TIME)
        return Footprint(frozenset(reads), frozenset(writes))

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
