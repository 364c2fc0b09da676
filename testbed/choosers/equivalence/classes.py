"""The classes of Runs that a complete search has seen, each counted once."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from hashlib import blake2b

from testbed.choosers.equivalence.certificate import NOTHING_LEFT, Offer, Seen, late_part
from testbed.choosers.equivalence.orders import OrderedTurn, Past
from testbed.turns.option import WAKE
from testbed.turns.trace import Step
from testbed.turns.verdict import Verdict
from testbed.words import counted


class Classes:
    """Tells by the normal form of a Run whether its class is new, and keeps what is asked for."""

    def __init__(self, *, keeps: bool) -> None:
        self.keeps = keeps
        """Whether each class is kept whole, and not only counted."""
        self.seen: list[Seen] = []
        self.outcomes: dict[str, int] = {}
        """How many classes are held, violated, undecided."""
        self._timers: set[tuple[str, str]] = set()
        """The tasks that have waited for time to pass, each with the name of its timer."""
        self._forms: set[bytes] = set()
        self._numbers: dict[object, int] = {}
        """A number for each turn that was met, so that a normal form is a short row of numbers."""

    def __len__(self) -> int:
        return len(self._forms)

    def add(
        self,
        past: Past,
        verdict: Verdict,
        steps: Sequence[Step],
        taken: Iterable[tuple[Offer, int]],
    ) -> bool:
        """Count the class of a Run that has ended; False if another Run has shown it before. For
        each turn it is given its Step, what could happen, and which of it did."""
        digest = self._digest(past)
        if digest in self._forms:
            return False
        self._forms.add(digest)
        outcome = verdict.among_others
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1
        timed = [s.option for s in steps if s.kind == WAKE and s.option.is_timed]
        self._timers.update([(option.path, option.verb) for option in timed])
        if self.keeps:
            self.seen.append(_seen(past.turns, verdict, steps, list(taken)))
        return True

    @property
    def in_time(self) -> str:
        """What is said of time in these classes, in which nothing is late while it passes."""
        timers = counted(len(self._timers), "timer")
        return f"no delays ({timers} never late or early)" if self._timers else "no delays"

    def _digest(self, past: Past) -> bytes:
        order = past.order()
        at = {place: now_at for now_at, place in enumerate(order)}
        form = array("L")
        for place in order:
            turn = past.turns[place]
            form.append(self._numbers.setdefault(turn.content, len(self._numbers)))
            directly = past.directly[place]
            form.append(len(directly))
            form.extend(sorted(at[before] for before in directly))
        return blake2b(form.tobytes(), digest_size=16).digest()

    def forget(self) -> None:
        """Begin the count again."""
        self._forms.clear()
        self.outcomes.clear()
        self.seen.clear()


def _seen(
    turns: list[OrderedTurn],
    verdict: Verdict,
    steps: Iterable[Step],
    taken: list[tuple[Offer, int]],
) -> Seen:
    offers, places = [offer for offer, _ in taken], [place for _, place in taken]
    if len(offers) == len(turns):
        offers.append(NOTHING_LEFT)
    broken = tuple((each.invariant, each.said) for each in verdict.violations)
    lates = tuple(late_part(step, turn.did) for step, turn in zip(steps, turns, strict=True))
    whole = (tuple(turns), lates, tuple(places[: len(turns)]), tuple(offers))
    return Seen(verdict.among_others, verdict.end, broken, *whole)
