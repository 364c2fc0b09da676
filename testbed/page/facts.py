"""Facts: what stands beside the story: figures, how far was looked, and what to keep."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from testbed.errors import ScenarioError
from testbed.page.subject import PageSubject
from testbed.races.race import expect_lines
from testbed.races.window import windows
from testbed.story.explain import versions_of
from testbed.words import counted

BOUNDS = {
    "turns_max": "turns",
    "virtual_ms_max": "ms of virtual time",
}


def figures(subject: PageSubject) -> list[dict[str, str]]:
    """At most four short facts beside the verdict."""
    race, verdict = subject.race, subject.verdict
    counts = [(len(race.holds), "hold"), (len(race.faults), "fault"), (len(race.picks), "pick")]
    lines = ", ".join(counted(count, what) for count, what in counts if count)
    found = []
    if lines or not verdict.attended:  # an attended Run without a line is no calm run
        found.append(_fact("it takes", lines or "no deviation: it is the calm run"))
    if window := _window(subject):
        found.append(_fact("window", window))
    found.append(_fact("faults struck", f"{verdict.faults:,}"))
    found.append(_fact("virtual time", f"{verdict.virtual_ms:,} ms"))
    return found


def _window(subject: PageSubject) -> str:
    """How long the narrowest hold must last; empty if that says nothing."""
    race, violation = subject.race, subject.violation
    if not race.holds or violation is None or subject.verdict.attended:
        return ""
    try:
        found = windows(race, subject.recipe, violation)
    except ScenarioError:
        return ""
    if not found:
        return "order alone"
    first = min(found, key=lambda each: (each.width_ms is None, each.width_ms or 0))
    if first.most_ms is None:
        return f"{first.least_ms:,} ms or more"
    return f"{first.least_ms:,} to {first.most_ms:,} ms"


def looked(subject: PageSubject) -> list[dict[str, str]]:
    """How far was looked, and under which settings."""
    verdict, trace, race = subject.verdict, subject.trace, subject.race
    by = f", attended by {' and '.join(verdict.attended)}" if verdict.attended else ""
    runs = f"1 run ({verdict.chooser}){by}, {counted(verdict.turns, 'turn')}, "
    runs += f"{verdict.virtual_ms:,} ms virtual time, {counted(verdict.faults, 'fault')}"
    found = [_fact("looked at", runs), _fact("played by", versions_of(trace))]
    switches = trace.header.get("switches", {})
    if switches:
        given = ", ".join(f"{name}={value}" for name, value in switches.items())
        found.append(_fact("switches", given))
    if race.without:
        found.append(_fact("left out of the scenario", race.left_out))
    if trace.played_in is not None:
        budget = trace.played_in.budget
        bounds = [f"{getattr(budget, name):,} {what}" for name, what in BOUNDS.items()]
        found.append(_fact("a run ends after", " or ".join(bounds)))
    tried = len(subject.tried)
    if tried:
        found.append(_fact("left out one by one", counted(tried, "line")))
    if verdict.note:
        found.append(_fact("note", verdict.note))
    return found


def keep(subject: PageSubject) -> list[dict[str, str]]:
    """What to keep: the race file, the line for pytest, the versions it was seen with."""
    race = subject.race
    found = [_kept("Play it again", subject.again)]
    if len(race) or subject.file:
        found.append(_kept("The race file", subject.text or race.text()))
    if subject.file:
        found.append(_kept("As a test", shlex.join(["pytest", subject.file])))
    if race.expect:
        found.append(_kept("What is expected", "\n".join(expect_lines(race.expect))))
    found.append(_kept("Seen with", versions_of(subject.trace)))
    return found


def race_of_page(subject: PageSubject) -> dict[str, Any] | None:
    """The race file; None if it is the calm run of a scenario."""
    if not (len(subject.race) or subject.file):
        return None
    short = subject.recipe.name.rpartition(":")[2]
    name = Path(subject.file).name if subject.file else f"{short}.race.yaml"
    return {"file": name, "text": subject.text or subject.race.text()}


def _fact(label: str, value: str) -> dict[str, str]:
    return {"label": label, "value": value}


def _kept(label: str, text: str) -> dict[str, str]:
    return {"label": label, "text": text}
