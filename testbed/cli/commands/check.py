"""testbed check: checks that race files still do what they expect."""

from __future__ import annotations

from collections.abc import Iterator, Set
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from testbed.cli.jobs import jobs_of, takes_jobs
from testbed.cli.output import say
from testbed.cli.races import ENDINGS, notes, open_race, side_as_dict, trust_of, whose_code
from testbed.cli.raised import raised_by_theirs
from testbed.cli.show import EXIT_CODES, JSON, say_json
from testbed.errors import HarnessBug, HarnessError, RaceRefused, ReplayDiverged, ScenarioError
from testbed.races import yaml_lines as document
from testbed.races.expecting import Side, both_sides
from testbed.races.racefile import parse
from testbed.races.trust import Trust, line_for
from testbed.search.sharing import shared_out

HELD, NOT_AS_EXPECTED, BAD = 0, 1, 2


@click.command("check", epilog=f"0 all as expected, 1 not, 2 a bad file. {EXIT_CODES}")
@click.argument("paths", nargs=-1, required=True, metavar="FILE|DIR...")
@whose_code
@takes_jobs
@click.option("--json", "as_json", is_flag=True, help=JSON)
def command(
    paths: tuple[str, ...],
    scenario: str | None,
    folders: tuple[str, ...],
    jobs: int | None,
    as_json: bool,
) -> int:
    """Play each race FILE, and each *.race.yaml in a DIR, once for each entry of its `expect:`.

    Prints a line for each: what is expected, and whether it is so. If one file raises an error,
    the others are still checked.
    """
    trust, files = trust_of(scenario, folders), _files(paths)
    results: list[dict[str, Any]] = []

    def checked(number: int) -> list[dict[str, Any]]:
        return [*_checked(files[number], trust)]

    with closing(shared_out(checked, len(files), jobs_of(jobs))) as every:
        for path, found in zip(files, every, strict=True):
            for result in found:
                result["again"] = _replay(path, trust, _closer(result))
                results.append(result)
                if not as_json:
                    say(_line(result))
    code: int = max(result["code"] for result in results)
    bad = next((result for result in results if result["code"]), None)
    if as_json:
        say_json({"code": code, "checked": results})
    elif bad is None:
        idle = next((result for result in results if result["unmatched"]), None)
        heal = f" Next, for what matched nothing: {idle['again']}" if idle else ""
        say(f"All as expected: {len(results)} of {len(results)}.{heal}")
    else:
        fine = sum(not result["code"] for result in results)
        say(f"As expected: {fine} of {len(results)}. Next: {bad['again']}")
    return code


def _files(paths: tuple[str, ...]) -> list[str]:
    files: list[str] = []
    for path in paths:
        if not Path(path).is_dir():
            files.append(path)
            continue
        found = sorted(str(file) for file in Path(path).rglob("*") if file.name.endswith(ENDINGS))
        if not found:
            raise ScenarioError(
                f"{path}: no race file is in it: expected one that ends in {ENDINGS[0]}.\n"
                "Next: testbed check --help"
            )
        files += found
    return list(dict.fromkeys(files))


def _checked(path: str, trust: Trust) -> Iterator[dict[str, Any]]:
    try:
        file = open_race(path, trust, "check")
        if not file.race.expect:
            raise RaceRefused(
                f"{path}: nothing is expected of it.\n"
                "Next: say `expect: {violates: …}` or `expect: {holds: […]}`."
            )
        sides = both_sides(file.race, file.recipe, path, keep=False)
        matched = {f.deviation.line for side in sides for f in side.played.fates if f.matched}
        for side in sides:
            yield _result(path, side, matched)
    except (HarnessBug, ReplayDiverged):
        raise
    except HarnessError as error:
        yield _bad(path, str(error))
    except (Exception, SystemExit) as error:
        if (raised := raised_by_theirs(error)) is None:
            raise
        yield _bad(path, raised.said)


def _bad(path: str, error: str) -> dict[str, Any]:
    text = error if error.startswith(path) else f"{path}: {error}"
    return {"file": path, "code": BAD, "switches": "", "error": text, "unmatched": []}


def _result(path: str, side: Side, matched: Set[int]) -> dict[str, Any]:
    """What one side has come to; `matched` are the lines that matched something on any side."""
    expected = side.expected
    assert expected is not None
    code = BAD if side.is_stale else HELD if side.is_met else NOT_AS_EXPECTED
    verdict = side.played.verdict
    unmatched = [fate.deviation.line for fate in side.unmatched]
    on_this_side = [] if side.is_stale else [line for line in unmatched if line in matched]
    said = [*notes(side, path), *_advice(side, on_this_side)]
    return {
        "file": path,
        "code": code,
        "switches": expected.under,
        "verdict": verdict.outcome,
        "said": str(verdict),
        "unmatched": unmatched,
        "unmatched_here_alone": on_this_side,
        "notes": said,
        **side_as_dict(side),
    }


def _advice(side: Side, on_this_side: list[int]) -> Iterator[str]:
    """What to make of lines that match something on another side of the file, and not on this."""
    if not on_this_side:
        return
    assert side.expected is not None
    lines = ", ".join(f"line {number}" for number in on_this_side)
    left = "" if len(on_this_side) < len(side.played.fates) else " It is the calm run that holds."
    yield f"{lines} did nothing under {side.expected.under or 'these switches'}.{left}"
    yield (
        "If an actor or an object has another name there, write a glob that fits both, such as "
        "`*-a` or `notes/default/list*`; if the operation is not needed there, all is well."
    )


def _line(result: dict[str, Any]) -> str:
    under = f" ({result['switches']})" if result["switches"] else ""
    if "error" in result:
        return f"bad           {result['error']}"
    mark = ("as expected  ", "NOT EXPECTED ", "bad          ")[result["code"]]
    line = f"{mark} {result['file']}{under}: {result['expected']}"
    if result["unmatched"]:
        line += f"; matched nothing: {', '.join(f'line {n}' for n in result['unmatched'])}"
    below = [f"    {note}" for note in result["notes"]]
    if result["code"] == NOT_AS_EXPECTED:
        below.insert(0, f"    {result['said']}")
    return "\n".join([line, *below])


def _closer(result: dict[str, Any]) -> list[str]:
    """The options that look closer: `--heal` for lines that matched nothing, else `--match`. A line
    that matches something on another side is not to be healed: that would break the other side."""
    if result["unmatched"] and not result["code"] and not result.get("unmatched_here_alone"):
        return ["--heal"]
    if not result.get("unmatched_here_alone"):
        return ["--match"]
    under = result["switches"].split()
    return [word for each in under for word in ("--switch", each)] + ["--match"]


def _replay(path: str, trust: Trust, options: list[str]) -> str:
    """The command that looks closer at a race file; for a file that cannot be read, the command to
    check it once it is fixed. It has the option that finds the scenario, given or not."""
    try:
        trust = trust.naming(parse(document.read(path, RaceRefused), path).scenario)
    except HarnessError:
        return line_for("check", path, trust)
    return line_for("replay", path, trust, *options)
