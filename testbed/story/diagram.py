"""Diagram: one Run as lifelines, a column for each actor, a row for each thing it did or was told.

1. A long Run does not fit. It shows all rows, else those that matter, else those that the story
   speaks of: the first of these that fits. A fold counts the rows that are left out.
2. A text stands in the column of its actor, and runs on over the columns to its right. So actors
   stand in the order in which they first appear, and the columns are as wide as there is room for.
3. A lifeline is dotted while its actor does not know what has changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import attrs

from testbed.store.change import plural_of
from testbed.story.cause import Cause
from testbed.story.knowledge import changed_nothing
from testbed.story.sentences import Sentences
from testbed.story.slice import Slice
from testbed.turns.found import words_of
from testbed.turns.option import DELIVER, FAULT, HOLD, PICK, SAY, SERVE, START
from testbed.turns.trace import Record, Step, Trace
from testbed.words import spoken, withheld

WIDTH_MAX = 100
COLUMNS_MAX = 8
GAP_MIN, GAP_MAX = 6, 36
TEXT_MIN = 46
"""The width left for a text in the last column, if possible."""
FITS = (18, 36, 37)
"""The most lines for all rows, for those that matter, and for those that the story tells of."""
NAMED_MAX = 3
"""A fold names at most this many actors."""
DID, TOLD, NOTED, STRUCK, LATE, ASKED, SAID = "●", "◂", "·", "⚡", "◌", "○", "»"
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
    """What sort of thing it is: the actor did, recorded or said it, was told, struck or late."""
    text: str
    weight: int
    """Whether it only happened, matters, or the sentences speak of it."""
    is_trouble: bool = False
    """Whether it was held back, struck or refused."""
    is_of_cause: bool = False
    """Whether the cause speaks of it: then it is never left out."""

    def stays(self, *, keeps_trouble: bool) -> bool:
        """Whether it is shown however many rows there are."""
        return self.is_of_cause or (keeps_trouble and self.is_trouble)


@attrs.frozen
class Fold:
    """Rows that are left out, counted by actor."""

    left: dict[str, int]

    def __str__(self) -> str:
        counts = list(self.left.items())
        if len(counts) > NAMED_MAX:
            return f"… {sum(self.left.values()):,} more by {len(counts)} actors"
        first = f"… {counts[0][1]:,} more by {counts[0][0]}"
        return ", ".join([first, *(f"{count:,} by {actor}" for actor, count in counts[1:])])


class Rows:
    """Everything that one Run can show, and when each actor did not know what had changed."""

    def __init__(self, trace: Trace, slice_: Slice, tale: Sentences) -> None:
        self._slice = slice_
        self._spoken_of = tale.spoken_of
        self._of_cause = set(tale.cause.steps) if tale.cause is not None else set()
        self._recorded = (tale.cause.step, tale.cause.did) if tale.cause is not None else (0, "")
        held = [step for step in slice_.steps if step.kind == HOLD]
        freed = [step.number for step in map(slice_.freed, held) if step is not None]
        self._troubled = {sent.step for sent in slice_.requests.all if sent.refused} | {*freed}
        violation = slice_.violation
        self.last = slice_.end
        self.broken = violation.invariant if violation else ""
        """The claim that was broken; empty if none was."""
        happened = [row for item in trace.items if (row := self._row(item)) is not None]
        rows = [*self._overs(), *happened, *self._decisions()]
        rows = [row for row in rows if row.step <= self.last]
        self.all = sorted(rows, key=lambda row: row.step)
        self._keep_who_is_named(tale.cause)
        self._blind: list[tuple[str, int, int]] = []
        """An actor, the step of a write that it missed, and the step in which it learned of it."""
        for stale in slice_.stale:
            version = stale.missed[0]
            told = slice_.knowledge.first_told(stale.act, version)
            until = told.step if told else self.last + 1
            self._blind.append((stale.act.actor, version.step, until))

    def _keep_who_is_named(self, cause: Cause | None) -> None:
        """Let each actor that the cause names have a row that is never left out: its last one that
        matters, if the cause speaks of no Step of it."""
        words = words_of(cause.text) if cause is not None else set()
        for actor in sorted(self._slice.actors & words):
            own = [place for place, row in enumerate(self.all) if row.actor == actor]
            if own and not any(self.all[place].is_of_cause for place in own):
                last = max(own, key=lambda place: (self.all[place].weight, place))
                self.all[last] = attrs.evolve(self.all[last], is_of_cause=True)

    def is_blind(self, actor: str, step: int) -> bool:
        """Whether that actor did not know at that Step what had changed."""
        return any(a == actor and since <= step < until for a, since, until in self._blind)

    def shown(
        self, fits: tuple[int, int, int] = FITS, *, keeps_trouble: bool = False
    ) -> list[Row | Fold]:
        """The rows that fit, with a fold wherever some are left out. With `keeps_trouble`, no row
        is left out that was held back, struck or refused, though there may be too many then."""
        lines: list[Row | Fold] = []
        for weight, lines_max in enumerate(fits):
            lines = folded(self.all, weight, keeps_trouble=keeps_trouble)
            if len(lines) <= lines_max:
                return lines
        # Even those that the story tells of are too many: the last ones lead to what broke.
        lines_max = fits[SPOKEN_OF] - 1
        left = lines[:-lines_max]
        kept = [
            row for row in left if isinstance(row, Row) and row.stays(keeps_trouble=keeps_trouble)
        ]
        counts: Counter[str] = Counter()
        for line in left:
            if line not in kept:
                counts.update(line.left if isinstance(line, Fold) else {line.actor: 1})
        return [Fold(dict(counts)), *kept, *lines[-lines_max:]]

    def _decisions(self) -> Iterator[Row]:
        """The turns in which stale writes were decided: each takes effect later."""
        acts = {stale.act.step: stale.act for stale in self._slice.stale}
        for act in acts.values():
            if act.decided != act.step and act.versions:
                now_ms = self._slice.causality.steps[act.decided].now_ms
                text = f"decides to {act.word} {act.keys[0]}"
                yield Row(act.decided, now_ms, act.actor, ASKED, text, SPOKEN_OF)

    def _overs(self) -> Iterator[Row]:
        """Where each lasting fault was over, with the weight of the row in which it struck."""
        for step in self._slice.steps:
            over = self._slice.over(step) if step.kind == FAULT else None
            if over is not None:
                text, who = step.option.fault.recovery, step.option.key
                row = self._weighed(step.number, step.now_ms, who, STRUCK, text, is_about=True)
                yield attrs.evolve(row, step=over.number, now_ms=over.now_ms)

    def _row(self, item: Step | Record) -> Row | None:
        if isinstance(item, Record):
            actor, text = item.path.partition("/")[0], item.said.removeprefix("recorded ")
            row = self._weighed(item.step, item.now_ms, actor, NOTED, text, is_about=True)
            return attrs.evolve(row, is_of_cause=(item.step, item.name) == self._recorded)
        if item.kind == SAY:
            # What a real program has written is of no Step; it is shown if there is room.
            option = item.option
            return Row(item.number, item.now_ms, option.actor, SAID, option.label, MATTERS)
        found = self._happened(item)
        if found is None:
            return None
        actor, mark, text, is_about = found
        return self._weighed(item.number, item.now_ms, actor, mark, text, is_about=is_about)

    def _weighed(
        self, step: int, now_ms: int, actor: str, mark: str, text: str, *, is_about: bool
    ) -> Row:
        matters = step in self._slice.needed and is_about
        weight = SPOKEN_OF if step in self._spoken_of and is_about else int(matters)
        is_trouble = mark in (STRUCK, LATE) or step in self._troubled
        is_of_cause = step in self._of_cause and mark != NOTED
        return Row(step, now_ms, actor, mark, text, weight, is_trouble, is_of_cause)

    def _happened(self, step: Step) -> tuple[str, str, str, bool] | None:
        """The actor, mark and text of a Step's row, and whether it is about a shared object."""
        option, shared = step.option, self._slice.shared
        if step.kind == SERVE and (option.verb != "watch" or step.outcome):
            return self._served(step)
        if step.kind == DELIVER and option.key in shared and step.revision:
            version = self._slice.knowledge.version(option.key, int(step.revision))
            if version is not None and version.actor == option.actor:
                return None  # the news of its own write
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
        written = [change.key for change in step.marks.changes]
        keys = named_first(option.key, written) or [option.key]
        answer = step.outcome or (f"rv {step.revision}" if step.revision else "done")
        answer += ", changed nothing" if changed_nothing(step) else ""
        verb, _, part = option.verb.partition(".")
        word = spoken(*verb.partition("/")[::2]) + (f" (part {part})" if part else "")
        named = keys[0] + (f" and {len(keys) - 1} more" if len(keys) > 1 else "")
        if "/" in option.key and plural_of(keys[0]) != plural_of(option.key):
            named = f"{option.key}: changes {named}"
        is_about = not self._slice.shared.isdisjoint(keys) or option.key in self._kinds
        return option.actor, DID, f"{word} {named} → {answer}", is_about

    @property
    def _kinds(self) -> set[str]:
        return {key.partition("/")[0] for key in self._slice.shared}


def named_first(asked: str, written: list[str]) -> list[str]:
    """What a request wrote, that of the kind it was about before what was written for it."""
    return sorted(written, key=lambda key: plural_of(key) != plural_of(asked))


def folded(rows: list[Row], weight: int, *, keeps_trouble: bool = False) -> list[Row | Fold]:
    """The rows of that weight or more, and a Fold wherever more than one is left out."""
    lines: list[Row | Fold] = []
    left: list[Row] = []

    def fold() -> None:
        if len(left) > 1:
            lines.append(Fold(dict(Counter(row.actor for row in left))))
        else:
            lines.extend(left)
        left.clear()

    for row in rows:
        if row.weight < weight and not row.stays(keeps_trouble=keeps_trouble):
            left.append(row)
        else:
            fold()
            lines.append(row)
    fold()
    return lines


def diagram(rows: Rows) -> str:
    """The Run as text: at most 40 lines of at most 100 characters."""
    shown = rows.shown()
    if not shown:
        return ""
    return "\n".join(line.rstrip() for line in _Layout(rows, shown).lines())


class _Layout:
    """Places the columns of one diagram, and draws its lines."""

    def __init__(self, rows: Rows, shown: list[Row | Fold]) -> None:
        self._rows = rows
        self._shown = shown
        acting = [row for row in shown if isinstance(row, Row)]
        first = {row.actor: row.step for row in reversed(rows.all)}
        busy = Counter(row.actor for row in acting)
        # The actors that the story tells of get a column first, then the busiest. The rows of the
        # others stand at the margin, each with the name of its actor.
        named = {row.actor for row in acting if row.weight == SPOKEN_OF}
        most = sorted(busy, key=lambda actor: (actor not in named, -busy[actor], first[actor]))
        actors = sorted(most[:COLUMNS_MAX], key=lambda actor: (first[actor], actor))
        self._has_time = any(row.now_ms for row in acting)
        last = max((row.step for row in acting), default=0)
        latest = max((row.now_ms for row in acting), default=0)
        self._step_width = max(4, len(f"{last}"))
        self._ms_width = max(8, 1 + len(f"{latest:,}")) if self._has_time else 0
        self._margin = self._step_width + self._ms_width + 2
        # The last column needs room for a text. The others share what is left of the line: a text
        # may run over the lifelines to its right, so a gap can be narrower than a text.
        longest = max((len(f"{row.mark} {row.text}") for row in acting), default=0)
        spare = WIDTH_MAX - self._margin - max(TEXT_MIN, min(longest, 60))
        gap = spare // max(len(actors) - 1, 1)
        gap = min(max(gap, GAP_MIN), max(GAP_MAX // 2, longest + 2), GAP_MAX)
        self._columns = {actor: self._margin + place * gap for place, actor in enumerate(actors)}
        self._gap = gap

    def lines(self) -> Iterator[str]:
        """The names of the actors, the rows, what broke, and what a dotted line means."""
        steps, times = self._step_width, self._ms_width
        margin = f"{'step':>{steps}}" + (f"{'ms':>{times}}" if self._has_time else "")
        names = {actor: self._cut(actor, self._gap - 1) for actor in self._columns}
        yield self._placed(margin, names)
        now_ms = 0
        for line in self._shown:
            if isinstance(line, Fold):
                yield f"{'…':>{steps}}{'':{self._margin - steps}}{self._cut(str(line)[2:], 80)}"
                continue
            at = f"{line.step:>{steps}}"
            at += f"{line.now_ms:>{times},}" if line.now_ms != now_ms else ""
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
        text = self._cut(f"{row.mark} {who}{row.text}", WIDTH_MAX - place)
        lifelines = {
            actor: "┊" if self._rows.is_blind(actor, row.step) else "│"
            for actor, column in self._columns.items()
            if column < place or column > place + len(text)
        }
        line = self._placed(margin, lifelines)
        return f"{line[:place]:{place}}{text}{line[place + len(text) :]}"

    def _placed(self, margin: str, texts: dict[str, str]) -> str:
        line = margin
        for actor, text in texts.items():
            line = f"{line:{self._columns[actor]}}{text}"
        return line

    def _cut(self, text: str, width: int) -> str:
        return text if len(text) <= width else f"{text[: width - 1]}…"
