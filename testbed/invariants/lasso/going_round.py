"""Going round: finds, in a World that goes on calmly, that everybody only goes round, and that what
differs from lap to lap only grows. Why such a lap never ends stands in `growth.py`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import ClassVar

import attrs

from testbed.invariant import TURN, Evidence, Invariant
from testbed.invariants.lasso.coarse import says_more
from testbed.invariants.lasso.differing import (
    differing_fields,
    on_the_wire,
    writer_of,
    writers_of,
)
from testbed.invariants.lasso.growth import Future, Masked, future_of, masked, steps_of, times_fit
from testbed.invariants.lasso.in_place import InPlace
from testbed.invariants.lasso.lap import (
    AGAIN,
    NO_LASSO,
    Write,
    about_lap,
    duration,
    ending,
    listed,
    sentences,
)
from testbed.invariants.lasso.lasting import Lasting
from testbed.invariants.lasso.likeness import Likeness, Unlike
from testbed.invariants.lasso.moment import Moment, moment, outline, ready, starved, tells_time
from testbed.invariants.lasso.renaming import Renaming
from testbed.objects.meta import Object
from testbed.objects.watched import Lookout, Watched, WatchedText, plain, plain_text
from testbed.turns.found import LAP, Found, Wrong
from testbed.turns.option import Option
from testbed.turns.trace import Step
from testbed.words import counted

LAPS_SEEN = 20
"""How many laps are played where something was lost from sight."""
PERIODS_MAX = 8
"""How often a lap may come by the place at which moments are taken, at most."""
MOMENTS_MAX = 120
"""The most moments that are taken."""
SILENT = 64
"""After how many turns without a commit each turn may be the end of a lap."""
TRIES_MAX = 2
"""How often numbers are watched in place."""
NUMBERS = re.compile(r"\d+")
READER = "/cache-"
"""In the path of a task that reads for a Cache."""
GROWN_MAX = 4
"""The most things that grow, of those that are named."""


@attrs.frozen
class Milestone:
    """One moment at the place at which laps begin and end."""

    moment: Moment
    masked: Masked
    now_ms: int
    step: int
    turns: int
    writes: int
    looks: int
    ready: list[Option]


class GoingRound(Invariant):
    """Looks for a lap from the moment on at which it is told to; a Violation says what it found.

    1. A place of the lap is chosen: a commit of these fields, with what is pending then and where
       tasks are parked, that has come twice; or any turn, if nothing is written any more.
    2. Whenever it comes again, a Moment is taken, its numbers apart. If in three laps they have
       grown by the same steps, what is no watched number yet is watched in place, and three more
       laps are looked at.
    3. These are for ever, if no look at what grows can come out otherwise. Where something was lost
       from sight, seventeen more are played, and the Violation says that it is not known.
    """

    ends_run: ClassVar[bool] = True
    looks_at: ClassVar[frozenset[str]] = frozenset({TURN})

    def __init__(
        self, sight: Lookout, minds: Callable[[str], bool], named_anew: tuple[str, ...]
    ) -> None:
        self.name = NO_LASSO  # the claim for which it looks
        self.has_begun = False
        """Whether what has happened before is over, and laps are looked for."""
        self.gave_up = ""
        """Why it looks no longer; empty as long as it does."""
        self._sight = sight
        self._minds = minds
        self._named_anew = named_anew
        self._names = Renaming(named_anew)
        self._lasting = _lasting()
        self._turns = 0
        self._moments = 0
        self._tries = 0
        self._is_hushed = False
        self._writes: list[Write] = []
        self._places: Counter[str] = Counter()
        self._place = ""
        """The place at which moments are taken; empty until there is one."""
        self._seen_at = 0
        """At which turn it was chosen, or seen last."""
        self._visits: list[Milestone] = []
        self._fading = False
        """Whether a number that was watched in place was a plain one again in the next lap."""

    def begin(self) -> None:
        """Look for laps from now on."""
        self.has_begun = self._sight.is_on = True

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        # The testbed's own looks at numbers are none of a task's.
        is_on, self._sight.is_on = self._sight.is_on, False
        try:
            return self._look(evidence)
        finally:
            self._sight.is_on = is_on

    def _look(self, evidence: Evidence) -> Wrong:
        request = evidence.wire.served
        who = "somebody" if request is None else request.role.name
        written: list[tuple[str, str, list[str]]] = []
        for change in evidence.changes:
            if not self._minds(change.key):
                continue
            if change.new is not None and isinstance(change.new.value, Object):
                self._names.learn(change.new.value, is_new=change.old is None)
            if not says_more(change):
                self._is_hushed = True
            elif self.has_begun:
                self._writes.append(write := Write(who, change, evidence.now_ms))
                written.append((who, self._names.unnamed_key(change.key), write.fields))
        if not self.has_begun or self.gave_up:
            return None
        self._turns += 1
        is_silent = not self._writes and self._turns > SILENT
        if not written and not is_silent:
            return None
        return self._come_by(repr((written, outline(evidence))), evidence)

    def _come_by(self, place: str, evidence: Evidence) -> Wrong:
        """Take a Moment if that is the place; choose one if there is none."""
        if not self._place or self._turns > 2 * self._seen_at + SILENT:
            self._places[place] += 1
            if self._places[place] < 2:
                return None
            self._place, self._visits = place, []
        if place != self._place:
            return None
        self._seen_at = self._turns
        self._moments += 1
        if self._moments > MOMENTS_MAX:
            self.gave_up = f"{MOMENTS_MAX} moments make no lap"
            return None
        try:
            visit = self._visit(evidence)
        except Unlike as why:
            self.gave_up = f"what is in {why}"
            return None
        self._visits.append(visit)
        for period in range(1, PERIODS_MAX + 1):
            said = self._at(period, evidence)
            if said or self.gave_up:
                return said
        return None

    def _visit(self, evidence: Evidence) -> Milestone:
        now = moment(evidence, self._names, self._lasting, names_matter=not self._named_anew)
        return Milestone(
            now, masked(now.texts), evidence.now_ms, evidence.table.step, self._turns,
            len(self._writes), len(self._sight.looks), ready(evidence),
        )  # fmt: skip

    def _at(self, period: int, evidence: Evidence) -> Wrong:
        """The Violation, if the last laps of that many visits each are the same but for growth."""
        ends = self._visits[: -AGAIN * period - 2 : -period][::-1]
        steps = self._steps(ends)
        if steps is None:
            return None
        waiting = starved(ends[-2].ready, evidence)
        if waiting:
            self.gave_up = f"the lap never lets {waiting[0]} have its turn"
            return None
        if unseen := _looks_elsewhere(ends[0], evidence):
            self.gave_up = f"{unseen} asks nearby, which may tell it the time"
            return None
        out_of_sight = [
            place.label
            for step, place in zip(steps, ends[-1].masked.places, strict=True)
            if step and not place.is_watched
        ]
        if out_of_sight and self._tries < TRIES_MAX:
            self._watch(ends[-2], ends[-1], steps, evidence)
            return None
        sights = self._outlook(ends, evidence)
        if sights.ends:
            self.gave_up = sights.ends
        elif not self._undoes(ends[-2], ends[-1]):
            self.gave_up = "nothing is undone in a lap: what is written only grows"
        elif not out_of_sight and not sights.lost:
            return self._message(ends, sights)
        elif not sights.lost:
            self.gave_up = f"{out_of_sight[0]} counts on where nobody sees how"
        else:
            return self._after_many(period, evidence)
        return None

    def _after_many(self, period: int, evidence: Evidence) -> Wrong:
        """The Violation where something was lost from sight, after so many laps."""
        ends = self._visits[: -LAPS_SEEN * period - 2 : -period][::-1]
        # Of several such laps, each may leave the same remainder: so it waits until that was seen.
        is_early = len(self._visits) <= AGAIN * PERIODS_MAX
        if is_early or len(ends) <= LAPS_SEEN or self._steps(ends) is None:
            return None
        sights = self._outlook(ends, evidence)
        if sights.ends:
            self.gave_up = sights.ends
            return None
        return self._message(ends, sights)

    def _steps(self, ends: Sequence[Milestone]) -> tuple[int, ...] | None:
        """By how much each number grows in each of these laps; None if they are not alike."""
        if len(ends) <= AGAIN or len({b.now_ms - a.now_ms for a, b in pairwise(ends)}) > 1:
            return None
        steps = steps_of([each.masked for each in ends])
        took_ms = ends[-1].now_ms - ends[-2].now_ms
        if steps is None or not times_fit(steps, ends[-1].masked.places, took_ms):
            return None
        laps = [[(w.who, w.change.key, w.fields) for w in self._lap(*e)] for e in pairwise(ends)]
        if not self._named_anew and any(lap != laps[0] for lap in laps):
            return None
        return steps

    def _lap(self, start: Milestone, end: Milestone) -> list[Write]:
        return self._writes[start.writes : end.writes]

    def _watch(
        self, before: Milestone, now: Milestone, steps: Sequence[int], evidence: Evidence
    ) -> None:
        """Watch in place what has grown and was not watched; give up if that cannot be done."""
        self._tries += 1
        grown: dict[str, set[int]] = {}
        for step, place, number in zip(steps, now.masked.places, now.masked.numbers, strict=True):
            if step and not place.is_watched:
                grown.setdefault(place.label, set()).add(number)
        watching = InPlace(self._sight)
        watching.watch_store(now.moment.objects, before.moment.objects)
        watching.watch_tasks(evidence, grown)
        self._visits, self._lasting = [], _lasting()
        after = self._visit(evidence).masked
        for step, place in zip(steps, after.places, strict=True):
            if step and not place.is_watched:
                self.gave_up = f"{place.label} counts on where it cannot be watched"

    def _outlook(self, ends: Sequence[Milestone], evidence: Evidence) -> Future:
        looks = self._sight.looks
        laps = [looks[a.looks : b.looks] for a, b in pairwise(ends)]
        digested = {
            role.name for role in evidence.actors if role.life is not None and tells_time(role.life)
        }
        return future_of(laps, digested)

    def _undoes(self, start: Milestone, end: Milestone) -> bool:
        """Whether a lap takes back what it does, and not only counts or renews. In a lap that takes
        no time, everybody moves for ever, whatever they write."""
        if start.now_ms == end.now_ms:
            return True
        grown = {(key, path) for key, path, _, _ in _grown(start, end)}
        for write in self._lap(start, end):
            change = write.change
            if change.old is None or change.new is None:
                return True
            fields = differing_fields(change.old.value, change.new.value)
            if any((change.key, path) not in grown for path, _, _ in fields):
                return True
        return False

    def _message(self, ends: Sequence[Milestone], sights: Future) -> Found:
        start, end = ends[-2:]
        lap, took = self._lap(start, end), duration(end.now_ms - start.now_ms)
        grown = self._grows(start, end)
        outer = {(key, path.partition("[")[0]) for key, path, _, _ in _grown(start, end)}
        said, about = listed(sentences(lap, self._names, outer)), about_lap(lap, outer)
        since = lap[0].change.revision if lap else None
        what = counted(len(lap), "write")
        if not lap:
            what = f"{counted(end.turns - start.turns, 'turn')} without a write"
            said = "nobody writes, and each move makes the next"
        nearer = " What grows is compared with nothing that comes nearer." if grown else ""
        closing = (
            f"{said}; and again. Everyone who could move did in each lap."
            f"{'' if sights.lost else nearer} {ending(self._is_hushed, self._named_anew)}"
        )
        if sights.lost:
            text = (
                f"{LAPS_SEEN} laps of {what} in {took} each, only these grow: {grown}. Whether it "
                f"goes on for ever is not known, since {'; '.join(sights.lost)}. A lap: {closing}"
            )
            return Found(text, about, LAP, since)
        but = f" but for what only grows ({grown})" if grown else ""
        text = (
            f"for ever, a lap of {what} in {took}, played {AGAIN} more times to the same state"
            f"{but}: {closing}"
        )
        return Found(text, about, LAP, since)

    def _grows(self, start: Milestone, end: Milestone) -> str:
        """What grows, by object and field, or by task and variable."""
        written = ((w.who, w.change.key, w.fields) for w in self._writes)
        writers = writers_of(written)
        said: dict[str, None] = {}
        for key, path, was, now in _grown(start, end):
            who = writer_of(writers, key, path)
            by = f", set by {who}" if who else ""
            said[f"{self._names.unnamed_key(key)} {on_the_wire(path)} {was} → {now}{by}"] = None
        # A variable that keeps pace with what is named already mostly holds a copy of it, and what
        # the reader of a Cache holds, its actor mostly holds, too.
        named = {_step(was, now) for _, _, was, now in _grown(start, end)}
        numbers = zip(start.masked.numbers, end.masked.numbers, strict=True)
        places = zip(end.masked.places, numbers, strict=True)
        for place, (one, two) in sorted(places, key=lambda each: READER in each[0].label):
            if one != two and "`" in place.label and two - one not in named:
                said[f"{place.label} {one} → {two}"] = None
                named.add(two - one)
        more = len(said) - GROWN_MAX
        return "; ".join([*list(said)[:GROWN_MAX], *[f"{more} more"] * (more > 0)])


def _lasting() -> Lasting:
    """What is kept between two moments, in a World with watched numbers."""

    def number(self: Likeness, value: Watched) -> None:
        self._part.append(f"watched {plain(value)}")

    def text(self: Likeness, value: WatchedText) -> None:
        self._part.append(f"watched text {plain_text(value)}")

    lasting = Lasting(with_messages=False)
    lasting.ways |= {Watched: number, WatchedText: text}
    return lasting


def _grown(start: Milestone, end: Milestone) -> Iterator[tuple[str, str, str, str]]:
    """The fields of objects that are not the same at the end of a lap, with both values."""
    for key, value in end.moment.objects.items():
        if key in start.moment.objects:
            for path, was, now in differing_fields(start.moment.objects[key], value):
                yield key, path, was, now


def _step(was: str, now: str) -> int:
    """By how much the number in a text has grown; 0 if it has none."""
    numbers = [NUMBERS.findall(text) for text in (was, now)]
    return int(numbers[1][-1]) - int(numbers[0][-1]) if all(numbers) else 0


def _looks_elsewhere(start: Milestone, evidence: Evidence) -> str:
    """An actor that was told the time by other means than its Client; empty if none was."""
    for role in evidence.actors:
        life = role.life
        if life is None or not role.is_up or tells_time(life):
            continue
        if life.saw_time_at > start.step:
            return role.name
    return ""
