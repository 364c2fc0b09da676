"""Edits: one part of the complete search replaced while it plays, so that it is unsound there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from testbed.choosers.complete import Complete
from testbed.choosers.equivalence.certificate import AT_REST
from testbed.choosers.equivalence.orders import Keys, OrderedTurn, Past, Touch
from testbed.choosers.equivalence.tree import REST, Fork, Name, Tried, TurnNode, is_fault

Edit = tuple[Any, str, Callable[[Any], Any]]
"""A class or module, the name of a part of it, and what makes another part of the true one."""


@contextmanager
def edited(edits: Iterable[Edit]) -> Iterator[None]:
    """Replace these parts, for as long as it takes."""
    true = [(owner, name, vars(owner)[name]) for owner, name, _ in edits]
    try:
        for owner, name, other in edits:
            setattr(owner, name, other(vars(owner)[name]))
        yield
    finally:
        for owner, name, part in true:
            setattr(owner, name, part)


# -- which turns are in order ----------------------------------------------------------------------


def only_the_latest_race(true: Any) -> Any:
    """A turn races with the latest of the turns that it follows directly, and no other."""
    return lambda self, turn: true(self, turn)[:1]


def not_the_latest_race(true: Any) -> Any:
    """A turn races with all of them but the latest."""
    return lambda self, turn: true(self, turn)[1:]


def no_reads(true: Any) -> Any:
    """Who reads what another writes commutes with it."""

    def clashes(self: Touch, other: Touch) -> bool:
        return bool(self.alone & other.alone)

    return clashes


def no_writes(true: Any) -> Any:
    """Two that write one key commute, if neither reads it."""

    def clashes(self: Touch, other: Touch) -> bool:
        mine = Touch(self.reads_own, self.reads_up, self.writes_own, self.writes_up, 0)
        return bool(true(mine, other))

    return clashes


def no_logs(true: Any) -> Any:
    """A turn that reads a log commutes with one that adds to it."""
    return lambda self, keys: true(self, [key for key in keys if key.partition(":")[0] != "log"])


def fields_apart(true: Any) -> Any:
    """A turn that reads all of a log commutes with a commit to one of its fields."""

    def number(self: Keys, key: str) -> tuple[int, int]:
        bit, _ = self._bits.setdefault(key, (1 << len(self._bits), 0))
        self._bits[key] = (bit, bit)
        return bit, bit

    return number


def any_initial(true: Any) -> Any:
    """Any turn between the two may begin the opposite order, also one that follows from others."""

    def reverse(self: Past, first: int, second: int) -> list[int]:
        rest = [k for k in range(first + 1, second) if not self.before[k] >> first & 1]
        return [*rest, second]

    return reverse


def what_follows_too(true: Any) -> Any:
    """What follows from the first turn may begin the opposite order, too."""
    return lambda self, first, second: list(range(first + 1, second + 1))


# -- what is known only later ----------------------------------------------------------------------


def nothing_late(true: Any) -> Any:
    """What a turn turns out to have touched is ignored."""
    return lambda self, since=0: None


def nothing_open(true: Any) -> Any:
    """A commit may sleep while another of its kind happens."""
    return lambda did, looks_back: type(did)()


def never_looks_back(true: Any) -> Any:
    """When a turn looks back, commits sleep as ever after it started over."""
    return lambda did, looks_back: true(did, False)


# -- what sleeps -----------------------------------------------------------------------------------


def never_wakes(true: Any) -> Any:
    """What sleeps never wakes."""

    def still(self: TurnNode, touch: Touch, has_passed: bool) -> Iterator[tuple[Name, Tried]]:
        yield from self.asleep.items()
        yield from self.done.items()

    return still


# -- what is tried ---------------------------------------------------------------------------------


def withdrawn_unwanted(true: Any) -> Any:
    """What was withdrawn is not tried in place of what withdrew it."""

    def withdraw(self: TurnNode, name: Name) -> None:
        self.tried.withdrew.add(name)

    return withdraw


def never_silent(true: Any) -> Any:
    """What slept and was withdrawn races with nothing."""
    return lambda self, turn, may_strike: False


def faults_never_silent(true: Any) -> Any:
    """A fault that was tried and was withdrawn races with nothing."""

    def silences(self: TurnNode, turn: OrderedTurn, may_strike: bool) -> bool:
        return bool(true(self, turn, False))

    return silences


def silent_only_once(true: Any) -> Any:
    """What slept and was withdrawn races with the turn that withdrew it alone."""

    def races(self: Complete, turn: OrderedTurn, place: int) -> Iterator[int]:
        return (first for first in true(self, turn, place) if first == place - 1)

    return races


def no_fault_at_rest(true: Any) -> Any:
    """No fault strikes at rest."""
    return lambda self, options: None


def nothing_left_over(true: Any) -> Any:
    """What the last turn has withdrawn is not tried."""

    def left_over(self: Complete, verdict: Any) -> None:
        if verdict.end not in AT_REST:
            true(self, verdict)

    return left_over


def limits_hide(true: Any) -> Any:
    """What a limit has hidden is not tried."""

    def left_over(self: Complete, verdict: Any) -> None:
        if verdict.end in AT_REST:
            true(self, verdict)

    return left_over


class _Shy(Fork):
    """A pick whose last alternative is passed over."""

    def __setattr__(self, name: str, value: Any) -> None:
        is_last = name == "at" and 0 < value == self.of - 1
        super().__setattr__(name, self.of if is_last else value)


def last_alternative_untried(true: Any) -> Any:
    """The last alternative of a pick is not tried."""
    return _Shy


def two_at_most(true: Any) -> Any:
    """At each turn, at most two Options are tried."""

    def want(self: TurnNode, name: Name) -> None:
        if len(self.wanted) < 2:
            true(self, name)

    return want


def struck_or_not_at_all(true: Any) -> Any:
    """Where a fault strikes, nothing else is tried."""

    def init(self: TurnNode, *given: Any) -> None:
        true(self, *given)
        if self.wanted and is_fault(self.wanted[0]) and REST not in self.wanted:
            self.wanted = self.wanted[:1]

    return init


def faults_race_with_nothing(true: Any) -> Any:
    """A fault does not come before a turn that it clashes with."""

    def race(self: Complete, first: int, second: int) -> None:
        if not self._past.turns[second].is_fault:
            true(self, first, second)

    return race


def known_by_name(true: Any) -> Any:
    """What was withdrawn is taken to be there still, if something has its name."""
    return lambda self, was, now, index: {name: name for name in self.names if name in index}


def due_to_the_turn_before(true: Any) -> Any:
    """A fault is possible only by the turn after which it was first offered."""

    def race(self: Complete, first: int, second: int) -> None:
        if not self._is_due_to(first, second):
            true(self, first, second)

    return race


def nothing_else_wanted(true: Any) -> Any:
    """If the later turn was not ready where the earlier one was chosen, nothing is tried there."""
    return lambda self: None


def nothing_touched(true: Any) -> Any:
    """No turn touches anything."""
    return lambda self, footprint: true(self, type(footprint)())
