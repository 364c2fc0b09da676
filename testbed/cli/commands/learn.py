"""testbed learn: levels of a course in races: guess, break, read, fix, prove."""

from __future__ import annotations

import shlex
import sys
import webbrowser
from pathlib import Path
from typing import Any

import attrs
import click

from testbed.child import Jobs
from testbed.cli.jobs import jobs_of, takes_jobs
from testbed.cli.output import say
from testbed.cli.progress import Progress
from testbed.cli.show import EXIT_CODES, JSON, say_json
from testbed.cli.wrong_answers import passing_wrong, told_of_wrong, wrong_as_dict
from testbed.code.files import write_bytes
from testbed.errors import ScenarioError
from testbed.teaching.beats import (
    break_line,
    guess_text,
    incident_text,
    ladder_lines,
    level_text,
    next_line,
    others_text,
    refusal_text,
    trial_lines,
    words_text,
)
from testbed.teaching.checked import CheckedAnswer, TriedTrial
from testbed.teaching.checking import careless_race, check
from testbed.teaching.ladder import level_of, levels
from testbed.teaching.level import LearnLevel
from testbed.teaching.record import VARIABLE, StudentRecord, path_of, read_record
from testbed.teaching.scoring import score, score_text
from testbed.words import counted

PROGRESS = f"File that records what is passed, if not that of ${VARIABLE}."
QUICK = "Skip the check of the check: do not play the level's own wrong answers."
ENDING = ".race.yaml"
STATES_MAX = 3_000
"""A level with more states has no map on its page."""


@click.command("learn", epilog=EXIT_CODES)
@click.argument("number", type=click.IntRange(min=1), required=False, metavar="[N]")
@click.option("--check", "answer", metavar="FILE", help="Check the answer in this Python file.")
@click.option("--quick", is_flag=True, help=QUICK)
@takes_jobs
@click.option("--guess", type=int, metavar="K", help="Answer the question of the level with K.")
@click.option("--hint", is_flag=True, help="Show the next hint; how many is recorded.")
@click.option("--words", is_flag=True, help="Show the words of the level, each with a sentence.")
@click.option("--again", is_flag=True, help="Write the file to mend again, over the one there.")
@click.option("--seed", type=int, default=0, help="Draws the names of the trials that vary.")
@click.option("--page", metavar="FILE", help="Only write the page of the level, as that file.")
@click.option("--no-page", is_flag=True, help="Leave out the page, level_N.html.")
@click.option("--progress", "record", metavar="FILE", help=PROGRESS)
@click.option("--json", "as_json", is_flag=True, help=JSON)
def command(
    number: int | None,
    answer: str | None,
    quick: bool,
    jobs: int | None,
    guess: int | None,
    hint: bool,
    words: bool,
    again: bool,
    seed: int,
    page: str | None,
    no_page: bool,
    record: str | None,
    as_json: bool,
) -> int:
    """Learn how races come about, level by level: mend a program of thirty lines until no order of
    events breaks what is claimed. Level N writes the file to mend into the current folder, and its
    page, on which the orders can be played; on a terminal it opens the page.

    \b
    testbed learn                                 the levels, and which are passed
    testbed learn 1                               the first one: level_1.py and level_1.html
    testbed learn 1 --check level_1.py            is it mended? exits 0 if it is, 1 if not
    testbed learn 1 --hint
    """
    student = read_record(path_of(record))
    asked = [name for name, given in (("--check", answer), ("--guess", guess), ("--hint", hint),
             ("--words", words), ("--page", page), ("--again", again)) if given]  # fmt: skip
    if len(asked) > 1:
        raise ScenarioError(
            f"{' and '.join(asked)} cannot be said at once.\nNext: say one of them."
        )
    if number is None:
        if asked:
            raise ScenarioError(f"{asked[0]}: of which level?\nNext: testbed learn 1 {asked[0]}")
        return _list(student, as_json=as_json)
    level = level_of(number)
    if answer is not None:
        wrong = None if quick else jobs_of(jobs)
        return _check(level, answer, seed, student, wrong, as_json=as_json)
    if guess is not None:
        return _guess(level, guess, as_json=as_json)
    if hint:
        return _hint(level, student, as_json=as_json)
    if page is not None:
        return _page(level, page, seed, as_json=as_json)
    if words:
        return _words(level, as_json=as_json)
    return _begin(level, seed, again=again, has_page=not no_page, as_json=as_json)


def _list(student: StudentRecord, *, as_json: bool) -> int:
    known = levels()
    if as_json:
        say_json(
            {
                "levels": [
                    {"level": each.number, "name": each.name, "title": each.title,
                     **attrs.asdict(student.of(each.number))}
                    for each in known
                ],
                "progress": str(student.path),
            }
        )  # fmt: skip
        return 0
    say("Levels, each with a program to mend:\n")
    for line in ladder_lines(known, student):
        say(line)
    say(f"\n{next_line(known, student)}")
    return 0


def _begin(level: LearnLevel, seed: int, *, again: bool, has_page: bool, as_json: bool) -> int:
    """Write the file to mend, unless it is there, and the page; tell the level."""
    file = Path(level.file)
    is_new = again or not file.exists()
    if is_new:
        _write(file, level.starter())
    page = file.with_suffix(".html") if has_page else None
    refused = None if page is None else _write_page(level, page, seed)
    if as_json:
        written = {"file": str(file), "written": is_new, "page": page and str(page)}
        say_json({**as_dict(level), **written})
        return 0
    if refused is None or seed:
        refused = careless_race(level)  # in the World of the usual names
    say(level_text(level, str(file), refused.name))
    there = f"Wrote {file}." if is_new else (
        f"{file} is there already, and was left as it is; --again writes it over."
    )  # fmt: skip
    say(f"\n{there}")
    if page is not None:
        say(f"Page: {page}")
        if sys.stdout.isatty():
            webbrowser.open(page.absolute().as_uri())
    return 0


def as_dict(level: LearnLevel) -> dict[str, Any]:
    """What a level says, as plain data for JSON; not the answer of its question."""
    return {
        "level": level.number,
        "name": level.name,
        "title": level.title,
        "concept": level.concept,
        "asked": level.asked,
        "calls": level.calls,
        "question": level.guess.question,
        "choices": level.guess.choices,
        "words": dict(level.words),
        "trials": [trial.name for trial in level.trials],
        "incident": attrs.asdict(level.incident),
        "switch": level.switch,
        "starter": level.starter(),
    }


def _guess(level: LearnLevel, given: int, *, as_json: bool) -> int:
    choices = level.guess.choices
    if not 1 <= given <= len(choices):
        raise ScenarioError(
            f"--guess {given}: expected 1 to {len(choices)}.\n"
            f"Next: testbed learn {level.number}, which shows the choices"
        )
    is_right = given == level.guess.answer
    if as_json:
        right = {"right": is_right, "answer": level.guess.answer, "why": level.guess.why}
        say_json({"level": level.number, "guess": given, **right})
    else:
        say(guess_text(level, given))
    return 0


def _hint(level: LearnLevel, student: StudentRecord, *, as_json: bool) -> int:
    """Show the next hint; the last one stays."""
    count = len(level.hints)
    nth = min(student.of(level.number).hints + 1, count)
    student.having(level.number, hints=nth).write()
    if as_json:
        say_json({"level": level.number, "hint": nth, "of": count, "said": level.hints[nth - 1]})
    else:
        say(f"Hint {nth} of {count}: {level.hints[nth - 1]}")
    return 0


def _words(level: LearnLevel, *, as_json: bool) -> int:
    if as_json:
        say_json({"level": level.number, "words": dict(level.words)})
    else:
        say(words_text(level))
    return 0


def _check(
    level: LearnLevel,
    answer: str,
    seed: int,
    student: StudentRecord,
    wrong: Jobs | None,
    *,
    as_json: bool,
) -> int:
    """Check an answer; leave the race of its refusal beside it. If it passes, play the wrong ones
    too, in so many processes: a check that one of them passes proves little."""
    progress = Progress()

    def on_run(trial: str, runs: int) -> None:
        progress.say(lambda: f"{trial}: {counted(runs, 'run')}")

    try:
        checked = check(level, answer, seed=seed, on_run=on_run)
    finally:
        progress.clear()
    student = student.checked(level.number, passed=checked.passed)
    student.write()
    refused, race = checked.refused, ""
    if refused is not None and refused.race:
        race = str(Path(answer).with_suffix(ENDING))
        _write(Path(race), refused.race)
    again = _on_race("replay", race, answer) if race else ""
    known = None
    if checked.passed and wrong is not None:
        known = passing_wrong(level, seed=seed, jobs=wrong)
    points = score(level, answer) if checked.passed and level.scored_by else {}
    if as_json:
        told = {"race_file": race or None, "again": again or None, "score": points}
        say_json({**checked.as_dict(), **told, "wrong": known and wrong_as_dict(known)})
    else:
        _tell(level, checked, race, answer, known)
        if points:
            say(f"Score, which is no part of passing: {score_text(points)}\n")
        if checked.passed:
            say(next_line(levels(), student))
    return 0 if checked.passed else 1


def _tell(
    level: LearnLevel,
    checked: CheckedAnswer,
    race: str,
    answer: str,
    known: dict[str, bool] | None,
) -> None:
    """Tell what a check has shown: of a refusal first why, then what came of the other trials."""
    refused = checked.refused
    for line in trial_lines(checked.trials if refused is None else [refused]):
        say(line)
    if known:
        say(told_of_wrong(known))
    if refused is None:
        say(f"\nPassed, in {counted(checked.runs, 'run')}.\n\n{incident_text(level)}\n")
        return
    say(f"\n{refusal_text(refused)}")
    if others := others_text(checked):
        say(f"\n{others}")
    if race:
        say(f"\nRace: {race}\nAgain: {_on_race('replay', race, answer)}")
        say(f"Next: {_on_race('explain', race, answer)} --page race.html")
    else:
        say(f"\nNext: mend it, or testbed learn {level.number} --hint")


def _on_race(command: str, race: str, answer: str) -> str:
    """The command that plays that race file with that answer."""
    return shlex.join(["testbed", command, race, "--policy", answer])


def _page(level: LearnLevel, out: str, seed: int, *, as_json: bool) -> int:
    """Write the page of a level: the race of the code to mend, told, and its map if it has one."""
    if not Path(out).absolute().parent.is_dir():
        raise ScenarioError(
            f"--page {out}: cannot be written: there is no such folder.\n"
            "Next: name a file in a folder that is there, such as --page level.html"
        )
    _write_page(level, Path(out), seed)
    if as_json:
        say_json({"level": level.number, "page": out})
    else:
        say(f"Page: {out}")
    return 0


def _write_page(level: LearnLevel, path: Path, seed: int) -> TriedTrial:
    """Write the page to that file; it replaces the one that was there. Returns the trial that has
    refused the careless program."""
    from testbed.page.page import render

    refused = careless_race(level, seed=seed)
    _write(path, render(page_of(level, refused)))
    return refused


def page_of(level: LearnLevel, refused: TriedTrial) -> dict[str, Any]:
    """What the page of a level shows: what `testbed explain --page` shows of the race by which its
    careless program was refused, the map of its World with the faults of that race, and `level`,
    with the answer of its question."""
    from testbed.choosers.calm import Calm
    from testbed.cli.mapped import mapped
    from testbed.maps.state_map import StateMap
    from testbed.page.data import page_data
    from testbed.page.subject import CalmRun, PageSubject
    from testbed.races.necessity import flipped
    from testbed.races.playing import play
    from testbed.races.racefile import parse
    from testbed.turns.trace import Trace
    from testbed.world.scenario import find

    recipe, text = find(level.name), refused.race
    race = parse(text, level.name)
    played, faults = play(race, recipe), [strike.fault for strike in race.faults]
    violation = next(iter(played.verdict.violations), None)
    calm, trace = recipe.world(race.switches, faults=faults), Trace({}, keep=True)
    subject = PageSubject(
        recipe, race, played.trace, played.verdict,
        f"testbed learn {level.number} --check {level.file}",
        file=f"level_{level.number}{ENDING}",
        text=text,
        calm=CalmRun("the calm run", trace, calm.run(Calm(), driver="direct", trace=trace)),
        tried=flipped(race, recipe, violation),
    )  # fmt: skip

    found = None
    if level.has_map:
        found = mapped(recipe, race.switches, faults, states_max=STATES_MAX)
    shown = {
        "map": found.as_dict() if isinstance(found, StateMap) else None,
        "level": _as_told(level, refused.name),
    }
    return {**page_data(subject), **shown}


def _as_told(level: LearnLevel, trial: str) -> dict[str, Any]:
    """The level as its page tells it, with the answer of its question. `trial` is the one that
    refuses the careless program."""
    return {
        **as_dict(level),
        "answer": level.guess.answer,
        "why": level.guess.why,
        "hints": level.hints,
        "file": level.file,
        "break": break_line(level, trial),
        "check": f"testbed learn {level.number} --check {level.file}",
    }


def _write(path: Path, text: str) -> None:
    try:
        write_bytes(path, text.encode())
    except OSError as error:
        raise ScenarioError(
            f"{path}: cannot be written: {error.strerror}.\n"
            "Next: go to a folder in which you may write."
        ) from error
