"""What `testbed attach` does, from the options on the command line to the exit code."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

from testbed.attended.frequency import Frequency, seconds_text
from testbed.cli.attaching.places import ATTACHED, TRACE, Places
from testbed.cli.attaching.programs import Programs, programs_of
from testbed.cli.output import say
from testbed.cli.playing import check_driver, parse_switches, placed, sink
from testbed.cli.progress import Clock, Progress
from testbed.cli.races import (
    NamedRace,
    is_race,
    notes,
    open_race,
    refuse_stale,
    side_of,
    stem_of,
    trust_of,
)
from testbed.cli.show import CODES, as_dict, say_json
from testbed.errors import ScenarioError
from testbed.races.expecting import Side, expect
from testbed.races.race import Race
from testbed.races.trust import line_for, trust_in, words_for
from testbed.turns.trace import Trace
from testbed.world.scenario import find
from testbed.world.tried.judged import tried_in
from testbed.world.tried.saying import notable

WORST_FIRST = ("violated", "undecided", "held")


@attrs.frozen
class _How:
    """The options of one command."""

    programs: Programs
    switches: tuple[str, ...]
    times: int
    out: str | None
    driver: str
    as_json: bool


@attrs.frozen
class _Play:
    """One play that has ended."""

    side: Side
    seconds: float
    place: Path


def attach(
    what: str,
    programs: tuple[str, ...],
    speed: float,
    quiet: float,
    silence: float,
    limit: float,
    scenario: str | None,
    folders: tuple[str, ...],
    **given: Any,
) -> int:
    """Do what the options say; returns the exit code."""
    waits = {"speed": speed, "quiet": quiet, "silence": silence, "limit": limit}
    how = _How(programs=programs_of(programs, waits), **given)
    check_driver(how.driver)
    if not how.programs.commands:
        raise ScenarioError(
            "no program is named.\nNext: say --as ACTOR='COMMAND', once for each, or let the "
            f"actors play: testbed {'replay' if is_race(what) else 'run'} {shlex.quote(what)}"
        )
    file, named = _opened(what, scenario, folders)
    again = shlex.join([*named, *how.programs.words, *_more(how)])
    places = Places(Path(how.out or ATTACHED, "" if how.out else _short(file)))
    plays: list[_Play] = []
    try:
        for play in _plays(file, how, places):
            plays.append(play)
    finally:
        # However it ends, also by Ctrl-C: what was played by then is shown.
        if plays:
            (_tell_json if how.as_json else _tell)(plays, file, places, again)
    told = _told_of(plays).side
    refuse_stale(told, file.path, again, is_told=True)
    outcomes = {play.side.played.verdict.outcome for play in plays}
    return CODES[next(outcome for outcome in WORST_FIRST if outcome in outcomes)]


def _opened(
    what: str, scenario: str | None, folders: tuple[str, ...]
) -> tuple[NamedRace, list[str]]:
    """The race to play, and the words of the command that name it. A scenario alone is a race with
    no deviations: its calm run."""
    if is_race(what):
        file = open_race(what, trust_of(scenario, folders), "attach")
        return file, shlex.split(file.line("attach"))
    name, folder = placed(what, folders[0] if folders else None)
    recipe = find(name)
    within = () if folder is None else (folder,)
    named = ["testbed", "attach", *words_for(name, within)]
    return NamedRace(what, "", Race(recipe.name), recipe, trust_in(name, within)), named


def _short(file: NamedRace) -> str:
    """Return what the folder of its plays is called."""
    return Path(stem_of(file.path)).name if file.text else file.recipe.name.rpartition(":")[2]


def _more(how: _How) -> list[str]:
    words = [word for text in how.switches for word in ("--switch", text)]
    words += ["--times", str(how.times)] if how.times > 1 else []
    words += ["--out", how.out] if how.out else []
    return words + (["--driver", how.driver] if how.driver != "trio" else [])


def _plays(file: NamedRace, how: _How, places: Places) -> Iterator[_Play]:
    given = parse_switches(how.switches)
    expected = side_of(file, given)
    switches = {**file.race.switches, **given}
    race = attrs.evolve(file.race, switches=type(file.race.switches)(switches))
    sides = {**switches, **(expected.switches if expected else {})}
    cast = how.programs.cast(file.recipe, sides, places.here)
    progress, violated = Progress(), 0
    try:
        for number in range(1, how.times + 1):
            said = f"play {number:,} of {how.times:,}: {violated:,} violated so far"
            progress.say(lambda said=said: said)  # type: ignore[misc]
            place, clock = places.next(), Clock()
            with sink(str(place / TRACE)) as written:
                trace = Trace({}, keep=True, sink=written)
                side = expect(race, cast, expected, file.path, driver=how.driver, trace=trace)
            violated += side.played.verdict.is_violated
            yield _Play(side, clock.seconds, place)
    finally:
        progress.clear()


def _told_of(plays: list[_Play]) -> _Play:
    """The play that is told: the first of the worst verdict."""
    for outcome in WORST_FIRST:
        for play in plays:
            if play.side.played.verdict.outcome == outcome:
                return play
    raise AssertionError("there is a play")


def _tell(plays: list[_Play], file: NamedRace, places: Places, again: str) -> None:
    told = _told_of(plays)
    verdict = told.side.played.verdict
    if verdict.is_violated:
        from testbed.story.explain import story, told_of

        violation = told_of(verdict, file.race.breaks)
        say(story(told.side.played.trace, verdict, violation.invariant if violation else "") + "\n")
    for said, times in _notes(plays, file).items():
        say(said if len(plays) == 1 else f"{said} So in {times} of {len(plays)} plays.")
    say(str(verdict))
    for line in [] if verdict.is_violated else notable(tried_in(told.side.played.world)):
        say(line)
    if len(plays) > 1:
        say("\n".join(_summary(plays)))
    else:
        say(f"It took {seconds_text([told.seconds])}.")
    if told.side.expected is not None:
        met = sum(play.side.is_met for play in plays)
        many = f" in {met} of {len(plays)} plays" if len(plays) > 1 else ""
        say(f"Expected of it: {told.side.expected}; so it was{many}." if met else
            f"Not as expected, which is: {told.side.expected}.{_if_mended(told.side)}")  # fmt: skip
    say(f"Kept: {places.folder}{'' if len(plays) > 1 else f'/{told.place.name}'}, with the output "
        f"of each program in NAME.log.")  # fmt: skip
    say(f"Without the programs: {_replay(told, file)}")
    say(f"Again: {again}")


def _if_mended(side: Side) -> str:
    """Return what to do with a file that expects a breach, if the program was mended."""
    if side.is_stale or side.expected is None or not side.expected.violates:
        return ""
    return f" If that is mended, let the file say `holds: [{side.expected.violates}]`."


def _summary(plays: list[_Play]) -> Iterator[str]:
    """Return how often each verdict came, and how long it took."""
    verdicts = [play.side.played.verdict for play in plays]
    outcomes = Counter(verdict.outcome for verdict in verdicts)
    for outcome in WORST_FIRST:
        if outcomes[outcome]:
            yield f"{outcome.capitalize()} in {Frequency(outcomes[outcome], len(plays))}."
    yield f"It took {seconds_text([play.seconds for play in plays])}."


def _notes(plays: list[_Play], file: NamedRace) -> Counter[str]:
    """Return what to know of the lines, such as that one matched nothing, and in how many plays."""
    return Counter(note for play in plays for note in notes(play.side, file.path))


def _replay(play: _Play, file: NamedRace) -> str:
    trust = file.trust.naming(file.recipe.name)
    return line_for("replay", str(play.place / TRACE), trust)


def _tell_json(plays: list[_Play], file: NamedRace, places: Places, again: str) -> None:
    told = _told_of(plays)
    verdicts = [play.side.played.verdict for play in plays]
    share = Frequency(sum(verdict.is_violated for verdict in verdicts), len(plays))
    say_json(
        {
            "scenario": file.recipe.name,
            "switches": told.side.played.world.switches,
            "expected": None if told.side.expected is None else str(told.side.expected),
            "violated": share.hits,
            "of": share.plays,
            "interval": [round(share, 4) for share in share.interval],
            "plays": [
                as_dict(
                    play.side.played.verdict,
                    seconds=round(play.seconds, 3),
                    as_expected=None if play.side.expected is None else play.side.is_met,
                    trace=str(play.place / TRACE),
                    tried=tried_in(play.side.played.world).as_dict(),
                )
                for play in plays
            ],
            "notes": dict(_notes(plays, file)),
            "folder": str(places.folder),
            "replay": _replay(told, file),
            "again": again,
        }
    )
