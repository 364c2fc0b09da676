"""Life: one incarnation of an actor. Role: what outlives its lives. Seat: one task of a life."""

from __future__ import annotations

import ctypes
import os.path
import re
import sys
import traceback
from collections.abc import Callable, Coroutine, ItemsView
from contextvars import Context
from types import FrameType
from typing import Any

import attrs

from testbed.code.whose import library_of, readers_frame
from testbed.errors import Cancelled, Crashed, ScenarioError, UnknownName, shown
from testbed.store.footprint import Footprint
from testbed.turns.option import Option

ADVICE = "let Crashed end the task: catch Exception, never BaseException, and never bare"
REFUSALS_MAX = 100
"""How many awaits of a task that must end are refused before the task is abandoned; nested
`finally` blocks may need several."""
FOREIGN = ("asyncio", "trio", "anyio", "sniffio", "outcome")
"""The libraries that let tasks wait, and must not."""
NOWHERE = "somewhere"


class Role:
    """An actor's name and all that outlives its lives: how to make it, its rank, its network."""

    def __init__(self, name: str, factory: Callable[[], Any], rank: int, shares: bool) -> None:
        given: object = name
        if not isinstance(given, str) or not re.fullmatch(r"[\w.-]+", name) or rank < 0:
            raise ScenarioError(
                f"actor {name!r}, rank {rank}: expected a name of letters, digits, '-', '_' and "
                "'.', and a rank from 0: both are part of the calm order.\n"
                'Next: give it a name such as "alpha-1".'
            )
        self.name = name
        self.factory = factory
        """Makes the actor for each life, so that a restart begins with empty memory."""
        self.rank = rank
        self.shares_memory = shares
        self.memory = f"mem:{name}"
        """The actor's key in a Footprint: every turn of its tasks writes the key. If the actor has
        declared that its tasks share no memory, their turns only read the key; then their order
        matters against a crash, which writes it, and not among themselves."""
        self.lives_key = f"life:{name}"
        """Written when a life of it ends, read by requests in flight and waits."""
        self.ends_key = f"ends:{name}"
        """Written when a task of it ends, since its life ends with the last task."""
        self.may = Footprint(writes=frozenset({self.memory}))
        """What a turn of a task may touch, as far as that is known before."""
        self.actor: Any = None
        """What `factory` made for the current life."""
        self.life: Life | None = None
        """The current life, or the last; None before the first."""
        self.lives = 0
        self.is_starting = False
        """Whether its next life has been announced."""
        self.switches: Any = None
        """The switches of its component; None if it has none."""
        self.home = ""
        """The Endpoint that answers it if an Operation names none; empty: the World's front."""
        self.homes: tuple[str, ...] = ()
        """The homes that one life after another gets, in a circle."""
        self.clock_shift_ms = 0
        """How far its own clock is ahead of virtual time."""
        self.cut_off_until_ms = 0
        """Until then it is partitioned: nothing it sends or receives crosses the wire."""
        self.lags: dict[str, tuple[int, int]] = {}
        """Plural to (by, until): how late watch deliveries of that kind come, and until when."""

    @property
    def is_up(self) -> bool:
        """Whether a life of it goes on."""
        return self.life is not None and self.life.is_alive


# Tasks, tickets, watches and answers belong to a life, never to the actor's name. So an answer
# to a request of a dead life has nowhere to go, and a restarted actor cannot receive it: the next
# life has other Seats. What the next life must know, it reads from the Store.
class Life:
    """One incarnation of an actor: it ends with a crash, and all that was its own ends with it."""

    def __init__(self, role: Role) -> None:
        role.lives += 1
        role.life = self
        self.role = role
        self.number = role.lives
        self.is_alive = True
        self.seats: dict[str, Seat] = {}
        """Its tasks that have not ended, by path, in the order they were spawned."""
        self.streams: list[Any] = []
        """Its open watches."""
        self.caches: list[Any] = []
        self.shown: dict[str, Any] = {}
        """What it shows to invariants, by name; no actor can look, not even this one."""
        self.host: Any = None
        """What carries its tasks, if its driver needs something for that."""
        self.stalled_until_ms = 0
        self.saw_time_at = 0
        """The Step in which it last looked at its clock, or asked an Endpoint that can tell it."""
        self._names: dict[str, int] = {}
        self._counts: dict[tuple[str, str, str, str, str], int] = {}
        """How many Options of each sentence there were. One that may be withdrawn counts when it is
        performed (`count_and`); one that never is, such as a request, when it is announced (`nth`).
        """

    def path_for(self, name: str) -> str:
        """`alpha/name`, or `alpha/name#2` for the second task of that name in this life."""
        nth = self._names[name] = self._names.get(name, 0) + 1
        return f"{self.role.name}/{name}" if nth == 1 else f"{self.role.name}/{name}#{nth}"

    def nth(self, kind: str, path: str, verb: str = "", key: str = "", change: str = "") -> int:
        """Count one more Option of that sentence; returns its number, from 1."""
        sentence = (kind, path, verb, key, change)
        nth = self._counts[sentence] = self._counts.get(sentence, 0) + 1
        return nth

    def counted(self) -> ItemsView[tuple[str, str, str, str, str], int]:
        """Each sentence so far, and how many Options of it there were."""
        return self._counts.items()

    def next_nth(self, sentence: tuple[str, str, str, str, str]) -> int:
        """The number of the next Option of that sentence, not counted yet: for an Option that may
        be withdrawn and offered again."""
        return self._counts.get(sentence, 0) + 1

    def count_and(self, sentence: tuple[str, str, str, str, str], end: Callable[[], Any]) -> Any:
        """Count an Option of that sentence, which is performed now, and call `end`."""
        self._counts[sentence] = self._counts.get(sentence, 0) + 1
        return end()


class Seat:
    """One task of a life, as the Table sees it: parked or moving, and what it waits for."""

    __slots__ = (
        "context", "coro", "end_key", "error", "fn", "has_ended", "is_cancelled", "is_idle",
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
        """Its key in a Footprint: written when it ends, read to ask whether it has ended."""
        self.life = life
        self.fn = fn
        self.context = context
        """Its context variables: a copy of its spawner's, as for any task of Python's."""
        self.coro: Coroutine[Any, Any, Any] | None = None
        """None until its `start` is performed."""
        self.has_ended = False
        self.is_cancelled = False
        """Whether it is to be cancelled, and Cancelled has not been raised in it yet."""
        self.result: object = None
        self.number = 0
        """The number of its present wait, which an Option keeps as its ticket. It grows when a wait
        ends, so an Option offered for an older wait no longer fits."""
        self.offered: list[Option] = []
        """The Options that would end the present wait; when one is performed, the others go."""
        self.waits_for: object = "its start"
        """What it waits for, as a stuck World says it."""
        self.is_idle = False
        """Whether its wait may go on for ever, like that for a watch or an idle queue."""
        self.joined_by: dict[Seat, Callable[[], None]] = {}
        """The tasks that wait for its end, and what offers each of them to go on."""
        self.value: object = None
        """What its wait ended with; sent into it when it moves."""
        self.error: BaseException | None = None
        """What its wait ended with instead; raised in it when it moves."""
        self.trap: object = None
        """Something it awaited that is not the World's."""
        self.refusals = 0
        """How many of its awaits were refused, because it must end."""


@attrs.frozen
class Death:
    """How a life ended by an exception: the first that any of its tasks raised."""

    actor: str
    """The actor whose life has ended."""
    path: str
    """Its task that raised: `ann/main`."""
    error: str
    """The exception, with its text."""
    place: str
    """Where it was raised, in the actor's own code: file, line and function."""

    @property
    def kind(self) -> str:
        """The class of the exception; of a program, how it ended."""
        return self.error.partition(":")[0]

    @property
    def at(self) -> str:
        """The function and its file, without the line: `run of lab.py`."""
        function = self.place.partition(" in ")[2]
        return f"{function} of {self.line.partition(':')[0]}" if function else self.place

    @property
    def line(self) -> str:
        """The line of code: `lab.py:12`; empty if it is a program of which no code is known."""
        line, is_code, _ = self.place.partition(" in ")
        return line if is_code else ""

    def __str__(self) -> str:
        return f"{self.path} died of {self.error} at {self.place}"


@attrs.frozen(order=True)
class StuckTask:
    """A task that waits for what can never come."""

    path: str
    """The task: `ann/main`."""
    waits_for: str

    @property
    def actor(self) -> str:
        """The actor whose task it is."""
        return self.path.partition("/")[0]

    def __str__(self) -> str:
        return f"{self.path} waits for {self.waits_for}"


def death_of(seat: Seat, error: Exception) -> Death:
    """How that task ended: by which exception, and at which line of the actor's own code."""
    frames = traceback.extract_tb(error.__traceback__)
    frame = readers_frame(frames) or frames[-1]
    name = os.path.basename(frame.filename)
    text = ": ".join(part for part in (type(error).__name__, _text_of(error)) if part)
    return Death(seat.life.role.name, seat.path, text, f"{name}:{frame.lineno} in {frame.name}")


def is_unwinding() -> bool:
    """Whether the code on the stack runs in an `except` or a `finally` because of Crashed."""
    error = sys.exception()
    while error is not None:
        if isinstance(error, (Crashed, Cancelled)):
            return True
        error = error.__context__
    return False


def abandon(coro: Coroutine[Any, Any, Any]) -> None:
    """Keep a task that swallows Crashed alive for ever. To collect it, even when Python exits,
    would raise GeneratorExit in it, and it would go on within the turn of another task."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(coro))


def out_of_turn(name: str, step: int) -> str:
    """The error text for a task that used a Client without holding the turn."""
    return (
        f"{name} moved without holding the turn (step {step}): no nursery, thread or callback of "
        "its own reaches the World.\n"
        "Next: make tasks that use the Client with client.spawn(…)."
    )


def not_async(seat: Seat, made: object) -> str:
    """The error text for a task that is no coroutine: the `run` of its actor is not async."""
    kind = type(seat.life.role.actor)
    code = getattr(getattr(kind, "run", None), "__code__", None)
    place = "" if code is None else f"{code.co_filename}, line {code.co_firstlineno}: "
    return (
        f"{place}{seat.path}: the `run` of {kind.__name__} gave {shown(made)}: "
        "expected an async function without `yield`.\n"
        "Next: write `async def run(self, client: Client) -> None:`."
    )


def endless(seat: Seat) -> str:
    """The error text for a task that was abandoned."""
    return (
        f"{_at(_place_of(seat.coro))}{seat.path} does not end: it has awaited {REFUSALS_MAX} times "
        "since it was told to.\n"
        "Next: let no `finally` begin again what Crashed has interrupted."
    )


def alien(seat: Seat, trap: object) -> str:
    """The error text for a task that awaited something else than its Client."""
    kind = trap if isinstance(trap, type) else type(trap)
    return alien_at(_place_of(seat.coro), seat.path, kind.__name__)


def alien_at(place: str, path: str, what: str) -> str:
    """The same, of a task that awaited that at a known place."""
    return (
        f"{place}: {path} awaited something that is not the World's: {what}.\n"
        "It would let the machine decide who goes next.\n"
        "Next: wait with the Client: client.sleep(ms) for time; client.queue(…), client.signal(…), "
        "client.join(…) or client.first(…) for another task of this actor."
    )


def too_many(life: Life, name: str, most: int) -> tuple[str, str]:
    """What to say of a life that spawns one task more than it may have, and the next step."""
    text = (
        f"{life.role.name} has {most:,} tasks and spawns {name}: expected no more tasks than the "
        "Run may have turns, as each takes one to start"
    )
    return text, "let tasks end, or let one do the work of many"


CARRIERS = ("Table.carry", "act_while_parked")
"""What sends into an actor's coroutine or calls its handlers: no frame before that is the actor's.
"""


def refusal(text: str, step: str) -> str:
    """The error text for an actor that broke a rule: at which line of its own code, and the next
    step."""
    frames: list[traceback.FrameSummary] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_qualname not in CARRIERS:
        frames.append(traceback.FrameSummary(frame.f_code.co_filename, frame.f_lineno, ""))
        frame = frame.f_back
    place = "" if frame is None else _at(_shown(readers_frame(reversed(frames))))
    return f"{place}{text}.\nNext: {step}."


def placed(error: BaseException) -> BaseException:
    """The same error, with the line of the actor's own code that led to it, if it has none."""
    frame = readers_frame(traceback.extract_tb(error.__traceback__))
    if isinstance(error, (ScenarioError, UnknownName)) and frame is not None:
        place = _at(_shown(frame))
        if not str(error).startswith(place):
            error.args = (f"{place}{error}",)
    return error


def _at(place: str) -> str:
    return "" if place == NOWHERE else f"{place}: "


# What a task is parked in hangs on its coroutine, one awaited thing inside the other. The innermost
# ones are a library's; the last one before them is the line that awaited it.
def _place_of(coro: Any) -> str:
    """The line of the actor's own code in which that coroutine is parked."""
    frames = []
    while coro is not None:
        kind = next((kind for kind in ("cr", "gi", "ag") if hasattr(coro, f"{kind}_frame")), "")
        at = getattr(coro, f"{kind}_frame", None)
        if at is None:
            break
        frames.append(traceback.FrameSummary(at.f_code.co_filename, at.f_lineno, ""))
        coro = getattr(coro, "gi_yieldfrom" if kind == "gi" else f"{kind}_await")
    return _shown(readers_frame(frames))


def _shown(frame: traceback.FrameSummary | None) -> str:
    return NOWHERE if frame is None else f"{frame.filename}, line {frame.lineno}"


def waited_elsewhere(seat: Seat, error: BaseException) -> str:
    """The error text for a task that died since it called trio or asyncio, which do not run there;
    empty if it died of something else."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or library_of(frames[-1].filename) not in FOREIGN:
        return ""
    place = _shown(readers_frame(frames))
    return alien_at(place, seat.path, f"{type(error).__name__}: {error}")


def _text_of(error: Exception) -> str:
    try:
        return str(error)
    except Exception as another:  # noqa: BLE001 - a user's `__str__` may raise anything
        return f"(its text cannot be had: {type(another).__name__})"
