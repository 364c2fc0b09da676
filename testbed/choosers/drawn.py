"""drawn: Hypothesis draws every choice, so that a failing `@given` test shrinks the race too.

Index 0 is the dullest Option, and Hypothesis shrinks toward 0: fewer deviations, fewer faults. It
prefers fewer numbers to smaller ones. So one is drawn at every turn, also if only one Option is
ready: else a Run with few choices would seem simpler than a Run with few deviations.

It draws at most 4,096 numbers for one example, so this Chooser stops at 4,000 and goes on calmly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from testbed.chooser import Chooser, Plan, RunInfo
from testbed.turns.pending import Alternatives, Options

DRAWS_MAX = 4_000


class Draws(Protocol):
    """What numbers are drawn from: the `data` of a `@given(st.data())` test, say."""

    @property
    def draw(self) -> Callable[[SearchStrategy[Any]], Any]:
        """Draw one example of it."""


class Drawn(Chooser):
    """Draws from the `data` of a `@given(st.data())` test, once at every turn and every pick."""

    def __init__(self, data: Draws, *, draws_max: int = DRAWS_MAX) -> None:
        self._data = data
        self._draws_max = draws_max
        self._left = draws_max
        self._turn = 0
        self._strikes: list[int] = []

    def begin(self, run: RunInfo) -> Plan | None:
        self._left = self._draws_max
        self._turn = 0
        self._strikes = []
        if run.faults_max:
            length = max(run.turns_expected(), 1)
            faults = self._draw(run.faults_max + 1)
            self._strikes = sorted(self._draw(length) for _ in range(faults))
        return Plan("drawn by Hypothesis")

    def choose(self, options: Options | Alternatives) -> int:
        ready = options.ready
        if isinstance(options, Alternatives):
            return self._draw(ready)
        self._turn += 1
        if self._strikes and self._turn > self._strikes[0] and options.faults:
            self._strikes.pop(0)
            return ready + self._draw(len(options.faults))
        return self._draw(ready)

    def _draw(self, n: int) -> int:
        if self._left == 0:
            return 0
        self._left -= 1
        drawn: int = self._data.draw(st.integers(0, n - 1))
        return drawn

    @property
    def note(self) -> str:
        if self._left:
            return ""
        return f"Hypothesis drew the first {self._draws_max:,} choices; the rest was calm."
