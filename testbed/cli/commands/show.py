"""testbed show: the page of a scenario, and its race told: with the guard off, and on."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import click

from testbed.choosers.calm import Calm
from testbed.cli.output import say
from testbed.cli.profiled import missed
from testbed.cli.show import EXIT_CODES, JSON, say_json
from testbed.code.files import read_text
from testbed.fault import Fault
from testbed.races.expecting import both_sides, of_every_world
from testbed.races.playing import Played, play
from testbed.races.race import Race
from testbed.races.racefile import parse
from testbed.story.chronicle import chronicle
from testbed.story.explain import story
from testbed.testing.seek import seek
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict
from testbed.words import counted
from testbed.world.scenario import GUARD, Scenario, find
from testbed.world.shelf import CONTROL, LESSON, Page

RUNS_MAX, CONTROL_RUNS = 400, 100
"""How many Runs are played to find a race of which there is no file, and of a control."""
WIDTH = 100


@attrs.frozen
class ToldRun:
    """One way in which it was played."""

    under: str
    """The switches; empty if none were set."""
    outcome: str
    said: str
    """The outcome in words."""
    story: str


@attrs.frozen
class Telling:
    """What was played to tell of a scenario."""

    found: str
    """How its race was found, or that none was."""
    race: Race | None = None
    """Its race; None if it is calm."""
    text: str = ""
    """The race as it stands in its file."""
    runs: tuple[ToldRun, ...] = ()


@click.command("show", epilog=EXIT_CODES)
@click.argument("scenario")
@click.option("--page", "is_page", is_flag=True, help="Only the page: play nothing.")
@click.option("--json", "as_json", is_flag=True, help=JSON)
def command(scenario: str, is_page: bool, as_json: bool) -> int:
    """Print the page of a SCENARIO: what happens, its cause, who is in it, its switches and issues.
    Then play its race, and tell it, with the guard off and with it on. A race that has no file
    beside the scenario is searched for first. Of a lesson or a control the calm Run is told.

    Exits 0 whatever the race does.
    """
    recipe = find(scenario)
    page = Page.of(recipe)
    if not as_json:
        say(page_text(page))
    told = None if is_page else tell(page)
    if as_json:
        played = {} if told is None else _as_dict(told)
        say_json({**page.as_dict(), "page": page.text, **played})
        return 0
    if told is not None:
        say("\n" + "\n\n".join(_in_paragraphs(told)))
        is_on = recipe.has_guard and recipe.values({})[GUARD]
        switch = f" --switch {GUARD}=off" if is_on else ""
        first = " --until-first" if recipe.has_guard else ""
        say(f"\nNext: testbed search {shlex.quote(scenario)}{switch}{first}")
    return 0


def tell(page: Page) -> Telling:
    """Play what there is to tell of a scenario."""
    recipe = page.scenario
    if page.race_file is not None:
        text = read_text(page.race_file)
        race = parse(text, page.race_file.name)
        sides = both_sides(race, recipe, page.race_file.name)
        played = [(side.expected.under if side.expected else "", side.played) for side in sides]
        found = f"Its race ({_near(page.race_file)}):" if len(race) else "It needs no race:"
        return _told(found, race, text, played)
    if page.kind == LESSON:
        return _calm(recipe, "Its calm Run:")
    if page.kind == CONTROL:
        looked = seek(recipe, runs=CONTROL_RUNS).looked
        return _calm(recipe, f"{looked} Its calm Run:")
    sought = seek(recipe, runs=RUNS_MAX, switches=recipe.sides({})[0])
    if (shrunk := sought.shrunk) is None:
        return Telling(sought.looked)
    race = shrunk.race
    if not len(race):
        needs = "Without anything late it is violated:"
    elif shrunk.cut_off:
        needs = f"Not shrunk to the end ({shrunk.cut_off}):"
    else:
        needs = "It takes no more than this:"
    found = f"Found in {counted(sought.runs, 'run')}, shrunk in {shrunk.runs:,} more. {needs}"
    played = [(f"{GUARD}=off" if recipe.has_guard else "", shrunk.played)]
    if recipe.has_guard:
        played.append((f"{GUARD}=on", play(race, recipe, switches={GUARD: "on"})))
    return _told(found, race, race.text(), played)


def _calm(recipe: Scenario, found: str) -> Telling:
    """Its calm Run, told second by second."""
    world = recipe.world()
    verdict = world.run(Calm(), driver="direct", trace=Trace({}, keep=True))
    told = chronicle(world.trace) if verdict.is_held else story(world.trace, verdict)
    return Telling(found, runs=(ToldRun("", verdict.outcome, _short(verdict), told),))


def _near(file: Path) -> str:
    """The path of a file, from the current folder if it is in there."""
    here = Path.cwd()
    return str(file.relative_to(here) if file.is_relative_to(here) else file)


def _short(verdict: Verdict) -> str:
    """A Verdict without what the story tells: the claim that broke, or that it held."""
    if verdict.is_violated:
        return f"violated, {', '.join(each.invariant for each in verdict.violations)}."
    return "held." if verdict.is_held else str(verdict)


def _told(found: str, race: Race | None, text: str, played: list[tuple[str, Played]]) -> Telling:
    runs = (
        ToldRun(
            under,
            one.verdict.outcome,
            f"{_short(one.verdict)}{missed(one)}",
            story(one.trace, one.verdict),
        )
        for under, one in played
    )
    return Telling(found, race, text, tuple(runs))


def _in_paragraphs(told: Telling) -> Iterator[str]:
    yield told.found
    if told.race is not None and told.race.lines:
        yield "\n".join(f"  {line}" for line in told.race.lines)
    for run in told.runs:
        if run.under or run.outcome != "held":
            yield f"With {run.under}: {run.said}" if run.under else run.said
        yield run.story


def _as_dict(told: Telling) -> dict[str, Any]:
    """What was played, as plain data for JSON."""
    sides = [
        {"switches": run.under, "outcome": run.outcome, "story": run.story} for run in told.runs
    ]
    return {"found": told.found, "race": told.text or None, "sides": sides}


def page_text(page: Page) -> str:
    """The page, as plain text."""
    recipe = page.scenario
    world = recipe.world()
    of_all = of_every_world()
    actors, servers = ", ".join(world.table.roles), ", ".join(world.wire.posts)
    facts = {
        "cause": page.cause,
        "look for": page.look_for,
        "in it": "; ".join(filter(None, [actors, f"asked: {servers}" if servers else ""])),
        "made of": ", ".join(page.components),
        "claims": ", ".join(name for name in world.judge.claims if name not in of_all),
        "may fail": ", ".join(_in_words(fault) for fault in world.allowed) or "nothing",
        "source": page.source,
        "issues": ", ".join(issue for issue in page.issues if issue not in page.source),
        "tags": ", ".join(page.tags),
        "switches": ", ".join(f"{n}={switch.shown}" for n, switch in recipe.switches.items()),
    }
    kind = ", ".join(filter(None, (page.theme or "your own", page.kind)))
    lines = [f"{recipe.name} ({kind})", "", *([page.text, ""] if page.text else [])]
    width = max(map(len, facts))
    for name, said in facts.items():
        if said:
            indent = " " * (width + 4)
            first = f"  {name.ljust(width)}  "
            lines += textwrap.wrap(said, WIDTH, initial_indent=first, subsequent_indent=indent)
    return "\n".join(lines)


def _in_words(fault: Fault) -> str:
    target = "" if fault.target == "*" else f" {fault.target}"
    return f"{fault.word}{target} {counted(fault.times_max, 'time')}"
