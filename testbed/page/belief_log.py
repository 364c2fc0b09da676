"""BeliefLog: what each actor believes of the objects, after each Step of a Run.

1. What an actor learns of an object, it believes: the object as it was at the revision that it was
   read at. The last that it learned counts, be it old news or not.
2. A list tells of each object that it selects, and of those that it selected before and does not
   any more: these are gone. It says nothing of other objects.
3. An actor that keeps a Cache of a kind goes by that Cache: what it wrote itself, it believes when
   the Cache shows it.
4. With its life all that an actor believed is gone.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from testbed.page.truth_log import TruthLog
from testbed.store.change import Entry, plural_of
from testbed.story.knowledge import Knowledge
from testbed.story.sightings import WROTE, Sighting


@attrs.define
class BeliefChange:
    """What one actor began to believe in one Step."""

    rv: int
    """The newest revision that it has read in this life."""
    changed: dict[str, Entry | None] = attrs.field(factory=dict)
    """By key: the object as it takes it to be now; None: it takes it to be gone."""
    is_over: bool = False
    """Whether its life has ended."""


class BeliefLog:
    """By Step and actor: what it began to believe."""

    def __init__(
        self, knowledge: Knowledge, truth: TruthLog, ends: list[tuple[str, int]] | None = None
    ) -> None:
        self._truth = truth
        self._now: dict[str, dict[str, Entry]] = {}
        """By actor: what it takes to be there."""
        self._read: dict[str, int] = {}
        self._cached: set[tuple[str, str]] = set()
        """The kinds that an actor keeps a Cache of in this life."""
        self._over: set[str] = set()
        """The actors whose last life has ended."""
        self.readers: set[str] = set()
        """The actors that have learned anything but what they wrote themselves."""
        self.steps: dict[int, dict[str, BeliefChange]] = {}
        births = knowledge.births.items()
        lives = [(step, actor, False) for actor, steps in births for step in steps]
        lives += [(step, actor, True) for actor, step in ends or ()]
        over = sorted(lives)
        for who, what, sighting in knowledge.of_actors.in_order():
            while over and over[0][0] <= sighting.step:
                self._forget(*over.pop(0))
            self._learn(who, what, sighting)
        for life in over:
            self._forget(*life)

    def _forget(self, step: int, actor: str, is_over: bool) -> None:
        """(4) A life ends or begins."""
        self._cached = {(who, kind) for who, kind in self._cached if who != actor}
        believed, self._read[actor] = self._now.pop(actor, {}), 0
        if believed or is_over or actor in self._over:
            change = self._change(step, actor)
            change.rv, change.is_over = 0, is_over
            change.changed |= dict.fromkeys(sorted(believed))
        self._over = self._over | {actor} if is_over else self._over - {actor}

    def _learn(self, actor: str, what: str, sighting: Sighting) -> None:
        """(1, 2 and 3) It learns of an object, or of all objects of a kind."""
        kind = (actor, plural_of(what))
        self.readers |= {actor} if sighting.how != WROTE else set()
        if sighting.by_cache:
            self._cached.add(kind)
        elif kind in self._cached:
            return
        believed = self._now.setdefault(actor, {})
        self._read[actor] = max(self._read.get(actor, 0), sighting.revision)
        change = self._change(sighting.step, actor)
        change.rv = self._read[actor]
        for key, entry in self._told(believed, what, sighting):
            if self._truth.is_in_sight(key) and entry is not believed.get(key):
                change.changed[key] = entry
                if entry is None:
                    del believed[key]
                else:
                    believed[key] = entry

    def _told(
        self, believed: dict[str, Entry], what: str, sighting: Sighting
    ) -> Iterator[tuple[str, Entry | None]]:
        selector, revision = sighting.selector, sighting.revision
        if "/" in what:
            entry = self._truth.at(what, revision)
            yield what, entry if selector.has(entry) else None
            return
        for key in self._truth.of_kind(what):
            entry = self._truth.at(key, revision)
            if selector.has(entry):
                yield key, entry
            elif selector.has(believed.get(key)):
                yield key, None

    def _change(self, step: int, actor: str) -> BeliefChange:
        return self.steps.setdefault(step, {}).setdefault(actor, BeliefChange(0))
