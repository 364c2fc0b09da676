"""Saying: what was tried, in sentences. `notable` says what a reader should know; `figures` all.

Of a healthy World nothing is notable. That an actor was refused now and then is none of it:
controllers expect a Conflict, and that something is not there.
"""

from __future__ import annotations

from collections.abc import Iterator

from testbed.words import counted, names_of
from testbed.world.tried.counts import (
    ABSENT,
    JUDGED,
    PASSED,
    READ,
    REFUSED,
    STRUCK,
    UNHEARD,
    WAITED,
    WROTE,
    TriedCounts,
)

EXPECTED = ("404", "409", "410", "429")
"""The codes of refusals that controllers expect, and try again."""
REFUSALS_MAX = 3
"""How many refusals are notable at most, the most frequent first."""


def notable(tried: TriedCounts) -> list[str]:
    """Return what never happened, and who was refused what, a sentence each; but not what the
    verdict says, if nothing was tried: that nobody got anything done, and what was refused most."""
    actors = () if tried.why_nothing else _actors(tried)
    return [*_time(tried), *actors, *_refusals(tried), *_rest(tried)]


def _in(tried: TriedCounts) -> str:
    """The number of Runs, if there were several."""
    return f" in {counted(tried.runs, 'run')}" if tried.runs > 1 else ""


def _time(tried: TriedCounts) -> Iterator[str]:
    waiting = [actor for (actor,), _ in tried.under(WAITED)]
    asleep = [path for path in tried.never(PASSED) if path.partition("/")[0] in waiting]
    if waiting and not tried.ms_max:
        yield f"0 ms were played; {names_of(waiting)} still had timers."
    elif asleep:
        yield f"{names_of(asleep)} never ran past a timer{_in(tried)}."


def _actors(tried: TriedCounts) -> Iterator[str]:
    """Who never got anything done: of one Run only who asked for nothing either, since in another
    order an actor may have something to do."""
    reads = {names[0]: count for names, count in tried.under(READ)}
    idle = [name for name in tried.never(WROTE) if tried.runs > 1 or not reads[name]]
    if idle:
        yield f"{names_of(idle)} never had a write served{_in(tried)}."


def _refusals(tried: TriedCounts) -> Iterator[str]:
    idle = tried.never(WROTE)
    rows = [
        (count, actor, code, said or reason)
        for (actor, code, reason, said), count in tried.under(REFUSED)
        if (code not in EXPECTED or actor in idle) and f"{code} {said}" not in tried.why_nothing
    ]
    rows.sort(key=lambda row: -row[0])
    for count, actor, code, said in rows[:REFUSALS_MAX]:
        yield f'{actor}: {count:,} × {code} "{said}"{_in(tried)}.'
    if len(rows) > REFUSALS_MAX:
        yield f"And {counted(len(rows) - REFUSALS_MAX, 'other refusal')}."


def _rest(tried: TriedCounts) -> Iterator[str]:
    for claim in tried.never(JUDGED):
        kinds = [names[0] for names, _ in tried.under(ABSENT, claim)]
        yield f"{claim} never had anything to judge{_in(tried)}: no {names_of(kinds)}."
    for (claim,), runs in tried.under(UNHEARD):
        if runs == tried.runs > 1:
            yield f"{claim} reads what actors record, and none recorded anything{_in(tried)}."
    faults = tried.never(STRUCK)
    if faults and tried.runs > 1:
        yield f"{names_of(faults)} never struck{_in(tried)}."


def figures(tried: TriedCounts) -> list[str]:
    """Return all that was counted, a line each."""
    lines = [f"{counted(tried.runs, 'run')}, up to {tried.ms_max:,} ms"]
    reads = {names[0]: count for names, count in tried.under(READ)}
    for (actor,), count in tried.under(WROTE):
        served = f"{counted(count, 'write')} and {counted(reads[actor], 'read')} served"
        lines.append(f"{actor}: {served}")
    for (actor, code, reason, said), count in tried.under(REFUSED):
        lines.append(f'{actor}: {count:,} × {code} {reason} "{said}"')
    waiting = {names[0] for names, _ in tried.under(WAITED)}
    for (path,), count in tried.under(PASSED):
        left = "; it still had one" if path.partition("/")[0] in waiting else ""
        lines.append(f"{path}: {counted(count, 'timer')} ended{left}")
    for (claim,), count in tried.under(JUDGED):
        lines.append(f"{claim}: something to judge in {counted(count, 'run')}")
    lines += [f"{fault}: struck {count:,} ×" for (fault,), count in tried.under(STRUCK)]
    return lines
