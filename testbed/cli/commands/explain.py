"""testbed explain: tells why a race, or a recorded Run, breaks a claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import click

from testbed.choosers.continued import Continued
from testbed.choosers.uniform import Uniform
from testbed.cli.explained import (
    ExplainedRun,
    issue,
    lines_tried,
    page_paths,
    played,
    write_page_of,
    writes_beside,
)
from testbed.cli.mapped import Maps
from testbed.cli.output import say, tell
from testbed.cli.races import trust_of, whose_code
from testbed.cli.raised import raised_by_theirs
from testbed.cli.show import CODES, EXIT_CODES, JSON, as_dict, exit_code, say_json
from testbed.errors import HarnessBug, HarnessError, ReplayDiverged, ScenarioError
from testbed.invariants.confluence import Confluent
from testbed.races.necessity import Flipped, needed_lines
from testbed.races.race import Deviation
from testbed.races.trust import Trust
from testbed.story.explain import explained, story, told_of
from testbed.story.growth import RUNS, FailureRate, growth, growth_lines
from testbed.turns.option import PICK

PAGE = (
    "Also write it as one page that opens from disk. A name that does not end in .html is that of "
    "a folder, for a page of each FILE."
)
MAP = (
    "Put the complete map of its World on the page, to be played; a World that looks small gets it "
    "in any case."
)
BAD = 2
"""The exit code if a file cannot be played."""
WORST_FIRST = (BAD, *(CODES[outcome] for outcome in ("violated", "undecided", "held")))


@attrs.frozen
class _How:
    """The options that say how it is told."""

    as_md: bool
    as_json: bool
    with_growth: bool
    seed: int
    maps: Maps
    """Those of all pages."""
    pages: Mapping[str, Path]
    """By file: where its page goes; empty if none was asked for."""


@click.command("explain", epilog=EXIT_CODES)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@whose_code
@click.option("--md", "as_md", is_flag=True, help="Print Markdown, ready for an issue.")
@click.option("--json", "as_json", is_flag=True, help=JSON)
@click.option("--growth", "with_growth", is_flag=True, help="Show how the chance to fail grows.")
@click.option("--seed", type=int, default=0, help="Seed of the random Runs for --growth.")
@click.option("--page", metavar="FILE.html", help=PAGE)
@click.option("--map", "with_map", is_flag=True, help=MAP)
def command(
    files: tuple[str, ...],
    scenario: str | None,
    folders: tuple[str, ...],
    page: str | None,
    **asked: Any,
) -> int:
    """Play the race file or the recorded Run in each FILE, and tell why it breaks a claim.

    FILE may also be the name of a scenario from `testbed list`, or your own as FILE.py:function:
    its calm run is told. Of several, each is told under its name, even if another one cannot be
    read. Exits 1 if one is violated, 2 if one cannot be played.

    \b
    testbed explain race.yaml                who knew what when, and which deviations it takes
    testbed explain race.yaml --md           the same, to paste into an issue
    testbed explain race.yaml --growth       and after which step the Run was as good as lost
    testbed explain races/*.race.yaml        each of them
    testbed explain race.yaml --page r.html  a page that opens from disk
    testbed explain races/*.race.yaml --page pages
    """
    if asked["with_map"] and page is None:
        raise ScenarioError("--map: a map stands on a page.\nNext: say --page FILE.html as well")
    paths = page_paths(page, files) if page is not None else []
    maps = Maps(all_wanted=asked.pop("with_map"))
    how = _How(**asked, maps=maps, pages=dict(zip(files, paths, strict=False)))
    trust = trust_of(scenario, folders)
    if len(files) == 1:
        told, code = _told(files[0], trust, how)
        if isinstance(told, dict):
            say_json(told)
        else:
            say(told)
        return code
    codes, all_told = [], []
    for number, file in enumerate(files):
        told, code = _told_or_bad(file, trust, how)
        codes.append(code)
        if isinstance(told, dict):
            all_told.append({"file": file, **told})
        else:
            between = ("\n---\n\n" if how.as_md else "\n") if number else ""
            say(between + (told if how.as_md else f"== {file}\n\n{told}"))
    code = next(code for code in WORST_FIRST if code in codes)
    if how.as_json:
        say_json({"code": code, "explained": all_told})
    return code


def _told_or_bad(file: str, trust: Trust, how: _How) -> tuple[str | dict[str, Any], int]:
    """What is told of one of several files; what is wrong with it, if it cannot be played."""
    try:
        return _told(file, trust, how)
    except (HarnessBug, ReplayDiverged):
        raise
    except HarnessError as error:
        return _bad(f"{type(error).__name__}: {error}", how), BAD
    except (Exception, SystemExit) as error:
        if (raised := raised_by_theirs(error)) is None:
            raise
        return _bad(raised.said, how), BAD


def _bad(said: str, how: _How) -> str | dict[str, Any]:
    return {"error": said} if how.as_json else said


def _told(file: str, trust: Trust, how: _How) -> tuple[str | dict[str, Any], int]:
    """What is told of one file, as a text or for JSON, and its exit code."""
    run = played(file, trust)
    code, tried = exit_code(run.verdict), lines_tried(run)
    path = how.pages.get(file)
    # Markdown does not tell of it.
    is_told = how.with_growth and (path is not None or not how.as_md)
    with_growth = is_told and bool(run.claim) and not run.verdict.attended
    rates = _growth(run, how.seed) if with_growth else []
    if path is not None:
        write_page_of(run, path, tried, rates, how.maps)
    if how.as_json:
        return _as_dict(run, tried, rates, path), code
    if how.as_md:
        if path is not None:
            tell(f"Page: {path}")
        return issue(run, tried), code
    steps = {step.number: step.option for step in run.trace.steps}
    parts = [story(run.trace, run.verdict, run.claim)]
    if any(violation.invariant == Confluent.name for violation in run.verdict.violations):
        parts.append(writes_beside(run))
    parts += ["\n".join(needed_lines(run.race, tried, run.claim))]
    parts += ["\n".join(growth_lines(rates, steps))]
    last = f"{run.verdict}\nAgain: {run.again}" + (f"\nPage: {path}" if path is not None else "")
    return "\n".join([*(f"{part}\n" for part in parts if part), last]), code


def _growth(run: ExplainedRun, seed: int) -> list[FailureRate]:
    """The failure rate along the Run, after each effect and each pick."""
    faults = [strike.fault for strike in run.race.faults]
    violation = told_of(run.verdict, run.claim)
    end = violation.step if violation is not None else 0

    def failing(point: int) -> int:
        chooser = Continued(run.trace.choices[:point], Uniform(seed))
        failed = 0
        for number in range(RUNS):
            world = run.recipe.world(run.race.switches, faults=faults, without=run.race.without)
            verdict = world.run(chooser, driver="direct", number=number)
            failed += any(violation.invariant == run.claim for violation in verdict.violations)
        return failed

    points = [
        step.number
        for step in run.trace.steps
        if step.number <= end and (step.option.is_effect or step.kind == PICK)
    ]
    return growth([0, *points], failing)


def _as_dict(
    run: ExplainedRun,
    tried: Sequence[Flipped[Deviation]],
    rates: Sequence[FailureRate],
    path: Path | None,
) -> dict[str, Any]:
    deviations = [{"said": str(each.deviation), "needed": each.is_necessary} for each in tried]
    along = [{"step": each.point, "failed": each.failed, "runs": each.runs} for each in rates]
    return as_dict(
        run.verdict,
        scenario=run.recipe.name,
        switches=dict(run.race.switches),
        without=list(run.race.without),
        story=explained(run.trace, run.verdict, run.claim),
        deviations=deviations,
        growth=along,
        again=run.again,
        **({"page": str(path)} if path is not None else {}),
    )
