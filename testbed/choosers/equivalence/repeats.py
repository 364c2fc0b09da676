"""Repeats: a Run of a search begins like the one before, and what they share must be the same.

1. Each turn is compared with what it was when it was first played: what it asked for, was answered,
   wrote, recorded and touched.
2. At the last turn that is known, all that is pending is compared, too. What the turns from there
   on show is new, so nothing else would tell that it has changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from testbed.choosers.equivalence.orders import Picked
from testbed.errors import HarnessError
from testbed.turns.imprint import (
    Imprint,
    Rerunnable,
    apart,
    as_json,
    asked_of,
    difference,
    diverged,
    imprint_of,
    kept,
    twice_line,
)
from testbed.turns.option import ANSWER, SERVE, Option, Sentence
from testbed.turns.pending import Options
from testbed.turns.trace import Step

Coming = tuple[Sentence, int, Any]
"""An Option that is pending, when it is due, and what it asks for if it is a request."""


class Repeats:
    """The turns that the next Run begins with, and what was pending before each of them."""

    def __init__(self) -> None:
        self._run: Rerunnable
        self._turns: list[Imprint] = []
        self._pending: list[tuple[Coming, ...]] = []
        self._last: Step | None = None
        """The turn before the one to come, which decided what is pending."""

    def begin(self, run: Rerunnable) -> None:
        """Another Run begins."""
        self._run = run
        self._last = None

    def cut(self, turns: int) -> None:
        """Keep that number of turns; of the last, what was pending before it: it is new again."""
        del self._turns[max(turns - 1, 0) :]
        del self._pending[turns:]

    def arrive(self, options: Options) -> None:
        """Note what is pending at a turn that is new."""
        self._pending.append(coming(options))

    def arrive_again(self, place: int, options: Options, run: int) -> None:
        """Compare what is pending, if this is the last turn that is known."""
        if place != len(self._pending) - 1:
            return
        was, now = self._pending[place], coming(options)
        if was == now:
            return
        for at, (one, other) in enumerate(zip_longest(was, now)):
            texts = ["nothing" if each is None else _text(each) for each in (one, other)]
            if texts[0] != texts[1]:
                before, after = apart(*texts)
                said = f"after it, {before} was pending, and {after} is now"
                raise self.diverged(place, run, said, options.to_come[at : at + 1])

    def ended(self, place: int, step: Step, picks: Sequence[Picked], run: int) -> None:
        """Note a turn that is new; compare one that was played before."""
        self._last = step
        imprint = imprint_of(step)
        if picks:
            imprint = imprint._replace(recorded=(*imprint.recorded, *picks))
        if place == len(self._turns):
            self._turns.append(imprint)
        elif self._turns[place] != imprint and (said := difference(self._turns[place], imprint)):
            raise self.diverged(place + 1, run, said)

    def diverged(
        self, turn: int, run: int, said: str, offered: Sequence[Option] = ()
    ) -> HarnessError:
        """The error that names the last turn before something was not the same. What has offered
        this Option has decided it, or else that turn."""
        where, option = f"turn {turn} of run {run}", next(iter(offered), None)
        return diverged(self._last, where, said, twice_line(self._run), option)


def coming(options: Options) -> tuple[Coming, ...]:
    """All that is pending, ready or not, with what each request asks for or is answered."""
    return tuple([(o.sentence, o.due_ms, _brings(o)) for o in options.to_come])


def _brings(option: Option) -> Any:
    request = option.source
    if option.kind == SERVE:
        return asked_of(request.operation)
    return kept(request.value) if option.kind == ANSWER else None


def _text(one: Coming) -> str:
    sentence, due_ms, brings = one
    return f"{sentence} at {due_ms} ms" + ("" if brings is None else f": {as_json(brings)}")
