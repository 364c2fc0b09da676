"""Pair: a violated Run and its twin, side by side: which effects differ, and how.

An effect is *extra* if the twin has no such request or effect, *other* if it left other values,
*later* if another one that broke the claim stands before it and does not in the twin, or it was
written over what its task did not know of. Else it is the *same*, and that broke nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum

import attrs

from testbed.objects.meta import field_of
from testbed.races.pattern import Pattern
from testbed.store.footprint import has_read
from testbed.story.knowledge import Act, Version
from testbed.story.requests import Sent
from testbed.story.twins.side import Ident, PlayedSide, TracedEffect, ident
from testbed.turns.option import Option


class Parted(StrEnum):
    """How an effect differs from the twin."""

    EXTRA, OTHER, LATER, SAME = "extra", "other", "later", "same"


class Pair:
    """A violated Run and its twin, side by side."""

    def __init__(
        self,
        bad: PlayedSide,
        twin: PlayedSide,
        breaking: Iterable[TracedEffect],
        hot: Iterable[str],
        late: Pattern | None = None,
    ) -> None:
        self.bad = bad
        self.twin = twin
        self.breaking = list(breaking)
        """What broke the claim."""
        self.about = frozenset(effect.key for effect in self.breaking)
        """What these are on."""
        self.hot = frozenset(hot)
        """What the Violation names."""
        self.late = late
        """What was late by the line of the race without which the twin was played."""
        self._recorded: dict[tuple[str, str], int] = {}
        for effect in twin.effects:
            if effect.record is not None:
                seen = (effect.key, twin.what(effect))
                self._recorded[seen] = self._recorded.get(seen, 0) + 1
        self._in_twin = {}
        for effect in twin.effects:
            if effect.sent is not None:
                self._in_twin[ident(effect.sent), effect.key] = effect

    def is_only_in_twin(self, effect: TracedEffect) -> bool:
        """Whether the violated Run has fewer records like this one of the twin."""
        said = self.twin.what(effect)
        mine = sum(e.key == effect.key and self.bad.what(e) == said for e in self.bad.effects)
        return mine < self._recorded.get((effect.key, said), 0)

    def is_told_by(self, option: Option) -> bool:
        """Whether what an actor got there is of what this is about, or was late by the race."""
        late = self.late
        is_late = late is not None and attrs.evolve(late, kind=option.kind).fits(option)
        return is_late or self.is_near(option.key)

    def is_near(self, key: str) -> bool:
        """Whether the Violation is about that object, or names it."""
        return key in self.about or key in self.hot

    def counterpart(self, effect: TracedEffect) -> TracedEffect | None:
        """The same effect of the same request in the twin."""
        sent = effect.sent
        return self._in_twin.get((ident(sent), effect.key)) if sent is not None else None

    def how(self, effect: TracedEffect, fields: Iterable[str] = ()) -> Parted:
        """How an effect differs; if some fields alone matter, by those."""
        if effect.record is not None:
            return self._how_recorded(effect)
        other = self.counterpart(effect)
        if other is None:
            return Parted.EXTRA
        if self._is_other(effect, other, list(fields)):
            return Parted.OTHER
        is_later = any(self.before_it(effect)) or (
            self._is_behind(self.bad, effect) and not self._is_behind(self.twin, other)
        )
        return Parted.LATER if is_later else Parted.SAME

    def _how_recorded(self, effect: TracedEffect) -> Parted:
        said = self.bad.what(effect)
        before = [e for e in self.bad.effects if e.key == effect.key and e.step < effect.step]
        nth = sum(self.bad.what(each) == said for each in before)
        return Parted.SAME if nth < self._recorded.get((effect.key, said), 0) else Parted.EXTRA

    def _is_other(self, effect: TracedEffect, other: TracedEffect, fields: list[str]) -> bool:
        mine, theirs = effect.change, other.change
        assert mine is not None
        assert theirs is not None
        if fields:
            return any(
                self.bad.plain(field_of(mine.after, field))
                != self.twin.plain(field_of(theirs.after, field))
                for field in fields
            )
        # Of two of its kind with the same number, a generated name says nothing.
        is_made = mine.old is None and theirs.old is None
        return not is_made and self.bad.what(effect) != self.twin.what(other)

    def before_it(self, effect: TracedEffect) -> Iterator[TracedEffect]:
        """What broke the claim, too, and stands before an effect, but not before it in the twin."""
        other = self.counterpart(effect)
        until = other.step if other is not None else len(self.twin.steps) + 1
        before = {
            ident(each.sent)
            for each in self.twin.effects
            if each.sent is not None and each.step < until
        }
        for each in self.breaking:
            sent = each.sent
            if sent is None or sent is effect.sent or each.step >= effect.step:
                continue
            if ident(sent) not in before:
                yield each

    def _is_behind(self, side: PlayedSide, effect: TracedEffect) -> bool:
        """Whether another had changed what it was written over, or what this is about, and its
        task, or its server when it looked first, did not know of that."""
        return _is_over_others(side, effect) or any(
            known is not None and any(side.knowledge.missed(known, effect.act))
            for key in self.about
            if key != effect.key
            for known in [side.known(effect.act.path, key, effect.act.decided)]
        )

    def has_come(self, awaited: Version, by: int) -> bool:
        """Whether the violated Run has that write of the twin, too, before that turn."""
        mine = self.request_like(self.twin.request_of(awaited.step))
        return mine is not None and bool(mine.changes) and mine.step < by

    def in_twin(self, sent: Sent) -> Sent | None:
        """The request of the twin that is that one of the violated Run."""
        return self.twin.sent.get(ident(sent)) if sent.parts else None

    def request_like(self, theirs: Sent | None) -> Sent | None:
        """The request of the violated Run that is that one of the twin."""
        return self.bad.sent.get(ident(theirs)) if theirs is not None and theirs.parts else None


def _is_over_others(side: PlayedSide, effect: TracedEffect) -> bool:
    """Whether it was written over what another had changed, and its task, or its server when it
    looked first, did not know of that."""
    act, sent = effect.act, effect.sent
    for at, what in sent.checked() if sent is not None else ():
        for key, versions in side.knowledge.versions.items():
            between = [v for v in versions if at < v.step < effect.step and v.actor != act.actor]
            if between and has_read([what], key):
                return True
    if sent is not None and any(
        sent.parts[0].number < version.step < effect.step
        and side.request_of(version.step) is not sent
        for version in side.knowledge.versions.get(effect.key, [])
    ):
        return True
    for version in side.knowledge.versions.get(effect.key, []):
        is_own = version.actor == act.actor and side.request_of(version.step) is not sent
        if is_own and act.decided < version.step < effect.step:
            return True  # of two requests of one actor, the first came last
    known = side.known(act.path, effect.key, act.decided)
    return known is not None and any(side.knowledge.missed(known, act))


def same_place(here: PlayedSide, there: PlayedSide, act: Act) -> int:
    """The turn of one Run in which a task stands where it stands in another when it acts: at the
    request that follows the last one in common; else at the same time."""
    is_there = any(sent.path == act.path for sent in there.sent.values())

    def of_it(side: PlayedSide) -> list[tuple[Ident, Sent]]:
        some = [
            each
            for each in side.sent.items()
            if (each[1].path == act.path if is_there else each[1].actor == act.actor)
        ]
        return sorted(some, key=_asked)

    theirs = of_it(there)
    place = {name: n for n, (name, _) in enumerate(theirs)}
    mine = [name for name, sent in of_it(here) if sent.asked < act.decided]
    common = [place[name] for name in mine if name in place]
    following = common[-1] + 1 if common else 0
    if following < len(theirs):
        name, sent = theirs[following]
        same = here.sent.get(name)
        if same is None or same.asked > act.decided:
            return sent.asked
    now_ms = here.step(max(1, act.decided)).now_ms
    at = max((step.number for step in there.steps if step.now_ms <= now_ms), default=0)
    return max(at, theirs[following - 1][1].asked if following else 0)


def _asked(item: tuple[Ident, Sent]) -> int:
    return item[1].asked
