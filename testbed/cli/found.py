"""How a search tells what it has found: the verdict, the shares, each Finding with its story; and
the race files."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from testbed.cli.show import replay_line
from testbed.counted import counted
from testbed.errors import ScenarioError
from testbed.explain import story
from testbed.finding import Finding
from testbed.racefile import parse
from testbed.racing import play
from testbed.scenario import Scenario
from testbed.search import Search

FOLDER = "races"
"""Where race files go if nothing else is said."""


class Races:
    """The folder of race files; each is there as soon as its Finding is."""

    def __init__(self, folder: str, recipe: Scenario, folders: Sequence[str] = ()) -> None:
        self.folders = folders
        """Where the scenario was found, if it is one's own."""
        self.folder = Path(folder)
        self.recipe = recipe

    def path(self, finding: Finding) -> str:
        """`races/double_bind-no_node_is_overcommitted.race.yaml`."""
        short = self.recipe.name.rpartition(":")[2]
        return str(self.folder / f"{short}-{finding.name}.race.yaml")

    def write(self, finding: Finding) -> None:
        """In one piece, or not at all: a file that was there is replaced when this is whole."""
        path = Path(self.path(finding))
        half = path.with_name(path.name + ".new")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            half.write_text(finding.race, encoding="utf-8")
            half.replace(path)
        except OSError as error:
            raise ScenarioError(
                f"--out {self.folder}: {path.name} cannot be written: {error.strerror}.\n"
                "Next: name a folder you may write, on a disk with room."
            ) from error

    def again(self, finding: Finding) -> str:
        """The line to paste."""
        if not self.folders:
            return replay_line(self.path(finding), self.recipe.name)
        words = [word for folder in self.folders for word in ("--scenario-path", folder)]
        return shlex.join(["testbed", "replay", self.path(finding), *words])


def outcome_of(search: Search) -> str:
    """violated, held or undecided."""
    if search.found:
        return "violated"
    return "undecided" if why_undecided(search) else "held"


def why_undecided(search: Search) -> str:
    """What kept the search from deciding; empty if nothing did."""
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
    return ""


def verdict_line(search: Search) -> str:
    """The verdict, and how far it looked."""
    looked = [] if search.to_the_end else [counted(search.runs, "run")]
    if search.level:
        looked.insert(0, search.level)
    if search.found:
        breached = ", ".join(
            f"{name} in {counted(count, 'run')}" for name, count in search.findings.breaches.items()
        )
        said = f"Violated: {breached}. Looked at"
        if search.stopped:
            looked.append(search.stopped)
    elif why := why_undecided(search):
        said = f"Undecided: {why}. Looked at"
    else:
        said = "Held"
    return f"{said}: {', '.join(looked)}."


def shares_line(search: Search) -> str:
    """Who has played how many Runs, and what share of the next he would have."""
    percents = {arm.name: f" ({arm.percent} %)" for arm in search.portfolio.arms}
    played = [f"{by} {count}{percents.get(by, '')}" for by, count in search.played_by.items()]
    said = f"Played by: {', '.join(sorted(played))}."
    if search.to_the_end:
        return said
    more = search.coverage.chance_of_more
    return f"{said}\nThe chance that the next run shows something new: {more}."


def told_finding(finding: Finding, races: Races, recipe: Scenario) -> str:
    """One Finding as a person reads it."""
    race = parse(finding.race, races.path(finding))
    played = play(race, recipe)
    lines = [f"{finding.invariant}: {finding.said}", "", story(played.trace), ""]
    lines += [f"  late:    {hold}" for hold in race.holds]
    lines += [f"  fails:   {legal.fault}. {legal.why}" for legal in finding.faults]
    lines += [f"  picked:  {picked}" for picked in race.picks]
    if finding.window:
        lines.append(f"  window:  {finding.window}")
    elif race.holds:
        lines.append("  window:  a matter of order alone, within one instant")
    looked = f"run {finding.run} ({finding.chooser}), after {counted(finding.runs, 'run')}"
    lines.append(f"  found:   {looked}" + (f"; {finding.level}" if finding.level else ""))
    if finding.not_shrunk:
        lines.append(f"  whole:   {counted(finding.deviations, 'deviation')}; {finding.not_shrunk}")
    lines += [f"  file:    {races.path(finding)}", f"  again:   {races.again(finding)}"]
    return "\n".join(lines)


def as_dict(search: Search, races: Races, **more: Any) -> dict[str, Any]:
    """The search as `--json` shows it."""
    coverage = search.coverage
    return {
        "verdict": outcome_of(search),
        "said": verdict_line(search),
        "runs": search.runs,
        "verdicts": search.verdicts,
        "level": search.level,
        "breaches": search.findings.breaches,
        "findings": [
            {
                **finding.as_dict(),
                "file": races.path(finding),
                "again": races.again(finding),
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
