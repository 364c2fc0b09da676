"""The report of a search: its verdict, each Finding with its story, and who played how much."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from testbed.cli.searching.folder import Races
from testbed.races.playing import play
from testbed.races.race import Race
from testbed.races.racefile import parse
from testbed.search.finding import Finding
from testbed.search.search import Search
from testbed.story.explain import story
from testbed.turns.verdict import UNTRIED, up_to
from testbed.words import counted, names_of
from testbed.world.scenario import Scenario
from testbed.world.tried.saying import notable
from testbed.world.world import World

RETOLD_MAX = 4
"""How often a race with real programs is played again, if it breaches nothing when it is told."""


def outcome_of(search: Search) -> str:
    """The outcome of the search: violated, held or undecided."""
    if search.found:
        return "violated"
    return "undecided" if why_undecided(search) else "held"


def why_undecided(search: Search) -> str:
    """Why the search did not decide; empty if it did."""
    if search.stopped:
        return f"{search.stopped} after {counted(search.runs, 'run')}"
    if search.to_the_end and not search.is_exhausted:
        return f"there is more to play after {counted(search.runs, 'run')}"
    undecided = search.verdicts.get("undecided", 0)
    if undecided:
        end = max(search.ends, key=lambda end: search.ends[end])
        return f"{undecided} of {counted(search.runs, 'run')} did not come to an end: {end}"
    if not search.runs:
        return "no run was played"
    if why := search.tried.why_nothing:
        return f"{UNTRIED}: {why}"
    if search.not_compared and (search.to_the_end or not search.compared):
        return compared_line(search)
    return ""


def is_calm(finding: Finding) -> bool:
    """Whether the calm run is what violates the claim, so that it takes no race."""
    return not finding.deviations and bool(finding.race) and not finding.not_shrunk


def is_all_calm(search: Search) -> bool:
    """Whether the calm run shows all that was found: what else was played then says little."""
    return bool(search.found) and all(map(is_calm, search.found))


def compared_line(search: Search) -> str:
    """How many Runs `confluent` has compared, and why not the others; empty if it has them all."""
    if not search.not_compared:
        return ""
    runs = search.compared + sum(search.not_compared.values())
    why = "; ".join(f"{count} not: {why}" for why, count in sorted(search.not_compared.items()))
    return f"confluent compared {search.compared} of {counted(runs, 'run')} ({why})"


def verdict_line(search: Search) -> str:
    """The verdict, and how far the search looked."""
    looked = [] if search.to_the_end else [counted(search.runs, "run")]
    if search.level and (search.to_the_end or not is_all_calm(search)):
        looked.insert(0, search.level)
    if search.found:
        breached = ", ".join(
            f"{name} in {counted(count, 'run')}" for name, count in search.findings.breaches.items()
        )
        calm = ", also by the calm run" if is_all_calm(search) else ""
        verdict = f"Violated: {breached}{calm}. Looked at"
        if search.stopped:
            looked.append(search.stopped)
    elif why := why_undecided(search):
        verdict = f"Undecided: {why}. Looked at"
    else:
        verdict = f"Held{up_to(search.until_ms)}"
        if search.player.recipe.attendance is not None:
            verdict += " in these Runs, and nothing is said of others"
        looked += [line] if (line := compared_line(search)) else []
    return f"{verdict}: {', '.join(looked)}."


def deadline_line(world: World) -> str:
    """What is to be known of claims with a deadline where anything may be late for any time; empty
    if there are none, or nothing may."""
    names = world.judge.with_deadline
    if not names or world.budget.lateness_ms is not None:
        return ""
    return (
        f"{names_of(names)} must come true in time, and what is held back may be late for any "
        "time: world.limit(lateness_ms=5_000), or --limit lateness_ms=5s, says how late it may be"
    )


def allowed_line(search: Search) -> str:
    """In how many Runs claims have seen what they allow; empty if in none."""
    runs = [f"{word} in {counted(count, 'run')}" for word, count in sorted(search.allowed.items())]
    return f"Seen, and no violation: {', '.join(runs)}." if runs else ""


def verdicts_of(search: Search) -> dict[str, int]:
    """How many Runs ended in each verdict. If nothing was tried in any, none of them has held."""
    if not search.tried.why_nothing:
        return search.verdicts
    verdicts = dict(search.verdicts)
    verdicts["undecided"] = verdicts.get("undecided", 0) + verdicts.pop("held", 0)
    return verdicts


def said_lines(search: Search) -> list[str]:
    """The verdict; what claims have seen and allow; and what never happened in any Run, unless a
    claim was breached, which is told instead."""
    never = [] if search.found else notable(search.tried)
    return [verdict_line(search), *filter(None, (allowed_line(search),)), *never]


def shares_line(search: Search) -> str:
    """How many Runs each chooser has played, and the share of the next Runs that it would get."""
    if is_all_calm(search):
        return ""
    percents = {arm.name: f" ({arm.percent} %)" for arm in search.portfolio.arms}
    played = [f"{by} {count}{percents.get(by, '')}" for by, count in search.played_by.items()]
    shares = f"Played by: {', '.join(sorted(played))}."
    if search.to_the_end:
        return shares
    more = search.coverage.chance_of_more
    return f"{shares}\nThe chance that the next run shows something new: {more}."


def finding_text(finding: Finding, races: Races, recipe: Scenario) -> str:
    """One Finding as text: what broke, the story, the deviations, the file, the command."""
    looked = f"run {finding.run} ({finding.chooser}), after {counted(finding.runs, 'run')}"
    found = f"  found:   {looked}" + (f"; {finding.level}" if finding.level else "")
    if not finding.race:
        breach = f"{finding.invariant}: {finding.said}"
        return f"{breach}\n\n{found}\n  file:    none, {finding.not_shrunk}"
    race = parse(finding.race, races.path(finding))
    lines = [f"{finding.invariant}: {finding.said}"]
    if is_calm(finding):
        # The file of a race without a line is named in `--json` alone.
        line = f"The calm run violates this, so it takes no race: {races.calm(race)}"
        return "\n".join([*lines, line, "", *_story(race, recipe), *_page(finding, races)]).rstrip()
    lines += ["", *_story(race, recipe)]
    lines += [f"  without: {race.left_out}"] if race.without else []
    lines += [f"  late:    {hold}" for hold in race.holds]
    whys = {legal.fault: legal.why for legal in finding.faults}
    lines += [f"  fails:   {each.told}. {whys.get(str(each), '')}".rstrip() for each in race.faults]
    lines += [f"  picked:  {picked}" for picked in race.picks]
    if len(race) and not finding.not_shrunk:
        # The shrinker has left out each line by itself, and kept those without which it held.
        lines.append(
            "  needed:  every one of these lines; leave out any one, and it does not break"
        )
    if finding.window:
        lines.append(f"  window:  {finding.window}")
    elif finding.no_window and race.holds:
        lines.append(f"  window:  not measured, {finding.no_window}")
    elif race.holds:
        lines.append("  window:  a matter of order alone, within one instant")
    lines.append(found)
    if finding.not_shrunk:
        left = counted(finding.deviations, "deviation")
        lines.append(f"  shrunk:  not to the end, {left} left: {finding.not_shrunk}")
    if kept := races.kept(finding):
        lines.append(f"  kept:    {kept} was there, and is another race")
    lines += _page(finding, races)
    if unwritten := races.unwritten.get(finding.name):
        return "\n".join([*lines, f"  file:    none, {unwritten}", "", finding.race.rstrip()])
    lines += [f"  file:    {races.path(finding)}", f"  again:   {races.again(finding)}"]
    return "\n".join(lines)


def _page(finding: Finding, races: Races) -> list[str]:
    """The line that names its page, or says why there is none; nothing if none was asked for."""
    page = races.pages.get(finding.name)
    return (
        [] if page is None else [f"  page:    {'' if isinstance(page, Path) else 'none, '}{page}"]
    )


def _page_as_dict(finding: Finding, races: Races) -> dict[str, str | None]:
    page = races.pages.get(finding.name)
    return {} if page is None else {"page": str(page) if isinstance(page, Path) else None}


def _story(race: Race, recipe: Scenario) -> list[str]:
    """The story of a race. A scenario that only raises now and then has none, but still a race."""
    try:
        played = play(race, recipe)
        for _ in range(0 if recipe.attendance is None else RETOLD_MAX):
            if played.verdict.is_violated:
                break
            played = play(race, recipe)
        return [story(played.trace, played.verdict, race.breaks), ""]
    except Exception as error:  # noqa: BLE001 - the scenario's own
        return [f"It cannot be told: played again, it raises {type(error).__name__}: {error}", ""]


def as_dict(search: Search, races: Races, **more: Any) -> dict[str, Any]:
    """The search as `--json` shows it."""
    coverage = search.coverage
    return {
        "verdict": outcome_of(search),
        "said": verdict_line(search),
        "runs": search.runs,
        "verdicts": verdicts_of(search),
        "compared": search.compared,
        "not_compared": search.not_compared,
        "allowed": search.allowed,
        "tried": search.tried.as_dict(),
        "level": search.level,
        **({} if search.until_ms is None else {"until_ms": search.until_ms}),
        "breaches": search.findings.breaches,
        "findings": [
            {
                **finding.as_dict(),
                "file": races.path(finding) if finding.race else None,
                "kept": races.kept(finding) or None,
                **_page_as_dict(finding, races),
                "again": races.again(finding) if finding.race else more["again"],
            }
            for finding in search.found
        ],
        "shares": {
            arm.name: {"runs": arm.runs, "percent": arm.percent} for arm in search.portfolio.arms
        },
        "played_by": search.played_by,
        "coverage": {
            "pairs": coverage.pairs,
            "ways": coverage.ways,
            "chance_of_more": coverage.chance_of_more,
        },
        "stopped": search.stopped,
        "reports": search.engine.reports,
        **more,
    }
