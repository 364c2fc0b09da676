"""crossed: a Run that was seen before, with its turns in another order."""

from __future__ import annotations

from collections.abc import Sequence

from testbed.chooser import CUT, Chooser, Cut, Plan, RunInfo
from testbed.choosers.equivalence.orders import OrderedTurn, Past
from testbed.choosers.sampling.chance import Chance
from testbed.store.delivery import BOOKMARK
from testbed.turns.option import FAULT, PICK
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Step
from testbed.words import counted


class Crossed(Chooser):
    """Plays the turns of one Run again, in an order of its own that keeps what must stay in order.

    It cuts the Run where the next turn is not offered, or is offered twice.
    """

    goes_on = True
    minds_order = True

    def __init__(self, turns: Sequence[OrderedTurn], order: Sequence[int]) -> None:
        self._turns = [turns[place] for place in order]
        self.steps: list[Step] = []
        """The turns that were played so far."""
        self.stopped_at = ""
        """The turn that could not be played next, if the Run was cut."""
        self.may_be_missing = False
        """Whether that says nothing: it is a fault, a bookmark that is not owed in this order, or
        one of two that look alike."""
        self._picked = 0
        """How many picks of the turn under way were made."""

    def begin(self, run: RunInfo) -> Plan | None:
        return Plan(f"crossed, {counted(len(self._turns), 'turn')}")

    def choose(self, options: Options | Alternatives) -> int | Cut:
        if isinstance(options, Alternatives):
            return self._pick(options)
        if len(self.steps) == len(self._turns):
            return self._cut(None)
        turn = self._turns[len(self.steps)]
        found = [at for at in range(len(options)) if _is_of(options, at, turn)]
        return found[0] if len(found) == 1 else self._cut(turn, is_certain=not found)

    def strike(self, options: Options) -> int | None:
        if len(self.steps) == len(self._turns):
            return None
        turn = self._turns[len(self.steps)]
        first = options.ready
        found = [at for at in range(first, len(options)) if _is_of(options, at, turn)]
        if len(found) == 1:
            return found[0]
        self._cut(turn, is_certain=not found)
        return None

    def _pick(self, options: Alternatives) -> int | Cut:
        turn = self._turns[len(self.steps)]
        label, at = options[0].verb, self._picked
        self._picked += 1
        if (
            at < len(turn.picks)
            and turn.picks[at][0] == label
            and turn.picks[at][3] == len(options)
        ):
            return turn.picks[at][2]
        return self._cut(turn)

    def _cut(self, turn: OrderedTurn | None, *, is_certain: bool = True) -> Cut:
        self.stopped_at = str(turn.sentence) if turn else "the end"
        is_owed = turn is not None and (turn.is_fault or turn.sentence.change == BOOKMARK)
        self.may_be_missing = not is_certain or is_owed
        return CUT

    def ended(self, step: Step) -> None:
        if step.kind != PICK:
            self.steps.append(step)
            self._picked = 0


def crossed_order(past: Past) -> list[int]:
    """The places of all turns, the latest first as far as what must stay in order allows."""
    left = list(range(len(past)))
    done, order = 0, []
    while left:
        place = next(k for k in reversed(left) if past.before[k] & ~done == 0)
        left.remove(place)
        order.append(place)
        done |= 1 << place
    return order


def drawn_order(past: Past, chance: Chance) -> list[int]:
    """The places of all turns in an order that is drawn: any that keeps what must stay in order.

    By the toss of a coin each next turn is drawn among all that may come, or the paths have drawn
    priorities, and one of them loses its own somewhere: then a path runs on while others wait.
    """
    turns, order, instant = past.turns, list[int](), list[int]()
    rank = _Ranks(chance, len(turns)) if chance.below(2) else None
    for place, turn in enumerate(turns):
        if instant and turns[instant[-1]].now_ms != turn.now_ms:
            order += _drawn_within(past, instant, chance, rank)
            instant = []
        instant.append(place)
    return order + _drawn_within(past, instant, chance, rank)


class _Ranks:
    """Drawn priorities of paths; at one place the path whose turn it is gets the lowest."""

    def __init__(self, chance: Chance, length: int) -> None:
        self._chance = chance
        self._left = chance.below(max(length, 1))
        self._of: dict[str, int] = {}

    def first(self, ready: Sequence[int], turns: Sequence[OrderedTurn]) -> int:
        """The index in `ready` of the turn with the highest priority."""
        for place in ready:
            path = turns[place].sentence.path
            if path not in self._of:
                self._of[path] = 1 + self._chance.below(2**31)
        found = max(range(len(ready)), key=lambda at: self._of[turns[ready[at]].sentence.path])
        if self._left == 0:
            self._of[turns[ready[found]].sentence.path] = 0
        self._left -= 1
        return found


def _drawn_within(
    past: Past, places: Sequence[int], chance: Chance, rank: _Ranks | None
) -> list[int]:
    """The turns of one instant in a drawn order."""
    waits = {place: len(past.directly[place]) for place in places}
    after: dict[int, list[int]] = {place: [] for place in places}
    for place in places:
        for before in past.directly[place]:
            after[before].append(place)
    ready, order = [place for place in places if not waits[place]], list[int]()
    while ready:
        at = chance.below(len(ready)) if rank is None else rank.first(ready, past.turns)
        order.append(place := ready.pop(at))
        for later in after[place]:
            waits[later] -= 1
            if not waits[later]:
                ready.append(later)
    return order


def _is_of(options: Options, at: int, turn: OrderedTurn) -> bool:
    option = options[at]
    if option.sentence != turn.sentence:
        return False
    return option.kind != FAULT or str(getattr(option, "fault", "")) == turn.settings
