"""testbed show: the page of a scenario, and its race told."""

from __future__ import annotations

import shlex
import textwrap
from typing import Any

import click

from testbed.cli.profiled import missed
from testbed.cli.show import EXIT_CODES, JSON, say, say_json
from testbed.fault import Fault
from testbed.races.expecting import of_every_world
from testbed.races.playing import Played, play
from testbed.races.race import Race
from testbed.story.explain import story
from testbed.testing.seek import Sought, seek
from testbed.words import counted
from testbed.world.scenario import GUARD, Scenario, find
from testbed.world.shelf import Page

RUNS_MAX = 400
WIDTH = 100


@click.command("show", epilog=EXIT_CODES)
@click.argument("scenario")
@click.option("--page", "is_page", is_flag=True, help="Only the page: play nothing.")
@click.option("--json", "as_json", is_flag=True, help=JSON)
def command(scenario: str, is_page: bool, as_json: bool) -> int:
    """Print the page of a SCENARIO: what happens, who is in it, its switches and issues. Then find
    its race, and tell it; and what the same race comes to with the guard.

    Exits 0 whatever the race does.
    """
    recipe = find(scenario)
    page = Page.of(recipe)
    if not as_json:
        say(page_text(page))
    if is_page:
        if as_json:
            say_json({**page.as_dict(), "page": page.text})
        return 0
    sought = seek(recipe, runs=RUNS_MAX, switches=recipe.sides({})[0])
    if as_json:
        say_json({**page.as_dict(), "page": page.text, **_told(sought)})
        return 0
    say(f"\n{_race_in_words(sought)}")
    is_on = recipe.has_guard and recipe.values({})[GUARD]
    switch = f" --switch {GUARD}=off" if is_on else ""
    say(f"\nNext: testbed search {shlex.quote(scenario)}{switch} --until-first")
    return 0


def page_text(page: Page) -> str:
    """The page, as plain text."""
    recipe = page.scenario
    world = recipe.world()
    of_all = of_every_world()
    actors, servers = ", ".join(world.table.roles), ", ".join(world.wire.posts)
    facts = {
        "in it": "; ".join(filter(None, [actors, f"asked: {servers}" if servers else ""])),
        "made of": ", ".join(page.components),
        "claims": ", ".join(name for name in world.judge.claims if name not in of_all),
        "may fail": ", ".join(_in_words(fault) for fault in world.allowed) or "nothing",
        "issues": ", ".join(page.issues),
        "switches": ", ".join(f"{n}={switch.shown}" for n, switch in recipe.switches.items()),
    }
    kind = f"{page.theme}, {page.kind}" if page.theme else f"your own, {page.kind}"
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


def _race_in_words(sought: Sought) -> str:
    shrunk = sought.shrunk
    if shrunk is None:
        return sought.looked
    lines = [f"  {line}" for line in shrunk.race.lines]
    if not lines:
        needs = "Without anything late it is violated:"
    elif shrunk.cut_off:
        needs = f"Not shrunk to the end ({shrunk.cut_off}):"
    else:
        needs = "It takes no more than this:"
    told = [f"Found in {counted(sought.runs, 'run')}, shrunk in {shrunk.runs:,} more. {needs}"]
    told += ["", *lines] if lines else []
    told += ["", story(shrunk.played.trace, shrunk.played.verdict)]
    if guarded := _guarded(sought.recipe, shrunk.race):
        told += ["", f"The same with {GUARD}=on{missed(guarded)}: {guarded.verdict}"]
    return "\n".join(told)


def _guarded(recipe: Scenario, race: Race) -> Played | None:
    """The same lines with the guard on; None if there is none."""
    if not recipe.has_guard:
        return None
    return play(race, recipe, switches={GUARD: "on"}, keep=False)


def _told(sought: Sought) -> dict[str, Any]:
    """What was found, as plain data for JSON."""
    shrunk = sought.shrunk
    if shrunk is None:
        return {"runs": sought.runs, "race": None, "cut_off": "", "story": None, "guarded": None}
    guarded = _guarded(sought.recipe, shrunk.race)
    return {
        "runs": sought.runs,
        "race": shrunk.race.text(),
        "cut_off": shrunk.cut_off,
        "story": story(shrunk.played.trace, shrunk.played.verdict),
        "guarded": guarded and guarded.verdict.outcome,
    }
