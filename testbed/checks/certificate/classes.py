"""Classes: the turns and Runs of a certificate, and which turns of a Run are in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

AT_REST = ("quiet", "stuck")
NAMES_MODULO = 2**128
"""Sums of the names of turns stay below this."""


@dataclass(frozen=True)
class SeenTurn:
    """A turn, as the file has it."""

    number: int
    core: int
    """The same number for all that differ only in what was known of them later."""
    option: int
    picks: tuple[Any, ...]
    at: int
    reads: frozenset[str]
    writes: frozenset[str]
    is_fault: bool

    def clashes(self, other: SeenTurn) -> bool:
        """Whether one writes what the other touches."""
        both = any(not key.startswith("log:") for key in self.writes & other.writes)
        return both or _meet(self.writes, other.reads) or _meet(self.reads, other.writes)


def _meet(some: frozenset[str], others: frozenset[str]) -> bool:
    logs = [[f"{key}." for key in keys if key.startswith("log:")] for keys in (some, others)]
    pairs = ((one, other) for one in logs[0] for other in logs[1])
    meet = (a.startswith(b) or b.startswith(a) or "log:." in (a, b) for a, b in pairs)
    return bool(some & others) or any(meet)


class Clashes:
    """Which turns of the file clash, each pair worked out once."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], bool] = {}

    def between(self, one: SeenTurn, other: SeenTurn) -> bool:
        """Whether they clash, wherever they stand."""
        pair = (one.number, other.number)
        known = self._known.get(pair)
        if known is None:
            known = self._known[pair] = one.clashes(other)
        return known


@dataclass(frozen=True)
class Offered:
    """What could happen at some turn."""

    ready: tuple[int, ...]
    faults: tuple[int, ...]
    due: int
    """When all that was ready was due."""

    @property
    def at_any_place(self) -> tuple[Any, ...]:
        """The same, whatever the order in which it stands."""
        return sorted(self.ready), sorted(self.faults), self.due


@dataclass
class RunClass:
    """A class, as one Run of it. A turn is known by its place in that Run, from 0."""

    number: int
    verdict: str
    end: str
    broken: list[list[str]]
    """The claims that were broken, and what was said of them."""
    steps: list[SeenTurn]
    places: list[int]
    """For each turn, which of all that was offered it is, the faults counted last."""
    causes: list[list[int]]
    """For each turn, the places of its causes."""
    offers: list[Offered]
    """What was offered at each turn, and at its end."""
    before: list[int] = field(default_factory=list)
    """For each turn, the turns that come before it, as bits."""
    levels: list[int] = field(default_factory=list)
    """For each turn, how many turns in order lead up to it at most."""
    races: list[list[int]] = field(default_factory=list)
    """For each turn, those right before it in order that could also come after it."""
    names: list[int] = field(default_factory=list)
    """For each turn, a number that it has in every Run in which it has the same past."""
    places_of: dict[int, list[int]] = field(default_factory=dict)
    """The places of the turns of each core."""
    pasts: list[int] = field(default_factory=list)
    """For each turn, a number of all that comes before it."""

    @property
    def strikes(self) -> int:
        """How many faults strike in it."""
        return sum(step.is_fault for step in self.steps)

    def relate(self, clashes: Clashes) -> None:
        """Work out which turns are in order, and the races."""
        for second, step in enumerate(self.steps):
            before = level = 0
            direct, races = [], []
            # Latest first: what comes before a turn that comes before this one is in order already,
            # and to reverse it is not one race but several.
            for first in reversed(range(second)):
                if before >> first & 1:
                    continue
                other = self.steps[first]
                is_fixed = first in self.causes[second] or other.at < step.at
                if is_fixed or clashes.between(other, step):
                    before |= self.before[first] | 1 << first
                    level = max(level, self.levels[first])
                    direct.append(first)
                    # A fault that strikes later instead is found by `need_faults`, one that never
                    # strikes by `need_spared`.
                    if not is_fixed and not other.is_fault:
                        races.append(first)
            self.before.append(before)
            self.levels.append(level + 1)
            self.races.append(races)
            self._name(second, direct)

    def _name(self, place: int, direct: Sequence[int]) -> None:
        causes = sorted(self.names[cause] for cause in self.causes[place])
        past = sorted(self.names[first] for first in direct)
        self.pasts.append(digest(past))
        self.names.append(digest([self.steps[place].number, *causes, -1, *past]))
        self.places_of.setdefault(self.steps[place].core, []).append(place)

    def order(self, sentence: Any) -> list[int]:
        """The places of the turns in normal form: by their level and, of one level, where all may
        swap places, by what they are. So two Runs of one class have the same form."""
        key = [(self.levels[k], sentence(step.option)) for k, step in enumerate(self.steps)]
        return sorted(range(len(key)), key=key.__getitem__)

    def begins(self, other: RunClass, places: Sequence[int]) -> int | None:
        """Whether this class can begin with these turns of another one in this order, where turns
        that are not in order may have swapped places: which of its turns they are, as bits."""
        # It can, if it has each of them, with the same causes, and each is preceded only by turns
        # that were taken before: `before` says which of its turns must come first.
        taken, at = 0, dict[int, int]()
        for place in places:
            causes = {at.get(cause) for cause in other.causes[place]}
            found = self.places_of.get(other.steps[place].core, ())
            k = next((k for k in found if not taken >> k & 1 and {*self.causes[k]} == causes), None)
            if k is None or self.before[k] & ~taken:
                return None
            at[place], taken = k, taken | 1 << k
        return taken

    def goes_on(self, other: RunClass, places: Sequence[int], option: int, picks: Any) -> bool:
        """Whether it can begin so and then go on with that option and those picks."""
        taken = self.begins(other, places)
        if taken is None:
            return False
        found = (k for k, step in enumerate(self.steps) if step.option == option)
        next_ones = (k for k in found if not taken >> k & 1 and not self.before[k] & ~taken)
        picked = ([p[2] for p in self.steps[k].picks[: len(picks)]] for k in next_ones)
        return [p[2] for p in picks] in picked


class Index:
    """Tells which classes begin in some way, if their turns are named alike. Where that is not so,
    since a turn turned out to touch more in one of them, each class has to be looked at."""

    # A name says all that a turn has behind it. So a class that has some turns by name can begin
    # with them, if what is behind them is among them.
    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        """The number of each name."""
        self._having: list[int] = []
        """By that number, the classes that have this turn, as bits."""
        self._behind: list[int] = []
        """And all turns that come before it, as bits."""
        self._of_option: dict[int, dict[int, tuple[Any, ...]]] = {}
        """The numbers of the turns that are an option, and what was picked in each."""
        self._by_strikes: dict[int, int] = {}
        """The classes in which that number of faults strikes, as bits."""

    def add(self, run: RunClass, bit: int) -> None:
        """Take in a class, which has this bit."""
        numbers: list[int] = []
        for place, name in enumerate(run.names):
            number = self._numbers.setdefault(name, len(self._having))
            numbers.append(number)
            if number == len(self._having):
                self._having.append(0)
                bits = (1 << numbers[k] for k in range(place) if run.before[place] >> k & 1)
                self._behind.append(sum(bits))
                step = run.steps[place]
                picked = tuple(pick[2] for pick in step.picks)
                self._of_option.setdefault(step.option, {})[number] = picked
            self._having[number] |= bit
        self._by_strikes[run.strikes] = self._by_strikes.get(run.strikes, 0) | bit

    def has(self, run: RunClass, places: Sequence[int], strikes: int) -> bool:
        """Whether a class has these turns of another one, and that number of strikes."""
        classes = self._by_strikes.get(strikes, 0)
        for place in places:
            classes &= self._having[self._numbers[run.names[place]]]
        return bool(classes)

    def goes_on(self, run: RunClass, places: Sequence[int], option: int, picks: Any) -> bool:
        """Whether a class can begin with these turns of another one and then with that option and
        those picks."""
        numbers = [self._numbers[run.names[place]] for place in places]
        turns, classes = 0, -1
        for number in numbers:
            turns |= 1 << number
            classes &= self._having[number]
        wanted = tuple(pick[2] for pick in picks)
        return any(
            picked[: len(wanted)] == wanted
            and not turns >> number & 1
            and not self._behind[number] & ~turns
            and classes & self._having[number]
            for number, picked in self._of_option.get(option, {}).items()
        )


def digest(numbers: Iterable[int]) -> int:
    """One number for all of these, in this order."""
    text = ",".join(map(str, numbers)).encode()
    return int.from_bytes(blake2b(text, digest_size=16).digest(), "big")
