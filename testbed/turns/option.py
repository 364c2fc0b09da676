"""Option: one thing that may happen next. Choice: what a Chooser answers when shown Options."""

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
"""Kinds of Steps that are no turn: an Option was held back or released, or only time has passed."""
JOIN, LEAVE, SAY, EXIT, STOP = "join", "leave", "say", "exit", "stop"
"""Kinds of Steps that are no turn either: what real programs do from outside. One has asked
something, no longer waits for it, has written a line, or has ended; or the Run is stopped."""
DOOR = "door"
"""Who lets time pass, or stops the Run, if it is not the Chooser but the wall's time."""
ASIDE = frozenset({HOLD, RELEASE, PASS, JOIN, LEAVE, SAY, EXIT, STOP})
"""The kinds of Steps that are no turn and no pick."""
EFFECTS = frozenset({SERVE, FEED, DELIVER, FAULT})
"""The kinds that samplers count and draw among; the others follow at once, in calm order."""


@attrs.frozen
class HoldBack:
    """Chosen instead of an index: hold a ready Option back, so that other Options and time may
    pass it.

    It is no turn. When nothing else can move, the Chooser is asked once more, with no Option
    ready; it must then release what it holds, or let a fault strike.
    """

    index: int
    for_ms: int | None = None
    """How much later it becomes due; None: it is held until it is released."""


@attrs.frozen
class LetPass:
    """Chosen instead of an index: only time passes, at most until the next Option is due."""

    to_ms: int


@attrs.frozen
class Release:
    """Chosen instead of an index: release one of `options.held`; it comes next."""

    index: int


Choice = int | HoldBack | Release | LetPass
"""What a Chooser has decided, as a trace keeps it."""


def is_from_outside(kind: str, path: str) -> bool:
    """Whether a Step of that kind and path is what a real program has done, and no Choice."""
    return kind in (JOIN, LEAVE, SAY, EXIT, STOP) or path == DOOR


class Sentence(NamedTuple):
    """The identity of an Option. It has no revision, serial or turn number, so it survives an edit
    of the actor."""

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
    """The footprint key that a request, each of its parts, its answer and its faults share."""
    return f"request:{path} {verb.partition('/')[0].partition('.')[0]} {key}#{nth}"


class Option:
    """One thing that may happen next. Whatever offers it makes it; only the World performs it."""

    __slots__ = (
        "actor", "causes", "change", "due_ms", "fault", "is_idle", "is_timed", "key", "kind",
        "label", "may_touch", "nth", "path", "perform", "place", "rank", "seat", "source",
        "ticket", "verb",
    )  # fmt: skip

    fault: Any
    """The Fault that would strike; set on faults alone."""

    # One or two of these are made in each turn. So the kinds that are made each turn give their
    # arguments by position, which Python passes to a class twice as fast as keywords; the others
    # use keywords. What few Options have is set afterwards.
    def __init__(
        self,
        kind: str,
        path: str,
        perform: Callable[[], Any],
        causes: tuple[int, ...] = (),
        due_ms: int = 0,
        actor: str = "",
        seat: Any = None,
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
        """The virtual time at which it may happen."""
        self.actor = actor
        """The actor that its path belongs to, or that a fault strikes; empty for a cursor."""
        self.seat = seat
        """The Seat that would move; None if no task does."""
        self.ticket = seat.number if seat is not None else 0
        """The number of the wait it would end; the Seat must still be in that wait then."""
        self.verb = self.key = self.change = self.label = ""
        self.nth = 1
        """How many Options with this sentence its life has had, this one included."""
        self.rank = 0
        """Orders the wakes of one instant; the testbed only compares it."""
        self.may_touch: Callable[[], Footprint] | None = None
        """Works out what it may touch; None: what any turn of its Seat may touch."""
        self.source: Any = None
        """The Request, Stream or Post that offers it, if any does."""
        self.is_timed = False
        """Whether it has had to wait for its due time, when it was offered or since."""
        self.is_idle = False
        """Whether it is a timer without which a Run may end: its actor has said so."""
        self.place: tuple[Any, ...] | None = None
        """Its place in calm order while it is pending; None otherwise."""

    def about(
        self, verb: str = "", key: str = "", change: str = "", nth: int = 1, label: str = ""
    ) -> Option:
        """Set the rest of its sentence, and return it. The label is what a person calls an
        alternative of a pick; on a `hold` or a `release` it is the kind of the held Option."""
        self.verb = verb
        self.key = key
        self.change = change
        self.nth = nth
        self.label = label
        return self

    @property
    def life(self) -> int:
        """The number of the life it belongs to, from 1; 0 if it belongs to none.

        A request of a dead life may still be in flight. So a sentence alone may stand twice among
        the pending Options; a sentence and a life together never do.
        """
        life = getattr(self.seat or self.source, "life", None)
        return 0 if life is None else life.number

    @property
    def may(self) -> Footprint:
        """What it may touch, announced before it happens."""
        if self.may_touch is not None:
            return self.may_touch() | self.own
        may: Footprint = NOTHING if self.seat is None else self.seat.life.role.may
        return may | self.own

    @property
    def own(self) -> Footprint:
        """What performing it touches, whatever its actor or Endpoint then does.

        - A turn of a task writes `task:<path>`, so all Options that may end one wait clash.
        - What crosses the wire reads `wire:<actor>`, which a partition writes.
        - A request shares a key with its answer. Both read `life:<actor>`, because a request is
          only answered while its caller lives.
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
        """Whether it changes more than its own actor; samplers draw among these."""
        return self.kind in EFFECTS

    @property
    def sentence(self) -> Sentence:
        """Its identity."""
        return Sentence(self.kind, self.path, self.verb, self.key, self.change, self.nth)

    def __str__(self) -> str:
        return self.label or str(self.sentence)

    def __repr__(self) -> str:
        return f"<{self} at {self.due_ms} ms>"
