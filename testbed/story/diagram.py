"""Diagram: one Run as lifelines, a column for each actor, a row for what each did or was told.

Of a long Run only some rows are shown: all of them, or those that matter, or those the tale speaks
of, whichever is the first that fits; what is left out is counted where it was. A lifeline is dotted
while its actor does not know what has changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import attrs

from testbed.story.knowledge import changed_nothing
from testbed.story.sentences import Tale
from testbed.story.slice import Slice
from testbed.turns.option import DELIVER, FAULT, HOLD, PICK, SERVE, START
from testbed.turns.trace import Record, Step, Trace
from testbed.words import spoken, withheld

WIDTH_MAX = 100
COLUMNS_MAX = 8
GAP_MIN, GAP_MAX = 6, 36
TEXT_MIN = 46
"""So wide the last column is, if that is possible at all."""
FITS = (18, 36, 37)
"""So many lines all rows may take, those that matter, those that are spoken of."""
NAMED_MAX = 3
"""So many actors a fold names."""
DID, TOLD, NOTED, STRUCK, LATE, ASKED = "●", "◂", "·", "⚡", "◌", "○"
BROKE = "✗"
ANY, MATTERS, SPOKEN_OF = range(3)


@attrs.frozen
class Row:
    """One line of the diagram."""

    step: int
    now_ms: int
    actor: str
    """In whose column it stands."""
    mark: str
    """Whether it did something, was told, noted it for us, or was struck or late."""
    said: str
    weight: int
    """Whether it only happened, matters, or is spoken of."""


@attrs.frozen
class Fold:
    """Rows left out: how many of whom."""

    left: dict[str, int]

    def __str__(self) -> str:
        counts = list(self.left.items())
        if len(counts) > NAMED_MAX:
            return f"… {sum(self.left.values()):,} more by {len(counts)} actors"
        first = f"… {counts[0][1]:,} more by {counts[0][0]}"
        return ", ".join([first, *(f"{count:,} by {actor}" for actor, count in counts[1:])])


class Rows:
    """What there is to show of one Run, and who did not know what when."""

    def __init__(self, trace: Trace, matter: Slice, tale: Tale) -> None:
        self._matter = matter
        self._spoken_of = tale.spoken_of
        violation = matter.violation
        self.last = violation.step if violation else len(matter.steps)
        self.broken = violation.invariant if violation else ""
        """The claim that was broken; empty if none was."""
        told = [row for item in trace.items if (row := self._row(item)) is not None]
        rows = [*self._overs(), *told, *self._decisions()]
        rows = [row for row in rows if row.step <= self.last]
        self.all = sorted(rows, key=lambda row: row.step)
        knowledge = matter.knowledge
        self._blind: list[tuple[str, int, int]] = []
        for stale in matter.stale:
            version = stale.missed[0]
            heard = knowledge.heard(stale.act, version)
            until = heard.step if heard else self.last + 1
            self._blind.append((stale.act.actor, version.step, until))

    def is_blind(self, actor: str, step: int) -> bool:
        """Whether that actor did not know, at that Step, what had changed."""
        return any(a == actor and since <= step < until for a, since, until in self._blind)

    def shown(self, fits: tuple[int, int, int] = FITS) -> list[Row | Fold]:
        """Those that fit; what is left out is folded."""
        lines: list[Row | Fold] = []
        for weight, lines_max in enumerate(fits):
            lines = folded(self.all, weight)
            if len(lines) <= lines_max:
                return lines
        lines_max = fits[SPOKEN_OF] - 1
        left = lines[:-lines_max]
        counts: Counter[str] = Counter()
        for line in left:
            counts.update(line.left if isinstance(line, Fold) else {line.actor: 1})
        return [Fold(dict(counts)), *lines[-lines_max:]]

    def _decisions(self) -> Iterator[Row]:
        """When those who acted on old news made up their minds."""
        acts = {stale.act.step: stale.act for stale in self._matter.stale}
        for act in acts.values():
            if act.decided != act.step and act.versions:
                now_ms = self._matter.causality.steps[act.decided].now_ms
                said = f"decides to {act.word} {act.keys[0]}"
                yield Row(act.decided, now_ms, act.actor, ASKED, said, SPOKEN_OF)

    def _overs(self) -> Iterator[Row]:
        """When a fault that lasted was over; that matters as much as that it struck."""
        for step in self._matter.steps:
            over = self._matter.over(step) if step.kind == FAULT else None
            if over is not None:
                said, who = step.option.fault.recovery, step.option.key
                row = self._weighed(step.number, step.now_ms, who, STRUCK, said, is_about=True)
                yield attrs.evolve(row, step=over.number, now_ms=over.now_ms)

    def _row(self, item: Step | Record) -> Row | None:
        if isinstance(item, Record):
            actor, said = item.path.partition("/")[0], item.said.removeprefix("recorded ")
            return self._weighed(item.step, item.now_ms, actor, NOTED, said, is_about=True)
        found = self._said(item)
        if found is None:
            return None
        actor, mark, said, is_about = found
        return self._weighed(item.number, item.now_ms, actor, mark, said, is_about=is_about)

    def _weighed(
        self, step: int, now_ms: int, actor: str, mark: str, said: str, *, is_about: bool
    ) -> Row:
        matters = step in self._matter.slice and is_about
        weight = SPOKEN_OF if step in self._spoken_of and is_about else int(matters)
        return Row(step, now_ms, actor, mark, said, weight)

    def _said(self, step: Step) -> tuple[str, str, str, bool] | None:
        """In whose column, with which mark, what, and whether it is about what is shared."""
        option, shared = step.option, self._matter.shared
        if step.kind == SERVE and (option.verb != "watch" or step.outcome):
            return self._served(step)
        if step.kind == DELIVER and option.key in shared and step.revision:
            version = self._matter.knowledge.version(option.key, int(step.revision))
            if version is not None and version.actor == option.actor:
                return None
            return option.actor, TOLD, f"is told of {option.key} rv {step.revision}", True
        if step.kind == FAULT:
            return option.actor or option.key, STRUCK, option.fault.describe(option.key), True
        if step.kind == PICK:
            return option.actor, NOTED, f"picks {option.verb}: {option.label}", True
        if step.kind == HOLD:
            held = withheld(option.label, option.verb, option.key)
            return option.actor or option.path, LATE, f"{held} is held back", option.key in shared
        if step.kind == START and option.nth > 1 and option.path == f"{option.actor}/main":
            return option.actor, STRUCK, "begins again, knowing nothing", True
        return None

    def _served(self, step: Step) -> tuple[str, str, str, bool]:
        option = step.option
        keys = [change.key for change in step.marks.changes] or [option.key]
        said = step.outcome or (f"rv {step.revision}" if step.revision else "done")
        said += ", changed nothing" if changed_nothing(step) else ""
        verb, _, part = option.verb.partition(".")
        word = spoken(*verb.partition("/")[::2]) + (f" (part {part})" if part else "")
        named = keys[0] + (f" and {len(keys) - 1} more" if len(keys) > 1 else "")
        is_about = not self._matter.shared.isdisjoint(keys) or option.key in self._kinds
        return option.actor, DID, f"{word} {named} → {said}", is_about

    @property
    def _kinds(self) -> set[str]:
        return {key.partition("/")[0] for key in self._matter.shared}


def folded(rows: list[Row], weight: int) -> list[Row | Fold]:
    """Those of that weight or more, and a Fold wherever more than one is left out."""
    lines: list[Row | Fold] = []
    left: list[Row] = []

    def fold() -> None:
        if len(left) > 1:
            lines.append(Fold(dict(Counter(row.actor for row in left))))
        else:
            lines.extend(left)
        left.clear()

    for row in rows:
        if row.weight < weight:
            left.append(row)
        else:
            fold()
            lines.append(row)
    fold()
    return lines


def diagram(rows: Rows) -> str:
    """The Run, drawn: at most 40 lines, at most 100 columns."""
    shown = rows.shown()
    if not shown:
        return ""
    return "\n".join(line.rstrip() for line in _Drawn(rows, shown).lines())


class _Drawn:
    """The columns and the lines of one diagram."""

    def __init__(self, rows: Rows, shown: list[Row | Fold]) -> None:
        self._rows = rows
        self._shown = shown
        acting = [row for row in shown if isinstance(row, Row)]
        first = {row.actor: row.step for row in reversed(rows.all)}
        busy = Counter(row.actor for row in acting)
        told = {row.actor for row in acting if row.weight == SPOKEN_OF}
        most = sorted(busy, key=lambda actor: (actor not in told, -busy[actor], first[actor]))
        actors = sorted(most[:COLUMNS_MAX], key=lambda actor: (first[actor], actor))
        self._has_time = any(row.now_ms for row in acting)
        self._margin = 14 if self._has_time else 6
        longest = max((len(f"{row.mark} {row.said}") for row in acting), default=0)
        spare = WIDTH_MAX - self._margin - max(TEXT_MIN, min(longest, 60))
        gap = spare // max(len(actors) - 1, 1)
        gap = min(max(gap, GAP_MIN), max(GAP_MAX // 2, longest + 2), GAP_MAX)
        self._columns = {actor: self._margin + place * gap for place, actor in enumerate(actors)}
        self._gap = gap

    def lines(self) -> Iterator[str]:
        """From the names of the actors down."""
        margin = f"step{'ms':>8}" if self._has_time else "step"
        names = {actor: self._cut(actor, self._gap - 1) for actor in self._columns}
        yield self._placed(margin, names)
        now_ms = 0
        for line in self._shown:
            if isinstance(line, Fold):
                yield f"{'…':>4}{'':{self._margin - 4}}{self._cut(str(line)[2:], 80)}"
                continue
            at = f"{line.step:>4}" + (f"{line.now_ms:>8,}" if line.now_ms != now_ms else "")
            now_ms = line.now_ms
            yield self._row(at, line)
        violation = self._rows.broken
        if violation:
            yield f"{'':{self._margin}}{BROKE} {self._cut(violation, WIDTH_MAX - self._margin - 2)}"
        acting = [line.step for line in self._shown if isinstance(line, Row)]
        if any(self._rows.is_blind(a, step) for a in self._columns for step in acting):
            yield f"{'':{self._margin}}┊ does not know yet what has changed"

    def _row(self, margin: str, row: Row) -> str:
        place = self._columns.get(row.actor, self._margin)
        who = "" if row.actor in self._columns else f"{row.actor}: "
        text = self._cut(f"{row.mark} {who}{row.said}", WIDTH_MAX - place)
        lives = {
            actor: "┊" if self._rows.is_blind(actor, row.step) else "│"
            for actor, column in self._columns.items()
            if column < place or column > place + len(text)
        }
        line = self._placed(margin, lives)
        return f"{line[:place]:{place}}{text}{line[place + len(text) :]}"

    def _placed(self, margin: str, texts: dict[str, str]) -> str:
        line = margin
        for actor, text in texts.items():
            line = f"{line:{self._columns[actor]}}{text}"
        return line

    def _cut(self, text: str, width: int) -> str:
        return text if len(text) <= width else f"{text[: width - 1]}…"
