"""Classes of Runs: which turns of a Run must keep their order, and one normal form for all that do.

Two turns are ordered if one made the other possible, if both belong to one path, if they touch the
same thing and one of them writes it, or if time passed between them. Runs with the same turns in
the same such orders are one class, and all of them come to the same.

1. `Keys` numbers the keys of Footprints, so that what a turn touched is four integers (`Touch`).
2. `Past` takes the turns of a Run one by one. It finds which earlier turns come before each, and
   its races: the turns that it follows directly although they did not make it possible.
3. The normal form of a Run is that of Foata: the turns level by level, and by sentence within a
   level. A turn stands one level above the highest turn that comes before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from testbed.store.footprint import HISTORY, LOG, Footprint
from testbed.turns.option import FAULT, Option, Sentence
from testbed.turns.trace import Step

Picked = tuple[str, str, int, int]
"""One pick of a turn: its label, the alternative, that one's place, and how many there were."""


@attrs.frozen
class Touch:
    """A Footprint as sets of bits, one bit for each key. `own` are the keys themselves, `up` also
    those that hold them: for `log:pods.spec.node_name` also `log:pods.spec` and `log:pods`."""

    # A key meets those that hold it and those that it holds: who reads all of `log:pods` meets a
    # write of one field. Two keys meet if one of them is among the `up` of the other.

    reads_own: int
    reads_up: int
    writes_own: int
    writes_up: int
    alone: int
    """What it writes, but for the logs: each commit only adds to a log, so that two commits to one
    log do not clash because of it."""

    def clashes(self, other: Touch) -> bool:
        """Whether their order can matter: one writes what the other one reads or writes."""
        return bool(
            self.alone & other.alone
            or self.writes_own & other.reads_up
            or self.writes_up & other.reads_own
            or self.reads_own & other.writes_up
            or self.reads_up & other.writes_own
        )

    def joined(self, other: Touch) -> Touch:
        """What either of them touches."""
        return Touch(
            self.reads_own | other.reads_own,
            self.reads_up | other.reads_up,
            self.writes_own | other.writes_own,
            self.writes_up | other.writes_up,
            self.alone | other.alone,
        )


NO_TOUCH = Touch(0, 0, 0, 0, 0)


class Keys:
    """Gives each key a bit when it first comes, and keeps the Touch of every Footprint."""

    def __init__(self) -> None:
        self._bits: dict[str, tuple[int, int]] = {}
        self._touches: dict[Footprint, Touch] = {}

    def touch(self, footprint: Footprint) -> Touch:
        """This Footprint as bits."""
        touch = self._touches.get(footprint)
        if touch is None:
            reads, writes = self._all(footprint.reads), self._all(footprint.writes)
            alone, _ = self._all(key for key in footprint.writes if not key.startswith(LOG))
            touch = self._touches[footprint] = Touch(*reads, *writes, alone)
        return touch

    def _all(self, keys: Iterable[str]) -> tuple[int, int]:
        own = up = 0
        for key in keys:
            bit, above = self._bits.get(key) or self._number(key)
            own |= bit
            up |= above
        return own, up

    def _number(self, key: str) -> tuple[int, int]:
        """Give a key and those that hold it their bits. Only the keys of logs hold others: all logs
        the log of a kind, `log:pods` the log of a field, `log:pods.spec`."""
        parts = key.split(".") if key.startswith(LOG) else [key]
        names = [".".join(parts[:length]) for length in range(1, len(parts) + 1)]
        if key.startswith(LOG) and key != LOG:
            names.insert(0, LOG)
        up = 0
        for name in names:
            bit, _ = self._bits.setdefault(name, (1 << len(self._bits), 0))
            up |= bit
            self._bits[name] = (bit, up)
        return self._bits[key]


@attrs.frozen(eq=False)
class OrderedTurn:
    """One turn, as far as the order of turns depends on it."""

    sentence: Sentence
    picks: tuple[Picked, ...]
    """What was picked in it, in order."""
    now_ms: int
    did: Footprint
    """What it touched. It wrote its own path as well, so that the turns of a path keep their
    order."""
    touch: Touch
    causes: tuple[int, ...]
    """The places of the turns of this Run that made it possible."""
    settings: str = ""
    """Those of a fault: two faults of one word may strike in one sentence, and not do the same."""

    @property
    def is_fault(self) -> bool:
        """Whether it is a fault: it need not have happened."""
        return self.sentence.kind == FAULT

    @property
    def content(self) -> tuple[Sentence, tuple[Picked, ...], int, Footprint, str]:
        """What is the same in all Runs of a class: all but its places."""
        return self.sentence, self.picks, self.now_ms, self.did, self.settings


def settings_of(option: Option) -> str:
    """How a fault would strike; empty if it is no fault."""
    return str(getattr(option, "fault", ""))


def with_path(did: Footprint, path: str) -> Footprint:
    """A Footprint that also writes the path whose turn it was."""
    return Footprint(did.reads, did.writes | {path})


def turn_of(
    step: Step, picks: tuple[Picked, ...], place_of: Mapping[int, int], did: Footprint, touch: Touch
) -> OrderedTurn:
    """A Step as a turn of its Run, in which the Steps before it have these places."""
    causes = tuple(place_of[number] for number in step.causes if number)
    settings = settings_of(step.option)
    return OrderedTurn(step.sentence, picks, step.now_ms, did, touch, causes, settings)


ORDER = "order"
"""Begins the keys that stand for the order of all commits, which some turns look back on."""


def open_part(did: Footprint, looks_back: bool) -> Footprint:
    """The keys by which later turns may still extend this turn's footprint.

    A commit has a place among all commits to its kind; a watch that is opened on the past reads it.
    If some turn looks back on all commits, it also has a place among them all, and that is read by
    each turn that was told how far they had come.
    """
    kinds = {key.partition(".")[0].removeprefix(LOG) for key in did.writes if key.startswith(LOG)}
    kinds = {kind for kind in kinds if not kind.startswith("@")}
    writes = {f"{ORDER}:{kind}" for kind in kinds}
    if not looks_back:
        return Footprint(writes=frozenset(writes))
    reads = {ORDER} if HISTORY in did.reads else set()
    return Footprint(frozenset(reads), frozenset(writes | {ORDER} if kinds else writes))


class Past:
    """The turns of a Run so far, and which of them come before which."""

    def __init__(self) -> None:
        self.turns: list[OrderedTurn] = []
        self.before: list[int] = []
        """For each turn, the set of the turns that come before it, as bits."""
        self.directly: list[tuple[int, ...]] = []
        """For each turn, those that come before it with no other between, in order; without those
        of earlier instants, which all come before it."""
        self._levels: list[int] = []
        self._floors: list[tuple[int, int]] = []
        """For each turn, those of earlier instants, as bits, and their highest level."""

    def __len__(self) -> int:
        return len(self.turns)

    def cut(self, length: int) -> None:
        """Forget all turns but the first `length`."""
        for line in (self.turns, self.before, self.directly, self._levels, self._floors):
            del line[length:]

    def is_before(self, first: int, second: int) -> bool:
        """Whether the first of these turns must stay before the second."""
        return bool(self.before[second] >> first & 1)

    def add(self, turn: OrderedTurn) -> list[int]:
        """Add one more turn. Returns its races, latest first: the turns that come directly before
        it and did not cause it."""
        turns, befores, levels = self.turns, self.before, self._levels
        before, level = floor = self._floor(turn)
        touch, causes = turn.touch, turn.causes
        races: list[int] = []
        directly: list[int] = []
        place = len(turns)
        # From the latest turn back. What is in `before` by then comes before some later turn that
        # comes before this one: it is ordered already, and not by a race of its own.
        while place:
            place -= 1
            if before >> place & 1:
                continue
            is_cause = place in causes
            if is_cause or touch.clashes(turns[place].touch):
                before |= befores[place] | 1 << place
                level = max(level, levels[place])
                directly.append(place)
                if not is_cause:
                    races.append(place)
        turns.append(turn)
        befores.append(before)
        self.directly.append(tuple(reversed(directly)))
        levels.append(level + 1)
        self._floors.append(floor)
        return races

    def _floor(self, turn: OrderedTurn) -> tuple[int, int]:
        """What comes before it in any case: all turns of earlier instants."""
        if not self.turns:
            return 0, 0
        if self.turns[-1].now_ms == turn.now_ms:
            return self._floors[-1]
        return (1 << len(self.turns)) - 1, max(self._levels)

    def reversed(self, first: int, second: int) -> list[int]:
        """The initials of the reversed race: the turns that can stand in place of `first`, so that
        `second` comes before it. Of the turns from `first` to `second`, take those that do not
        follow from `first`, and `second`. Of these, the turns that none of them comes before."""
        befores = self.before
        rest = [k for k in range(first + 1, second) if not befores[k] >> first & 1]
        rest.append(second)
        among = 0
        for place in rest:
            among |= 1 << place
        return [place for place in rest if not befores[place] & among]

    def is_open(self, first: int, later: int, keys: Keys, looks_back: bool) -> bool:
        """Whether the order of the later turn and of one since `first` may yet turn out to
        matter."""
        *opens, last = (
            keys.touch(open_part(turn.did, looks_back)) for turn in self.turns[first : later + 1]
        )
        return any(each.clashes(last) for each in opens)

    def order(self) -> list[int]:
        """The places of the turns in the order of the normal form."""
        # A level depends only on what comes before a turn, so it is the same in all Runs of a
        # class. Turns of one level are not ordered, and no two have one sentence: they would
        # be of one path. So levels and sentences together give all Runs of a class one order.
        key = [(self._levels[k], turn.sentence) for k, turn in enumerate(self.turns)]
        return sorted(range(len(key)), key=key.__getitem__)

    def form(self) -> tuple[tuple[OrderedTurn, tuple[int, ...]], ...]:
        """The normal form: the turns in that order, each with the places in it of those that come
        directly before it. It is what brute force compares; the complete search keeps only a digest
        of it.

        Causes alone would not do. A turn may be offered by one turn or by another, depending on
        which was last, while the order of the two does not matter: a bookmark by the commit or by
        the opening of the watch."""
        order = self.order()
        now_at = {place: at for at, place in enumerate(order)}
        return tuple(
            (self.turns[place], tuple(sorted(now_at[c] for c in self.directly[place])))
            for place in order
        )
