"""Beats: what is said of a level: guess, break, read, fix, prove; and of a check of an answer."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from testbed.teaching.checked import HELD, NOT_PLAYED, REFUSED, CheckedAnswer, TriedTrial
from testbed.teaching.level import LearnLevel
from testbed.teaching.record import StudentRecord
from testbed.words import counted
from testbed.world.world import CLAIMS

WIDTH = 80
MARKS = {HELD: "✓", REFUSED: "✗"}
EVERYWHERE = frozenset(claim.name for claim in CLAIMS)
"""The claims that each World makes."""


def ladder_lines(levels: Sequence[LearnLevel], record: StudentRecord) -> list[str]:
    """The ladder: every level, and which are passed."""
    width = max((len(level.title) for level in levels), default=0)
    lines = []
    for level in levels:
        of = record.of(level.number)
        told = [counted(of.checks, "check")] if of.checks else []
        told += [counted(of.hints, "hint")] if of.hints else []
        mark = "✓" if of.passed else " "
        said = f"{mark} {level.number:>2}  {level.title.ljust(width)}  {', '.join(told)}"
        lines.append(said.rstrip())
    return lines


def next_line(levels: Sequence[LearnLevel], record: StudentRecord) -> str:
    """The command to go on with."""
    left = [level.number for level in levels if not record.of(level.number).passed]
    if not left:
        return "Every level is passed."
    return f"Next: testbed learn {left[0]}"


def break_line(level: LearnLevel, trial: str) -> str:
    """The command that searches for the race of the careless program in the World of that trial."""
    of = next(each for each in level.trials if each.name == trial)
    words = ["testbed", "search", level.name, "--until-first"]
    for name, value in of.switches.items():
        words += ["--switch", f"{name}={value}"]
    for fault in (*of.faults, *of.look.faults):
        words += ["--faults", fault]
    return shlex.join(words)


def level_text(level: LearnLevel, file: str, trial: str) -> str:
    """The five beats of a level, with the command of each. `trial` is the one that refuses the
    careless program."""
    number, again = level.number, f"testbed learn {level.number}"
    parts = [f"Level {number}: {level.title}", _filled(level.concept)]
    choices = "\n".join(f"  {n}  {text}" for n, text in enumerate(level.guess.choices, 1))
    parts += [f"1 Guess\n{_filled(level.guess.question)}\n{choices}\n  {again} --guess N"]
    parts += [
        "2 Break\nPlay the calm run, then other orders, until what is asked does not hold:\n"
        f"  testbed run {level.name}\n"
        f"  {break_line(level, trial)}"
    ]
    parts += [
        "3 Read\nRead the race of the code you are given, and its story:\n"
        f"  {again} --check {shlex.quote(file)}\n"
        f"  testbed explain level_{number}.race.yaml --policy {shlex.quote(file)}"
    ]
    parts += [f"4 Fix\n{_filled(f'{level.asked} {level.calls}')}\n  edit {file}"]
    trials = "\n".join(f"  - {trial.name}" for trial in level.trials)
    parts += [f"5 Prove\n  {again} --check {shlex.quote(file)}\nIt tries:\n{trials}"]
    parts += [f"Stuck? {again} --hint\nA word? {again} --words"]
    return "\n\n".join(parts)


def guess_text(level: LearnLevel, given: int) -> str:
    """What is said to a guess."""
    guess = level.guess
    right = guess.choices[guess.answer - 1]
    verdict = "Right" if given == guess.answer else f"No: {right}"
    return f"{verdict}. {guess.why}"


def words_text(level: LearnLevel) -> str:
    """The words of a level, each with its sentence."""
    width = max(map(len, level.words))
    indent = " " * (width + 2)
    return "\n".join(
        textwrap.fill(f"{word.ljust(width)}  {said}", WIDTH, subsequent_indent=indent)
        for word, said in level.words.items()
    )


def incident_text(level: LearnLevel) -> str:
    """Where it has happened outside of a classroom."""
    return f"{_filled(f'In the real world: {level.incident.said}')}\n{level.incident.link}"


def trial_lines(trials: Iterable[TriedTrial]) -> Iterator[str]:
    """Each of these trials in two lines: what came of it, and how far was looked."""
    for trial in trials:
        yield f"{MARKS[trial.outcome]} {trial.name}"
        yield f"    {trial.looked}"


def refusal_text(trial: TriedTrial) -> str:
    """Why a trial was refused: what is wrong, and the story of the Run. A claim that each World
    makes is not named: no level tells of it."""
    is_named = trial.claim and trial.claim not in EVERYWHERE
    wrong = f"{trial.claim}: {trial.said}" if is_named else trial.said
    return "\n\n".join(part for part in (f"Refused: {wrong}", trial.story) if part)


def others_text(checked: CheckedAnswer) -> str:
    """What came of the trials beside the one that was refused: those before it have held, and those
    after it were not played."""
    held = [trial.name for trial in checked.trials if trial.outcome == HELD]
    left = sum(trial.outcome == NOT_PLAYED for trial in checked.trials)
    told = [_filled(f"{MARKS[HELD]} held: {'; '.join(held)}")] if held else []
    told += [f"· {left} not played"] if left else []
    return "\n".join(told)


def _filled(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_on_hyphens=False)
