"""Pending: every Option that may happen, now or later, in calm order; and the virtual time."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

from testbed.errors import ScenarioError
from testbed.store.delivery import BOOKMARK
from testbed.turns.life import Seat
from testbed.turns.option import (
    ANSWER,
    DELIVER,
    FEED,
    PICK,
    RESUME,
    SERVE,
    START,
    WAKE,
    Option,
)  # fmt: skip

CALM_ORDER = {SERVE: 0, ANSWER: 0, FEED: 10, DELIVER: 10, START: 20, RESUME: 20, WAKE: 30}
"""Orders the kinds among Options that are due at one instant; an actor's rank is added to a wake's.
"""
HELD: tuple[Any, ...] = ()
"""The place of an Option that is held back: it has none in the line, and is not gone."""
NEVER: tuple[Any, ...] = (None,)
"""The place of a timer that is due after the time up to which the Run is played."""
FIRST = -1
"""Stands for the kind in the place of a released Option, which comes first in its instant."""


def calm_place(option: Option) -> tuple[int, int, int, str]:
    """Its place in calm order, whether or not it was held back and released."""
    causes = option.causes
    return (
        option.due_ms,
        CALM_ORDER[option.kind] + option.rank,
        -causes[-1] if causes else 0,
        option.path,
    )


def is_timer(option: Option) -> bool:
    """Whether only time has to pass for it: it is no effect of anything that is in flight."""
    return option.kind == WAKE or option.change == BOOKMARK


# The line is kept sorted by tuples that end in a serial and the Option. The serial is unique, so
# two Options are never compared, and no `id()` or hash can decide. An Option keeps its tuple as its
# `place`, which finds it again by bisection; a change of its due time is a remove and an add.
class Pending:
    """The sorted list of all Options that are announced and not yet performed.

    It is in calm order: (due time, kind, newest cause first, path, serial). With the newest cause
    first, what has begun is finished before anything else starts. So always to choose option 0 is
    the textbook execution.
    """

    def __init__(self) -> None:
        self.now_ms = 0
        """Virtual time: it moves when an Option that is due later is performed."""
        self.held: dict[Option, None] = {}
        """The Options that are held back, oldest first; time may pass their due time."""
        self.until_ms: int | None = None
        """The time after which no timer goes off; None: each does."""
        self.never: dict[Option, None] = {}
        """The timers and bookmarks that are due after that time, as they were announced."""
        self._line: list[tuple[Any, ...]] = []
        self._serial = 0

    def __len__(self) -> int:
        return len(self._line)

    def __iter__(self) -> Iterator[Option]:
        return (place[-1] for place in self._line)

    def add(self, option: Option, *, is_late: bool = False) -> None:
        """Announce an Option: it may happen at its due time or later. A timer that is due after the
        time up to which the Run is played never does, unless it is only late."""
        until_ms = self.until_ms
        if until_ms is not None and option.due_ms > until_ms and not is_late and is_timer(option):
            option.place = NEVER
            self.never[option] = None
            return
        self._serial = serial = self._serial + 1
        causes = option.causes
        # `calm_place`, written out: this is done for each Option.
        option.place = place = (
            option.due_ms,
            CALM_ORDER[option.kind] + option.rank,
            -causes[-1] if causes else 0,
            option.path,
            serial,
            option,
        )
        insort(self._line, place)

    def remove(self, option: Option) -> None:
        """Remove an Option, held back or not; nothing if it is not pending."""
        place = option.place
        if place is None:
            return
        option.place = None
        if place is NEVER:
            del self.never[option]
        elif place:
            del self._line[bisect_left(self._line, place)]
        else:
            del self.held[option]

    def hold(self, option: Option) -> None:
        """Hold an Option back until it is released. It may still be withdrawn meanwhile."""
        self.remove(option)
        option.place = HELD
        self.held[option] = None

    def release(self, option: Option) -> None:
        """Release an Option that was held back: it comes next, unless it is not due yet."""
        self.remove(option)
        due_ms = option.due_ms
        if due_ms <= self.now_ms and self._line:
            due_ms = min(due_ms, self._line[0][0])
        self._serial = serial = self._serial + 1
        option.place = place = (due_ms, FIRST, CALM_ORDER[option.kind], option.path, serial, option)
        insort(self._line, place)

    def postpone(self, option: Option, due_ms: int) -> None:
        """Give an Option a later due time, as a stall or a lag does; never an earlier one. A timer
        that was due in time still goes off, however late."""
        if option.place is None or due_ms <= option.due_ms:
            return
        if option.place and option.place is not NEVER:
            self.remove(option)
            option.due_ms = due_ms
            self.add(option, is_late=True)
        else:
            option.due_ms = due_ms

    def take(self, index: int) -> Option:
        """Remove the Option at that index of the line, to perform it."""
        option: Option = self._line.pop(index)[-1]
        option.place = None
        return option

    def at(self, index: int) -> Option:
        """The Option at that index of the line."""
        return self._line[index][-1]  # type: ignore[no-any-return]

    def first(self, count: int) -> list[Option]:
        """The first Options of the line, that many."""
        return [place[-1] for place in self._line[:count]]

    def overdue(self, lateness_ms: int) -> list[Option]:
        """What is held back and would be later than that if time passed to what is due next."""
        next_ms = self._line[0][0] if self._line else None
        return [o for o in self.held if next_ms is None or o.due_ms + lateness_ms < next_ms]

    @property
    def next_due_ms(self) -> int:
        """When the earliest Option is due; only asked while there is one."""
        return self._line[0][0]  # type: ignore[no-any-return]


class Options(Sequence[Option]):
    """What a Chooser is shown: the ready Options in calm order, then the possible faults.

    It is a view, valid until `choose` returns, and costs nothing to show. The faults are worked out
    when the Chooser first looks past `ready`, so a Chooser that rarely wants one rarely pays.
    """

    __slots__ = ("_faults", "_find_faults", "_overdue", "_pending", "due_ms", "ready")

    def __init__(self, pending: Pending, find_faults: Callable[[], list[Option]]) -> None:
        self._pending = pending
        self._find_faults = find_faults
        self._faults: list[Option] | None = None
        self._overdue: Sequence[Option] = ()
        self.ready = 0
        """How many Options are ready; they have the indices 0 … ready - 1, the faults follow."""
        self.due_ms = 0
        """When the earliest is due, if there is one."""

    def show(self, delay_max_ms: int) -> int:
        """Show the line as it is now, at the beginning of a turn; returns how many are ready: those
        due within `delay_max_ms` of the earliest."""
        self._faults = None
        self._overdue = ()
        line = self._pending._line
        if not line:
            self.ready = 0
            return 0
        self.due_ms = due_ms = line[0][0]
        limit = due_ms + delay_max_ms
        self.ready = ready = len(line) if line[-1][0] <= limit else bisect_left(line, (limit + 1,))
        return ready

    def hide(self, overdue: Sequence[Option]) -> None:
        """Show nothing that is ready, not even a timer in the far future: of what is held back, or
        of what is overdue of it, something must be released first."""
        self.ready, self._overdue = 0, overdue

    @property
    def faults(self) -> Sequence[Option]:
        """Every fault that could strike now, within the scenario's budget."""
        if self._faults is None:
            self._faults = self._find_faults()
        return self._faults

    @property
    def now_ms(self) -> int:
        """Virtual time."""
        return self._pending.now_ms

    @property
    def held(self) -> tuple[Option, ...]:
        """The Options that are held back, oldest first; a Chooser may release any of them. If some
        may not be later than they are, these alone."""
        return tuple(self._overdue or self._pending.held)

    @property
    def to_come(self) -> tuple[Option, ...]:
        """All that is pending, due or not, held back or not: to compare two Runs, not to choose."""
        return (*self._pending, *self._pending.held)

    def in_line(self) -> list[Option]:
        """The ready Options as a list."""
        return self._pending.first(self.ready)

    def __len__(self) -> int:
        return self.ready + len(self.faults)

    @overload
    def __getitem__(self, index: int) -> Option: ...
    @overload
    def __getitem__(self, index: slice) -> list[Option]: ...
    def __getitem__(self, index: int | slice) -> Option | list[Option]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if index < 0:
            raise IndexError(f"there are {len(self)} options")
        return self._pending.at(index) if index < self.ready else self.faults[index - self.ready]


class Alternatives(Sequence[Option]):
    """The labelled alternatives of one pick, dullest first, each shown as an Option.

    An Option is made when the Chooser looks at it, so a pick among a thousand nodes is cheap.
    """

    __slots__ = ("_made", "_shown", "_values")

    def __init__(self, values: Sequence[Any], shown: Callable[[Any], Option]) -> None:
        self._values = values
        self._shown = shown
        self._made: dict[int, Option] = {}

    @classmethod
    def of(
        cls, seat: Seat, label: str, alternatives: Sequence[object], step: int, now_ms: int
    ) -> Alternatives:
        """The Options that stand for what a task picks from."""
        actor = seat.life.role.name
        nth = seat.life.nth(PICK, seat.path, label)

        def shown(alternative: object) -> Option:
            option = Option(PICK, seat.path, _decided, causes=(step,), due_ms=now_ms, actor=actor)
            return option.about(label, nth=nth, label=_label(alternative))

        return cls(alternatives, shown)

    @property
    def ready(self) -> int:
        """How many may be chosen: all of them."""
        return len(self._values)

    @property
    def faults(self) -> Sequence[Option]:
        """None: a pick is part of the turn that asks, and no fault can strike within a turn."""
        return ()

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def __getitem__(self, index: int) -> Option: ...
    @overload
    def __getitem__(self, index: slice) -> list[Option]: ...
    def __getitem__(self, index: int | slice) -> Option | list[Option]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = range(len(self._values))[index]
        option = self._made.get(place)
        if option is None:
            option = self._made[place] = self._shown(self._values[place])
        return option


def _decided() -> None:
    """Do nothing: a pick is decided when it is chosen."""


def _label(alternative: object) -> str:
    for name in ("key", "name"):
        if isinstance(label := getattr(alternative, name, None), str):
            return label
    kind: Any = type(alternative)
    if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:
        raise ScenarioError(
            f"a pick among {kind.__name__}: it has no name, key or text, and its address differs "
            "in each run.\nNext: give it a `name`, or pick among names."
        )
    return str(alternative)
