"""Pending: every Option that may happen, now or later, in calm order; and the virtual time."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

from testbed.errors import ScenarioError
from testbed.turns.life import Seat
from testbed.turns.option import CALM_ORDER, PICK, Option

HELD: tuple[Any, ...] = ()
"""The place of an Option that is held: it is not among the pending ones, and not performed."""
FIRST = -1
"""Where the kind stands in a place: what was released comes before all else of its instant."""


def calm_place(option: Option) -> tuple[int, int, int, str]:
    """Its place in calm order, wherever it stands now: what was released stands before it."""
    causes = option.causes
    return (
        option.due_ms,
        CALM_ORDER[option.kind] + option.rank,
        -causes[-1] if causes else 0,
        option.path,
    )


class Pending:
    """The sorted list of all Options that are announced and not yet performed.

    The order is the calm one: (due time, kind, newest cause first, path, serial). Newest cause
    first means that what was begun is finished before anything else starts; with it option 0, for
    ever, is the textbook execution.
    """

    def __init__(self) -> None:
        self.now_ms = 0
        """Virtual time: it moves when an Option that is due later is performed."""
        self.held: dict[Option, None] = {}
        """What was taken out for a while, oldest first; time may pass over it."""
        self._line: list[tuple[Any, ...]] = []
        self._serial = 0

    def __len__(self) -> int:
        return len(self._line)

    def __iter__(self) -> Iterator[Option]:
        return (place[-1] for place in self._line)

    def add(self, option: Option) -> None:
        """Announce it: from now on it may happen, at its due time or later."""
        self._serial = serial = self._serial + 1
        option.place = place = (*calm_place(option), serial, option)
        insort(self._line, place)

    def remove(self, option: Option) -> None:
        """Take it out, performed or withdrawn; one that is not pending is left alone."""
        place = option.place
        if place is None:
            return
        option.place = None
        if place:
            del self._line[bisect_left(self._line, place)]
        else:
            del self.held[option]

    def hold(self, option: Option) -> None:
        """Take it out for a while; who announced it still may withdraw it."""
        self.remove(option)
        option.place = HELD
        self.held[option] = None

    def release(self, option: Option) -> None:
        """Put back what was held: it comes next, unless it is not due yet."""
        self.remove(option)
        due_ms = option.due_ms
        if due_ms <= self.now_ms and self._line:
            due_ms = min(due_ms, self._line[0][0])
        self._serial = serial = self._serial + 1
        option.place = place = (due_ms, FIRST, CALM_ORDER[option.kind], option.path, serial, option)
        insort(self._line, place)

    def postpone(self, option: Option, due_ms: int) -> None:
        """Take it out and put it back with a later due time, as a stall or a lag does."""
        if option.place is None or due_ms <= option.due_ms:
            return
        if option.place:
            self.remove(option)
            option.due_ms = due_ms
            self.add(option)
        else:
            option.due_ms = due_ms

    def ready(self, delay_max_ms: int) -> int:
        """How many may happen next: those due within `delay_max_ms` of the earliest."""
        line = self._line
        if not line:
            return 0
        limit = line[0][0] + delay_max_ms
        return len(line) if line[-1][0] <= limit else bisect_left(line, (limit + 1,))

    def take(self, index: int) -> Option:
        """Take out the Option at that place: it is being performed."""
        option: Option = self._line.pop(index)[-1]
        option.place = None
        return option

    def at(self, index: int) -> Option:
        """The Option at that place of the line."""
        return self._line[index][-1]  # type: ignore[no-any-return]

    def first(self, count: int) -> list[Option]:
        """The Options at so many places of the line, from its beginning."""
        return [place[-1] for place in self._line[:count]]

    @property
    def next_due_ms(self) -> int:
        """When the earliest is due; only asked while there is one."""
        return self._line[0][0]  # type: ignore[no-any-return]


class Options(Sequence[Option]):
    """What a Chooser is shown: the ready Options in calm order, the possible faults behind them.

    A view, valid until `choose` returns. Nothing is built to show it; the faults are worked out
    the first time somebody looks past `ready`, so a Chooser that rarely wants one rarely pays.
    """

    __slots__ = ("_faults", "_find_faults", "_pending", "ready")

    def __init__(self, pending: Pending, find_faults: Callable[[], list[Option]]) -> None:
        self._pending = pending
        self._find_faults = find_faults
        self._faults: list[Option] | None = None
        self.ready = 0
        """How many of them are not faults: those have the indices 0 … ready - 1."""

    def show(self, delay_max_ms: int) -> int:
        """Look at the line anew, at the beginning of a turn; how many are ready."""
        self._faults = None
        self.ready = self._pending.ready(delay_max_ms)
        return self.ready

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
        """What is held now, oldest first; a Chooser may release any of it."""
        return tuple(self._pending.held)

    def in_line(self) -> list[Option]:
        """The ready ones, in a list of their own."""
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
    """The labelled alternatives of one pick, dullest first, shown as Options of their own.

    Each is made when somebody looks at it: a pick among a thousand nodes costs what is looked at.
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
        """The Options that stand for the alternatives a task picks from."""
        actor = seat.life.role.name
        nth = seat.life.nth(PICK, seat.path, label)

        def shown(alternative: object) -> Option:
            option = Option(PICK, seat.path, _decided, (step,), now_ms, actor)
            return option.about(label, nth=nth, label=_label(alternative))

        return cls(alternatives, shown)

    @property
    def ready(self) -> int:
        """All of them."""
        return len(self._values)

    @property
    def faults(self) -> Sequence[Option]:
        """None: a pick is answered within the turn that asks."""
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
    """A pick is decided; nothing else happens."""


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
