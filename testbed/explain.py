"""Explain: from a kept trace to a story, who read what, when it went stale, who acted on it."""

from __future__ import annotations

import attrs

from testbed.option import FAULT, PICK, SERVE, START
from testbed.trace import Record, Step, Trace

WRITES = ("create", "update", "delete", "txn")
ROWS_MAX = 24
COLUMN_MAX = 34


@attrs.frozen
class Row:
    """One line of the story: who, in whose column, and what it did."""

    actor: str
    said: str


def story(trace: Trace) -> str:
    """The Run as a table with a column for each actor, then what went stale."""
    rows = [row for item in trace.items if (row := _row(item)) is not None]
    return "\n".join([_table(rows), "", *_stale(trace.steps)]).rstrip()


def _row(item: Step | Record) -> Row | None:
    if isinstance(item, Record):
        facts = " ".join(f"{name}={value}" for name, value in item.facts.items())
        return Row(item.path.partition("/")[0], f"· {item.name} {facts}".rstrip())
    option = item.option
    if item.kind == FAULT:
        return Row(option.actor or option.key, f"⚡ {option.verb} {option.key}")
    if item.kind == PICK:
        return Row(option.actor, f"picks {option.verb}: {option.label}")
    if item.kind == START and option.nth > 1 and option.path == f"{option.actor}/main":
        return Row(option.actor, "starts again")
    if item.kind != SERVE:
        return None
    said = item.outcome or (f"rv {item.revision}" if item.revision else "done")
    keys = [change.key for change in item.marks.changes] or [option.key]
    return Row(option.actor, f"{option.verb} {', '.join(keys)} → {said}")


def _table(rows: list[Row]) -> str:
    """Columns in the order in which the actors first act; a long stretch of one actor is folded."""
    rows = _folded(rows)
    actors = list(dict.fromkeys(row.actor for row in rows))
    widths = {
        actor: min(COLUMN_MAX, max([len(actor), *(len(r.said) for r in rows if r.actor == actor)]))
        for actor in actors
    }
    lines = ["  ".join(actor.ljust(widths[actor]) for actor in actors)]
    lines.append("  ".join("─" * widths[actor] for actor in actors))
    for row in rows:
        indent = sum(widths[actor] + 2 for actor in actors[: actors.index(row.actor)])
        lines.append(" " * indent + row.said)
    return "\n".join(line.rstrip() for line in lines)


def _folded(rows: list[Row]) -> list[Row]:
    """Of a long uninterrupted stretch of one actor, the ends."""
    folded: list[Row] = []
    stretch: list[Row] = []
    for row in [*rows, Row("", "")]:
        if stretch and row.actor != stretch[0].actor:
            folded += stretch if len(stretch) <= 6 else _ends(stretch)
            stretch = []
        stretch.append(row)
    if len(folded) > ROWS_MAX:
        left = len(folded) - ROWS_MAX
        folded = [Row(folded[0].actor, f"… {left} earlier lines"), *folded[-ROWS_MAX:]]
    return folded


def _ends(stretch: list[Row]) -> list[Row]:
    middle = Row(stretch[0].actor, f"… {len(stretch) - 4} more …")
    return [*stretch[:2], middle, *stretch[-2:]]


def _stale(steps: list[Step]) -> list[str]:
    """A sentence for each write over something that its writer had read, or written itself, and
    somebody else has changed since."""
    known: dict[tuple[str, str], tuple[str, str, int]] = {}
    written: dict[str, tuple[str, str, int]] = {}
    said = []
    for step in steps:
        option = step.option
        if step.kind != SERVE or step.outcome:
            continue
        if option.verb in WRITES:
            knew, wrote = known.get((option.path, option.key)), written.get(option.key)
            if knew and wrote and wrote[2] > knew[2] and wrote[0] != option.actor:
                said.append(
                    f"{option.actor} {knew[0]} {option.key} at rv {knew[1]} (step {knew[2]}); "
                    f"{wrote[0]} wrote it at rv {wrote[1]} (step {wrote[2]}); {option.actor} still "
                    f"knew rv {knew[1]} and wrote rv {step.revision} over it (step {step.number})."
                )
            for change in step.marks.changes:
                written[change.key] = (option.actor, step.revision, step.number)
            known[option.path, option.key] = ("wrote", step.revision, step.number)
        elif step.revision:
            known[option.path, option.key] = ("read", step.revision, step.number)
    return said
