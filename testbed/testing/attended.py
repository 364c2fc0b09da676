"""Attended: what plays with real programs have shown a test, and the text of a failure."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs

from testbed.attended.frequency import Frequency
from testbed.code.files import read_bytes
from testbed.errors import ScenarioError
from testbed.races.expecting import Side
from testbed.races.playing import Played
from testbed.races.race import Hold
from testbed.races.trust import Trust, is_installed, line_for
from testbed.story.explain import story
from testbed.testing.failure import pytest_line, this_test
from testbed.testing.run import not_held
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict
from testbed.world.scenario import Scenario
from testbed.world.users_code import in_file

TRACE = "trace.jsonl"
OUTPUT_LINES_MAX = 15
"""How many lines of the output of a program a failure shows, from its end."""


@attrs.frozen
class AttendedPlay:
    """One play with real programs."""

    played: Played
    folder: Path
    """Its trace, and a kubeconfig and the output of each program."""
    silence_s: float
    """The silence after which a hold expires."""

    @property
    def verdict(self) -> Verdict:
        """What it has shown."""
        return self.played.verdict

    @property
    def trace(self) -> Trace:
        """Its record, every Step kept."""
        return self.played.trace

    def log(self, name: str) -> str:
        """What the program has written, in all its lives; empty if that is nothing."""
        return _log(self.folder, name)


@attrs.frozen(repr=False)
class Attended:
    """All plays of a scenario, or of a race file, with real programs in place of its actors.

    A play that is violated is a fact: it happened with these programs, and its trace shows it. A
    play that has held says nothing of the next.
    """

    recipe: Scenario
    names: tuple[str, ...]
    """The actors in place of which the programs stood."""
    plays: tuple[AttendedPlay, ...]

    @property
    def violated(self) -> Frequency:
        """In how many of the plays something was violated."""
        return Frequency(sum(each.verdict.is_violated for each in self.plays), len(self.plays))

    @property
    def is_held(self) -> bool:
        """Whether every play came to its end, and breached nothing."""
        return all(each.verdict.is_held for each in self.plays)

    @property
    def shown(self) -> AttendedPlay:
        """The play that a failure tells: the first violated one, else the first that did not hold,
        else the last."""
        violated = (each for each in self.plays if each.verdict.is_violated)
        other = (each for each in self.plays if not each.verdict.is_held)
        return next(violated, None) or next(other, self.plays[-1])

    @property
    def verdict(self) -> Verdict:
        """The Verdict of that play."""
        return self.shown.verdict

    @property
    def trace(self) -> Trace:
        """The Trace of that play."""
        return self.shown.trace

    def log(self, name: str) -> str:
        """What a program has written in that play."""
        return self.shown.log(name)

    def must_hold(self) -> None:
        """Raise NotHeld, with the story, unless every play has held. If a line of the race matched
        nothing, that is a warning: what it holds may not have been asked at all."""
        __tracebackhide__ = True
        if not self.is_held:
            broken = [violation.invariant for violation in self.verdict.violations]
            raise not_held(broken[0] if broken else "undecided")(self.story)
        for line in Side(None, self.shown.played).gone:
            warnings.warn(line, stacklevel=2)

    @property
    def story(self) -> str:
        """How many plays were violated; of one of them who did what, what the lines of the race
        have done, and the end of the programs' output; where all is kept; the line to paste."""
        shown = self.shown
        played = shown.played
        number = self.plays.index(shown) + 1
        many = f"Violated in {self.violated}.\nPlay {number}: " if len(self.plays) > 1 else ""
        told = [
            f"{many}{played.verdict}",
            story(played.trace, played.verdict) if played.verdict.is_violated else "",
            "\n".join((*Side(None, played).gone, *_expired(shown))),
            *ends_of_output(shown.folder, self.names),
            f"Kept in {shown.folder}\nAgain: {again(self.recipe, shown.folder / TRACE)}",
        ]
        return "\n\n".join(part for part in told if part)

    def __repr__(self) -> str:
        return f"<{self.recipe.name} with real programs: violated in {self.violated}>"


def _expired(play: AttendedPlay) -> Iterator[str]:
    """The holds that did not end as the race says."""
    for fate in play.played.fates:
        hold = fate.deviation
        if fate.expired and isinstance(hold, Hold) and hold.until is not None:
            yield f"{hold}: expired after {play.silence_s:g} s of silence"


def ends_of_output(folder: Path, names: Iterable[str]) -> Iterator[str]:
    """The last lines that each program has written into that folder, if it has written any."""
    for name in names:
        lines = _log(folder, name).rstrip().splitlines()[-OUTPUT_LINES_MAX:]
        if lines:
            yield "\n".join((f"The end of the output of {name}:", *(f"  {line}" for line in lines)))


def _log(folder: Path, name: str) -> str:
    path = folder / f"{name}.log"
    return read_bytes(path).decode(errors="replace") if path.exists() else ""


def again(recipe: Scenario, trace: Path) -> str:
    """The line that plays it again without the programs; or the test, if only that can find the
    scenario."""
    if is_installed(recipe.name) or ":" not in recipe.name:
        return line_for("replay", str(trace), Trust())
    build = recipe.build
    file = Path(inspect.getsourcefile(build) or "")
    here = Path.cwd()
    named = f"{file.relative_to(here) if file.is_relative_to(here) else file}:{build.__qualname__}"
    try:
        is_found = in_file(named)[1] == recipe.name and "<locals>" not in named
    except ScenarioError:
        is_found = False
    if not is_found:
        return pytest_line(this_test())
    return line_for("replay", str(trace), Trust(recipe.name, (), named))
