"""Lateness: why an actor had not learned of a write when it decided.

It had decided before the write was made, or before its watch told it of it, or by what it had
looked up before it was told. Its own Cache may even lack what the actor had itself written.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

import attrs

from testbed.story.cause import Cause, CauseShape
from testbed.story.knowledge import StaleAct, Version
from testbed.story.sightings import WATCH, Sighting
from testbed.story.slice import Slice
from testbed.turns.option import HOLD
from testbed.turns.trace import Step

OWN_MAX = 2


class Weight(IntEnum):
    """Why a sentence is told. The lowest matter most, and are the last to be left out."""

    VIOLATED = 0
    """What broke."""
    ACTED = 1
    """What an actor did on old news, or actors did in turn."""
    WROTE = 2
    """A write that made something old news."""
    LATE = 3
    """Why an actor had not learned of it."""
    STRUCK = 4
    """A fault, or a restart."""
    REFUSED = 5
    """What was refused."""
    KNEW = 6
    """What an actor knew."""
    HELD = 7
    """What was held back."""
    SAYS = 8
    """What an actor says of why it did something."""


@attrs.frozen
class Beat:
    """One sentence, and its place in the story."""

    step: int
    text: str
    weight: Weight
    steps: tuple[int, ...] = ()
    """The Steps it speaks of."""
    key: str = ""
    """The object it speaks of."""


class Lateness:
    """The sentences of one story that say why an actor did not know."""

    def __init__(self, slice_: Slice, cause: Cause | None) -> None:
        self._slice, self._cause = slice_, cause
        self._steps, self._at = slice_.causality.steps, slice_.at
        self._last = {self._life_and_news(stale): stale.act.step for stale in slice_.stale}
        """By the life that had not learned of a write, and that write: the last act without it.
        What it did not know then, it did not know before, and that need not be said twice."""

    def own_writes(self) -> list[Beat]:
        """The last decisions that were made before the actor's own write came back to it."""
        return list(self._own_writes())[-OWN_MAX:]

    def of(self, stale: StaleAct) -> Beat | None:
        """Why the actor had not learned of it: it had decided by then, or its watch was late."""
        act, version = stale.act, stale.missed[0]
        if act.decided <= version.step:
            return None if act.record else self._decided_before(stale)
        if not (stale.known.sighting.by_cache or stale.known.sighting.how == WATCH):
            return None
        if self._last[self._life_and_news(stale)] != act.step:
            return None
        told = self._slice.knowledge.first_told(act, version)
        if told is not None and told.step <= act.decided:
            return self._told_before(stale, told)
        # What a later life learned says nothing of how late this one would have been told.
        if told is not None and not self._slice.knowledge.is_of_life(told, act):
            told = None
        return self._told_after(stale, told)

    def _decided_before(self, stale: StaleAct) -> Beat:
        """The write came between the actor's decision and its effect."""
        act, version = stale.act, stale.missed[0]
        text = f"{act.actor} had decided before that ({self._at(act.decided)}), and its "
        text += f"{act.word} was on its way."
        return Beat(version.step, text, Weight.LATE, (version.step,), version.key)

    def _told_after(self, stale: StaleAct, told: Sighting | None) -> Beat:
        """The actor decided before its watch showed it the write, if it ever did."""
        act, version = stale.act, stale.missed[0]
        held = self._held(act.actor, version)
        steps = (*(step.number for step in held), told.step if told else version.step)
        text = f"{act.actor} decided ({self._at(act.decided)}) before its watch of "
        text += version.key.partition("/")[0]
        text += f", held back since {self._at(held[0].number)}," if held else ""
        text += f" told it of rv {version.revision}"
        if told is not None:
            text += f" ({self._at(told.step)}{self._lag(told, version)})"
        return Beat(act.decided, f"{text}.", Weight.LATE, steps, version.key)

    def _told_before(self, stale: StaleAct, told: Sighting) -> Beat:
        """The actor was told, and did not act on that: it had read its Cache before, or it was
        told in an earlier life."""
        act, version = stale.act, stale.missed[0]
        at, steps = self._at(told.step), (told.step, version.step)
        if self._slice.knowledge.is_of_life(told, act):
            text = f"{act.actor} decided ({self._at(act.decided)}) by what it had looked up before "
            text += f"it was told of rv {version.revision} ({at})"
        else:
            text = f"{act.actor} had been told of rv {version.revision} of {version.key} ({at}) "
            text += "before it began again"
        step = max(told.step, version.step)
        return Beat(step, f"{text}.", Weight.LATE, steps, version.key)

    def _own_writes(self) -> Iterator[Beat]:
        """Of each own write that an actor's Cache did not show, the last act without it: if the
        Violation names it, or it is the cause. As old news it is the opening that says so."""
        since, opened = None, None
        if self._cause is not None:
            since = self._cause.since
            opened = since if self._cause.shape is CauseShape.OLD_NEWS else None
        last = {(own.key, own.revision): (act, own) for act, own in self._slice.unseen}
        for act, own in sorted(last.values(), key=lambda pair: pair[0].step):
            matters = own == since or own.key in self._slice.named_keys
            if own == opened or not matters:
                continue
            plural = own.key.partition("/")[0]
            text = f"{act.actor} decided ({self._at(act.decided)}) before its watch of {plural} "
            text += f"showed it its own {own.word} of {own.key} at rv {own.revision}"
            yield Beat(act.decided, f"{text}.", Weight.LATE, (own.step, act.decided), own.key)

    def _life_and_news(self, stale: StaleAct) -> tuple[str, int, str, int]:
        act, version = stale.act, stale.missed[0]
        life = self._slice.knowledge.birth(act.actor, act.decided)
        return act.actor, life, version.key, version.revision

    def _lag(self, told: Sighting, version: Version) -> str:
        ms = self._steps[told.step].now_ms - self._steps[version.step].now_ms
        return f": {ms:,} ms late" if ms else ""

    def _held(self, actor: str, version: Version) -> list[Step]:
        """The Steps that held the news of this write back from the actor."""
        return [
            step
            for step in self._steps.values()
            if step.kind == HOLD
            and step.option.actor == actor
            and step.option.key in (version.key, version.key.partition("/")[0])
            and step.number > version.step
        ]
