"""Life: one incarnation of an actor. Role: what outlives its lives. Seat: one task of a life."""

from __future__ import annotations

import ctypes
import os.path
import re
import sys
import traceback
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any

import attrs

from testbed.errors import Cancelled, Crashed, ScenarioError
from testbed.store.footprint import Footprint
from testbed.turns.option import Option

ADVICE = "Crashed ends the task: catch Exception, never BaseException, and never bare."
REFUSALS_MAX = 100
"""So often a task may await again, in nested `finally` blocks, what it cannot, before it is
abandoned."""
_HERE = os.path.dirname(os.path.dirname(__file__))


class Role:
    """An actor's name, and what outlives its lives: how to make it, its rank, its network."""

    def __init__(self, name: str, factory: Callable[[], Any], rank: int, shares: bool) -> None:
        if not re.fullmatch(r"[\w.-]+", name) or rank < 0:
            raise ScenarioError(
                f"actor {name!r}, rank {rank}: expected a name of letters, digits, '-', '_' and "
                "'.', and a rank from 0: both are part of the calm order."
            )
        self.name = name
        self.factory = factory
        """Makes the actor anew for each life: a restart begins with empty memory."""
        self.rank = rank
        self.shares_memory = shares
        self.memory = f"mem:{name}"
        """Its key in a Footprint. Each turn of a task writes it; if the actor declared that its
        tasks share no memory each only reads it, and so clashes with a crash and with no other."""
        self.lives_key = f"life:{name}"
        """Written when a life of it ends, read by what it has sent and waits for."""
        self.ends_key = f"ends:{name}"
        """Written when a task of it ends: any may be the last, with which its life does."""
        self.may = Footprint(writes=frozenset({self.memory}))
        """What a turn of a task may touch, as far as that can be known before."""
        self.actor: Any = None
        """What it was made into for that life."""
        self.life: Life | None = None
        """The current one, or the last; None before the first."""
        self.lives = 0
        self.is_starting = False
        """Whether its next life has been announced."""
        self.switches: Any = None
        """How it behaves, where it may behave in several ways."""
        self.home = ""
        """The Endpoint it speaks to if it names none; empty: the World's first before the Store."""
        self.homes: tuple[str, ...] = ()
        """Where one life after another begins, over and over."""
        self.clock_shift_ms = 0
        self.cut_off_until_ms = 0
        """Partitioned until then: nothing of it crosses the wire."""
        self.lags: dict[str, tuple[int, int]] = {}
        """Plural to (by, until): how late watch deliveries of that kind come, and for how long."""

    @property
    def is_up(self) -> bool:
        """Whether a life of it is under way."""
        return self.life is not None and self.life.is_alive


class Life:
    """One incarnation of an actor. Tasks, tickets, watches and replies belong to it, never to the
    actor's name, so that nothing addressed to a dead life can reach the next one."""

    def __init__(self, role: Role) -> None:
        role.lives += 1
        role.life = self
        self.role = role
        self.number = role.lives
        self.is_alive = True
        self.seats: dict[str, Seat] = {}
        """Its tasks that have not ended, by path, in the order they were spawned."""
        self.streams: list[Any] = []
        self.caches: list[Any] = []
        self.shown: dict[str, Any] = {}
        """What it lets those see who judge it, by name; no actor can, its own life included."""
        self.stalled_until_ms = 0
        self.told_time_at = 0
        """The Step in which it last looked at its clock, or asked what is near and can."""
        self._names: dict[str, int] = {}
        self._said: dict[tuple[str, str, str, str, str], int] = {}

    def path_for(self, name: str) -> str:
        """`alpha/name`, or `alpha/name#2` for the second of a name in this life."""
        nth = self._names[name] = self._names.get(name, 0) + 1
        return f"{self.role.name}/{name}" if nth == 1 else f"{self.role.name}/{name}#{nth}"

    def nth(self, kind: str, path: str, verb: str = "", key: str = "", change: str = "") -> int:
        """Which of that sentence the next one is, from 1."""
        said = (kind, path, verb, key, change)
        nth = self._said[said] = self._said.get(said, 0) + 1
        return nth

    def said_next(self, said: tuple[str, str, str, str, str]) -> int:
        """The same for what may be taken back and offered again: it counts when it happens."""
        return self._said.get(said, 0) + 1

    def said_now(self, said: tuple[str, str, str, str, str], end: Callable[[], Any]) -> Any:
        """It happens: count it, and let it."""
        self._said[said] = self._said.get(said, 0) + 1
        return end()


class Seat:
    """One task of a life, as the table sees it: parked, or moving; what it waits for."""

    __slots__ = (
        "context", "coro", "end_key", "error", "fn", "has_ended", "host", "is_cancelled", "is_idle",
        "joined_by", "life", "number", "offered", "path", "refusals", "result", "trap", "value",
        "waits_for",
    )  # fmt: skip

    def __init__(
        self,
        path: str,
        life: Life,
        fn: Callable[[], Coroutine[Any, Any, Any]],
        context: Context,
    ) -> None:
        self.path = path
        self.end_key = f"end:{path}"
        """Written when it ends, read by whoever asks whether it has."""
        self.life = life
        self.fn = fn
        self.context = context
        """Its context variables: a copy of its spawner's, as for any task."""
        self.coro: Coroutine[Any, Any, Any] | None = None
        """None until its `start` is performed."""
        self.has_ended = False
        self.is_cancelled = False
        """Whether it has been asked to end, and was not yet told."""
        self.result: object = None
        self.number = 0
        """The ticket: which wait this is; counted up when a wait ends."""
        self.offered: list[Option] = []
        """The Options that would end the present wait; those not performed are withdrawn."""
        self.waits_for: object = "its start"
        self.is_idle = False
        """Whether it waits for what may rightly never come: a watch, or an idle inbox."""
        self.joined_by: dict[Seat, Callable[[], None]] = {}
        self.value: object = None
        self.error: BaseException | None = None
        """What its wait ended with: sent, or raised, into it when it moves."""
        self.trap: object = None
        """Something it awaited that is not the World's."""
        self.refusals = 0
        self.host: Any = None
        """The driver's own."""


@attrs.frozen
class Death:
    """How a life ended by an exception: the first one, in whichever of its tasks."""

    actor: str
    path: str
    error: str
    place: str


def death_of(seat: Seat, error: Exception) -> Death:
    """How that task ended: the exception, and the last line of the actor's own code it was in."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not frame.filename.startswith(_HERE)]
    frame = (theirs or frames)[-1]
    name = os.path.basename(frame.filename)
    said = ": ".join(part for part in (type(error).__name__, _text_of(error)) if part)
    return Death(seat.life.role.name, seat.path, said, f"{name}:{frame.lineno} in {frame.name}")


def is_unwinding() -> bool:
    """Whether the code on the stack runs because of Crashed: in an `except` or a `finally`."""
    error = sys.exception()
    while error is not None:
        if isinstance(error, Crashed | Cancelled):
            return True
        error = error.__context__
    return False


def abandon(coro: Coroutine[Any, Any, Any]) -> None:
    """Leave a task that swallows whatever it is told as it is, for ever: collecting it, be it when
    Python exits, would tell it once more, and it would go on in somebody else's turn."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(coro))


def endless(seat: Seat) -> str:
    """What is said of a task that was abandoned."""
    return (
        f"{seat.path} does not end: it has awaited {REFUSALS_MAX} times since it was told to.\n"
        "Crashed ends the task: let no `finally` begin again what it has interrupted."
    )


def alien(seat: Seat, trap: object) -> str:
    """What is said of a task that awaited something else than its Client."""
    kind = trap if isinstance(trap, type) else type(trap)
    return (
        f"{seat.path} awaited something that is not the World's: {kind.__name__}.\n"
        "An actor waits with its Client alone (sleep, queue, signal, join, first, and the verbs); "
        "an await of trio or asyncio would let the machine decide who goes next."
    )


def _text_of(error: Exception) -> str:
    try:
        return str(error)
    except Exception as another:  # noqa: BLE001 - it is a user's, and only told
        return f"(its text cannot be had: {type(another).__name__})"
