"""What `testbed search` does, from the options on the command line to the exit code.

1. The options are checked before anything is played, so a mistake costs no time.
2. `Search.play` runs until it is done, until `--seconds` are over, which it asks between two Runs,
   or until Ctrl-C, which ends it at once.
3. However it ended, also by an exception of the user's code: what it has found by then is written
   and shown, with a verdict.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs

from testbed import policy
from testbed.choosers.complete import Complete
from testbed.cli.attaching.attended import attended_player, check_attended
from testbed.cli.attaching.places import ATTACHED
from testbed.cli.attaching.programs import Programs, programs_of
from testbed.cli.jobs import jobs_of
from testbed.cli.output import say
from testbed.cli.playing import check_driver, parse_faults, parse_switches, placed
from testbed.cli.progress import Clock
from testbed.cli.searching.folder import FOLDER, Races
from testbed.cli.searching.junit import write_junit
from testbed.cli.searching.live import SearchProgress
from testbed.cli.searching.pages import Pages, pages_in
from testbed.cli.searching.report import (
    as_dict,
    compared_line,
    deadline_line,
    finding_text,
    is_all_calm,
    outcome_of,
    said_lines,
    shares_line,
    verdict_line,
    why_undecided,
)
from testbed.cli.show import CODES, say_json
from testbed.errors import ScenarioError, UnknownName
from testbed.races.trust import line_for, trust_in, words_for
from testbed.search.crossing import Crossing
from testbed.search.effort import COMPLETE, EFFORTS, Effort, portfolio_of, runs_of
from testbed.search.engine import Engine
from testbed.search.engines.here import Here
from testbed.search.engines.processes import Processes
from testbed.search.finding import Finding
from testbed.search.ledger import Ledger
from testbed.search.planned_run import SearchTask
from testbed.search.player import Player
from testbed.search.portfolio import ARMS, ROUND, Portfolio
from testbed.search.search import TIME_IS_UP, Search, Watching
from testbed.search.sources import digests
from testbed.search.terms import modules_of, terms_of
from testbed.turns.verdict import UNTRIED
from testbed.version import VERSION
from testbed.world.chooser_kinds import known
from testbed.world.world import World

INTERRUPTED = 130
USUAL_JOBS_MAX = ROUND // 2
"""The most processes unless the user says otherwise: with more, most would wait in each round."""


@attrs.frozen
class Wishes:
    """The options on the command line, checked."""

    task: SearchTask
    effort: Effort
    chooser: str | None
    runs: int | None
    seconds: float | None
    jobs: int | None
    """None: as many as there are processors, unless that could change what is found."""
    ledger: str | None
    resume: bool
    until_first: bool
    out: str | None
    as_json: bool
    junitxml: str | None
    page: str | None
    programs: Programs


def search(
    scenario: str,
    effort: str,
    chooser: str | None,
    seed: int,
    faults: tuple[str, ...],
    switches: tuple[str, ...],
    driver: str,
    scenario_path: str | None,
    programs: tuple[str, ...],
    speed: float,
    quiet: float,
    silence: float,
    limit: float,
    **more: Any,
) -> int:
    """Search as the options say; returns the exit code."""
    if effort not in EFFORTS:
        raise UnknownName("effort", effort, EFFORTS, see="--effort quick, or say nothing")
    if chooser is not None and ":" not in chooser and chooser not in known():
        see = "say nothing, and all of them play; or name one of your own as FILE.py:Class"
        raise UnknownName("chooser", chooser, known(), see=see)
    check_driver(driver)
    words, allows_none = parse_faults(faults)
    scenario, folder = placed(scenario, scenario_path)
    task = SearchTask(
        scenario,
        parse_switches(switches),
        words,
        allows_none=allows_none,
        seed=seed,
        driver=driver,
        folders=() if folder is None else (os.path.abspath(folder),),
        policies=tuple(map(os.path.abspath, policy.files())),
    )
    waits = {"speed": speed, "quiet": quiet, "silence": silence, "limit": limit}
    given = programs_of(programs, waits)
    wishes = Wishes(task, EFFORTS[effort], chooser, programs=given, **more)
    if not given.commands:
        return _search(wishes, Player(task))
    check_attended(wishes.effort.name, chooser, wishes.jobs or 1, wishes.ledger or wishes.resume)
    with attended_player(task, given, wishes.out or ATTACHED) as player:
        return _search(wishes, player)


def _search(wishes: Wishes, player: Player) -> int:
    if wishes.chooser is not None:
        player.chooser(wishes.chooser)  # refused now if it cannot be made
    recipe, world = player.recipe, player.world()
    clock, out = Clock(wishes.seconds), wishes.out or FOLDER
    races = Races(out, recipe, wishes.task.folders, wishes.programs.words)
    races.check()
    pages = pages_in(wishes.page, races)
    progress = SearchProgress(clock)
    shown: list[Finding] = []

    def show(finding: Finding) -> None:
        _write(finding, races, pages)
        shown.append(finding)
        if not wishes.as_json:
            progress.clear()
            say(finding_text(finding, races, recipe) + "\n")

    exhaustive, terms = _exhaustive(wishes, player, world), _terms(wishes, player)
    ledger = _ledger(wishes, player)
    search = Search(
        player,
        _portfolio(wishes, world.faults_max),
        _engine(wishes, player),
        runs_max=runs_of(wishes.effort, wishes.chooser) if wishes.runs is None else wishes.runs,
        ledger=ledger,
        until_first=wishes.until_first,
        level=lambda: "" if exhaustive is None else exhaustive.summary,
        to_the_end=exhaustive is not None,
        # A race is written before it is shrunk: shrinking takes long, and may be interrupted.
        # Whether time is over is asked between two Runs.
        watching=Watching(progress.ran, progress.shrinks, races.write, show, clock.is_over),
    )
    progress.watch(search)
    try:
        search.play()
        _cross(search, exhaustive, player, clock.is_over, _again(wishes, search))
    finally:
        # However it ends, what was found is shown first, and what was still being shrunk.
        progress.clear()
        if ledger is not None:
            ledger.close()
        for finding in search.found:
            if finding not in shown:
                show(finding)
        path, not_certified = _certify(wishes, search, exhaustive, terms)
        _show_report(wishes, search, races, world.judge.claims, path, not_certified)
    for unwritten in races.unwritten.values():
        raise unwritten
    return INTERRUPTED if search.stopped == "interrupted" else CODES[outcome_of(search)]


def _write(finding: Finding, races: Races, pages: Pages) -> None:
    """Write its race file and its page; neither if it could not be played again."""
    if finding.race:
        races.write(finding)
        pages.write(finding)


def _exhaustive(wishes: Wishes, player: Player, world: World) -> Complete | None:
    """The chooser that plays every class of Runs, for `--effort complete`; else None. Any other
    holds things back: what that means for deadlines is said first."""
    if wishes.effort.name != COMPLETE:
        if not wishes.as_json and (line := deadline_line(world)):
            say(f"Note: {line}.")
        return None
    chooser = player.chooser(COMPLETE)
    assert isinstance(chooser, Complete)
    return chooser


def _portfolio(wishes: Wishes, faults_max: int) -> Portfolio:
    """Who plays which Run. With real programs no Run goes on from another one, so there is no
    bounded search."""
    if wishes.programs.commands and wishes.chooser is None:
        return Portfolio(ARMS)
    return portfolio_of(wishes.effort, wishes.chooser, faults_max)


def _engine(wishes: Wishes, player: Player) -> Engine:
    """Where Runs are played. In a complete search each Run follows from the ones before it, so they
    stay in one process; and so do programs that would disturb each other."""
    follows = COMPLETE in (wishes.effort.name, wishes.chooser)
    # A Chooser of the user's own may learn from Run to Run; who says how many jobs knows.
    may_follow = wishes.chooser is not None and ":" in wishes.chooser
    jobs = jobs_of(1 if wishes.jobs is None and may_follow else wishes.jobs)
    if jobs.most == 1 or follows or wishes.programs.commands:
        return Here(player)
    return Processes(player, min(jobs.most, wishes.jobs or USUAL_JOBS_MAX), alone_s=jobs.alone_s)


def _ledger(wishes: Wishes, player: Player) -> Ledger | None:
    """The ledger of the search, or None. It belongs to one task and to the sources as they are: if
    either has changed, it cannot go on."""
    if wishes.ledger is None and not wishes.resume:
        return None
    if wishes.effort.name == COMPLETE:
        raise ScenarioError(
            "--effort complete keeps no ledger: each of its runs follows from all before.\n"
            "Next: let it run to its end, or use --effort deep."
        )
    task = wishes.task.as_dict()
    del task["driver"], task["folders"], task["policies"]
    sources = digests(_modules(wishes, player))
    identity = {
        "version": VERSION,
        **task,
        "effort": wishes.effort.name,
        "chooser": wishes.chooser,
        **{f"the source of {module}": digest for module, digest in sources.items()},
    }
    short = wishes.task.scenario.rpartition(":")[2]
    path = wishes.ledger or str(Path(wishes.out or FOLDER, f"{short}.ledger"))
    return Ledger(path, identity, resumes=wishes.resume)


def _modules(wishes: Wishes, player: Player) -> Iterator[str]:
    """The modules that this search is made of."""
    yield from modules_of(player.recipe, player.world())
    if wishes.chooser is not None and ":" in wishes.chooser:
        yield wishes.chooser.partition(":")[0]


def _show_report(
    wishes: Wishes,
    search: Search,
    races: Races,
    claims: list[str],
    certificate: str,
    not_certified: str,
) -> None:
    again, played = _again(wishes, search), _recorded(search, races)
    if wishes.as_json:
        say_json(
            as_dict(
                search,
                races,
                scenario=wishes.task.scenario,
                switches=wishes.task.switches,
                seed=wishes.task.seed,
                effort=wishes.effort.name,
                again=again,
                certificate=certificate or None,
                not_certified=not_certified or None,
                undecided=played or None,
            )
        )
    elif not search.is_refused:
        for report in search.engine.reports:
            say(f"Note: {report}.")
        for line in said_lines(search):
            say(line)
        if played:
            say(f"One that did not come to an end: {played}")
        if shares := shares_line(search):
            say(shares)
        if not_certified:
            say(f"Note: {not_certified}")
        if certificate:
            trust = trust_in(races.recipe.name, wishes.task.folders)
            say(f"Certificate: {line_for('certify', certificate, trust)}")
        say(f"Again{', once that is mended' if is_all_calm(search) else ''}: {again}")
    if wishes.junitxml is not None:
        _junit(wishes, search, races, claims)


def _recorded(search: Search, races: Races) -> str:
    """The command that replays the first undecided Run; nothing if there is none. What a complete
    search plays follows from all Runs before, and what was interrupted is not played on."""
    if search.first_undecided is None or search.stopped or search.to_the_end:
        return ""
    return races.undecided(*search.first_undecided, search.player)


def _terms(wishes: Wishes, player: Player) -> dict[str, Any]:
    """What is searched, by the code as it is before the first Run; nothing if it is not wanted."""
    task = wishes.task
    if wishes.effort.name != COMPLETE or wishes.out is None:
        return {}
    return terms_of(player.recipe, task.switches, task.faults, allows_none=task.allows_none)


def _cross(
    search: Search,
    exhaustive: Complete | None,
    player: Player,
    is_over: Callable[[], bool],
    again: str,
) -> None:
    """Put a complete search that came to its end to the test; ReplayDiverged if it fails that."""
    if exhaustive is None or not search.is_exhausted:
        return
    crossing = Crossing(player.world, player.task.driver, player.task.seed, is_over)
    search.is_exhausted = False
    search.is_exhausted = crossing.test(exhaustive, f"mend that, then search again: {again}")
    if not search.is_exhausted:
        search.stopped = TIME_IS_UP


def _certify(
    wishes: Wishes, search: Search, exhaustive: Complete | None, terms: dict[str, Any]
) -> tuple[str, str]:
    """Write the certificate of a complete search that came to its end; returns its path, or why
    there is none; neither if there is nothing to certify."""
    if wishes.out is None or exhaustive is None or not search.is_exhausted:
        return "", ""
    if search.not_compared:
        return "", f"no certificate: {compared_line(search)}."
    if nothing := search.tried.why_nothing:
        return "", f"no certificate: {UNTRIED}: {nothing}."
    short = wishes.task.scenario.rpartition(":")[2]
    Path(wishes.out).mkdir(parents=True, exist_ok=True)
    path = Path(wishes.out, f"{short}.certificate.jsonl")
    try:
        exhaustive.certificate(path, terms)
    except ScenarioError as error:
        return "", str(error)
    return str(path), ""


def _again(wishes: Wishes, search: Search) -> str:
    """The command that does the same search again; or that goes on with it, if it was stopped and
    has a ledger."""
    task = wishes.task
    named = words_for(task.scenario, task.folders)
    words = ["testbed", "search", *named, "--effort", wishes.effort.name]
    words += [w for name, set_to in task.switches.items() for w in ("--switch", f"{name}={set_to}")]
    words += [word for fault in task.faults for word in ("--faults", fault)]
    given: dict[str, object] = {
        "--faults": "none" if task.allows_none else None,
        "--seed": task.seed or None,
        "--runs": wishes.runs,
        "--chooser": wishes.chooser,
        "--driver": None if task.driver == "direct" else task.driver,
        "--jobs": wishes.jobs,
        "--out": wishes.out,
        "--page": wishes.page,
    }
    for option, setting in given.items():
        words += [] if setting is None else [option, str(setting)]
    words += [*wishes.programs.words, *policy.words()]
    words += ["--until-first"] if wishes.until_first else []
    if search.ledger is not None and search.stopped:
        words += ["--ledger", search.ledger.path, "--resume"]
    return shlex.join(words)


def _junit(wishes: Wishes, search: Search, races: Races, claims: list[str]) -> None:
    assert wishes.junitxml is not None
    recipe = races.recipe
    found: dict[str, list[tuple[Finding, str]]] = {}
    for finding in search.found:
        text = finding_text(finding, races, recipe)
        found.setdefault(finding.invariant, []).append((finding, text))
    properties = {
        "testbed": VERSION,
        "seed": wishes.task.seed,
        "effort": wishes.effort.name,
        "runs": search.runs,
        "level": search.level,
        "said": verdict_line(search),
        "again": _again(wishes, search),
    }
    write_junit(wishes.junitxml, recipe.name, claims, found, why_undecided(search), properties)
