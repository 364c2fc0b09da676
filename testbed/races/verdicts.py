"""Verdicts: what the Races of one shrink have shown, and which others must show the same.

A line that has made no difference in a Run was asked at each turn, and each time let what is calm
happen. So the Run is the same without it, choice for choice. A Race therefore need not be played
if one was played in the same World that has all its lines in their order, and no other line that
made a difference; and each line of it that did is there.

Only a fault that strikes at a given time always makes one: it lets time pass up to that moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from testbed.races.playing import Played
from testbed.races.race import Deviation, Race, Strike
from testbed.turns.verdict import Verdict


@attrs.frozen
class _Shown:
    """One Race that was played."""

    lines: tuple[int, ...]
    busy: tuple[int, ...]
    """Those of its lines that made a difference."""
    verdict: Verdict


class ShownVerdicts:
    """The Verdicts of all Races that were played."""

    def __init__(self) -> None:
        self._numbers: dict[Deviation, int] = {}
        """A number for each line, for one is compared faster than a line."""
        self._shown: dict[tuple[str, ...], list[_Shown]] = {}
        """By what is left out of their World: the Races that were played."""
        self._raised: set[str] = set()
        """The texts of Races that raised. Which of their lines made a difference is not known."""

    def note(self, race: Race, played: Played) -> None:
        """Note what a Race has shown."""
        busy = [
            fate.deviation for fate in played.fates if fate.took_place or _is_timed(fate.deviation)
        ]
        shown = _Shown(self._numbered(race.lines), self._numbered(busy), played.verdict)
        self._shown.setdefault(race.without, []).append(shown)

    def note_raised(self, race: Race) -> None:
        """Note that a Race has raised."""
        self._raised.add(race.text())

    def has_raised(self, race: Race) -> bool:
        """Whether that Race has raised."""
        return race.text() in self._raised

    def of(self, race: Race) -> Verdict | None:
        """Return what that Race would show; None if that is not known."""
        shown = self._find(race)
        return None if shown is None else shown.verdict

    def core(self, race: Race) -> Race:
        """Return a Race whose Verdict is known without the lines that make no difference in it."""
        shown = self._find(race)
        if shown is None or len(shown.busy) == len(race):
            return race
        busy, kept = [*reversed(shown.busy)], []
        for line, number in zip(race.lines, self._numbered(race.lines), strict=True):
            if busy and number == busy[-1]:
                kept.append(line)
                busy.pop()
        return race.having(kept)

    def _find(self, race: Race) -> _Shown | None:
        lines = self._numbered(race.lines)
        for shown in reversed(self._shown.get(race.without, [])):
            if _is_among(shown.busy, lines) and _is_among(lines, shown.lines):
                return shown
        return None

    def _numbered(self, lines: Iterable[Deviation]) -> tuple[int, ...]:
        numbers = self._numbers
        return tuple([numbers.setdefault(line, len(numbers)) for line in lines])


def _is_timed(line: Deviation) -> bool:
    return isinstance(line, Strike) and isinstance(line.moment, int)


def _is_among(some: Sequence[int], lines: Sequence[int]) -> bool:
    """Whether all of these are among those lines, in their order."""
    rest = iter(lines)
    return all(number in rest for number in some)
