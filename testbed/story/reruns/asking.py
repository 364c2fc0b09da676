"""Asking: would an actor have done the same, had it known better? The World is played again to see.

An act on old news is no cause if the news would have changed nothing: a preemptor that takes any
budget for a wish deletes the pod whatever the budget says.

1. The Run is played again up to where the actor looked at what was old: where that was read for it,
   or where it first looked into a Cache that showed it. If it says which record it went by, its
   last look before that counts.
2. There the actor waits, and the others go on as they did, until the news is written.
3. All news of that kind is delivered to the actor.
4. Then it goes first, and all else in calm order. The news played no part if it knows it before it
   moves, and either takes the same turns up to the same request, or does such a thing and the claim
   breaks all the same.

Where the Run cannot be played so, nothing is known: the news needs the actor itself, or is late by
a latency that the scenario states; or the actor got the old news from a watch and never looked into
a Cache, so that it must get the old news before the new in any Run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from testbed.chooser import CUT, Cut
from testbed.store.change import Change, plural_of
from testbed.story.knowledge import Act, Knowledge, StaleAct, Version, task_of
from testbed.story.rerun import Rerun, calm
from testbed.story.sightings import LIST, WATCH
from testbed.turns.option import (
    ANSWER,
    DELIVER,
    FEED,
    RESUME,
    SERVE,
    START,
    WAKE,
    Choice,
    HoldBack,
    Option,
    Release,
)
from testbed.turns.pending import Options
from testbed.turns.trace import Step, Trace

OWN_TURNS = (SERVE, ANSWER, START, RESUME, WAKE)
"""What a task does, or has done for it; what it is told comes when the World lets it come."""


def is_same_anyway(trace: Trace, stale: StaleAct, since: Version, claim: str) -> bool:
    """Whether the actor does the same when it knows of that write, or does such a thing and that
    claim breaks all the same; False if that is not known."""
    make: Callable[[], Any] | None = getattr(trace.played_in, "again", None)
    fork = _fork(trace, stale, since)
    if make is None or len(trace.choices) < stale.act.step or not fork:
        return False
    asking = _Asking(trace, stale, since, fork)
    played = asking.play(make)
    if played is None:
        return False
    verdict, again = played
    is_broken = any(violation.invariant == claim for violation in verdict.violations)
    is_like = is_broken and asking.did_it
    return (is_like or asking.did_the_same(trace, again)) and asking.knew_it(again)


def _fork(trace: Trace, stale: StaleAct, since: Version) -> int:
    """(1) The Step before which it can be told; 0 if it has no such Step."""
    act, sighting = stale.act, stale.known.sighting
    if not (sighting.by_cache or sighting.how == WATCH):
        return sighting.read
    # It cannot know its own write before that was made.
    first = max(sighting.step, since.step + 1 if since.actor == act.actor else 0)
    plural = plural_of(stale.known.key)
    looks = [
        step.number
        for step in trace.steps[first - 1 : act.decided]
        if task_of(step) == act.path
        and any(plural == _kind_in_cache(read) for read in step.marks.reads)
    ]
    if looks:
        # Without a record that it went by, it may have decided in any turn since its first look.
        return looks[-1 if trace.steps[act.step - 1].because else 0]
    return sighting.read if sighting.how == LIST else 0


def _kind_in_cache(read: str) -> str:
    return plural_of(read.partition("/")[2]) if read.startswith("cache:") else ""


class _Asking(Rerun):
    """Plays the Run again, and lets one actor know what it did not know when it acted."""

    name = "what an actor does when it knows better"

    def __init__(self, trace: Trace, stale: StaleAct, since: Version, fork: int) -> None:
        super().__init__(trace, fork, max(since.step, fork - 1))
        act = stale.act
        self._act, self._since = act, since
        self._was = _done_in(trace.steps[act.step - 1], act)
        steps = trace.steps[fork - 1 : max(since.step, fork - 1)]
        self._unwritten = sum(self._is_its_write(each) for step in steps for each in _made(step))
        """How many writes of that object by that actor are to come; the last of them is the news.
        A server may write several times for one request."""
        self._revision = since.revision
        self.did_it = False
        """Whether it has done such a thing."""

    def otherwise(self, options: Options) -> Choice | Cut:
        if self.did_it:
            return calm(options)
        if self._unwritten:
            return self._others(options)
        news = self._news(options)
        return self._actor_first(options) if news is None else news

    def _others(self, options: Options) -> Choice | Cut:
        """(2) The others go on, in the order of the Run; the actor is held back."""
        ready = options.in_line()
        free = [place for place, option in enumerate(ready) if not self._is_its_own(option)]
        if free:
            return min(free, key=lambda place: self.place(ready[place]))
        if ready:
            return HoldBack(0)
        held = [place for place, each in enumerate(options.held) if not self._is_its_own(each)]
        return Release(min(held, key=lambda n: self.place(options.held[n]))) if held else CUT

    def _is_its_own(self, option: Option) -> bool:
        return option.actor == self._act.actor

    def _news(self, options: Options) -> Choice | None:
        """(3) News of that kind for the actor, or for a server that has not read it yet."""
        held = [place for place, each in enumerate(options.held) if self._is_news(each)]
        if held:
            return Release(held[0])
        ready = [place for place, each in enumerate(options.in_line()) if self._is_news(each)]
        return ready[0] if ready else None

    def _is_news(self, option: Option) -> bool:
        is_for_it = option.kind == FEED or (option.kind == DELIVER and self._is_its_own(option))
        return is_for_it and plural_of(option.key) == plural_of(self._since.key)

    def _actor_first(self, options: Options) -> Choice | Cut:
        """(4) The actor goes before all others."""
        for place, option in enumerate(options.held):
            if self._is_its_own(option):
                return Release(place)
        for place, option in enumerate(options.in_line()):
            if self._is_its_own(option):
                return place
        return calm(options)

    def _is_its_write(self, made: tuple[str, Change]) -> bool:
        return (made[0], made[1].key) == (self._since.actor, self._since.key)

    def ended(self, step: Step) -> None:
        """Note whether the news is written, and whether the actor has done such a thing."""
        if not self.has_left:
            return
        for made in _made(step):
            if self._unwritten and self._is_its_write(made):
                self._unwritten -= 1
                self._revision = made[1].revision
        if not self._unwritten and self._was and _done_in(step, self._act) == self._was:
            self.did_it = True

    def did_the_same(self, trace: Trace, again: Trace) -> bool:
        """Whether each of its tasks takes the same turns as it did up to its act, with the same
        requests and records: then what it knew made no difference."""
        was = self._turns(trace, self._act.step)
        now = self._turns(again, len(again.steps))
        return all(now.get(path, [])[: len(turns)] == turns for path, turns in was.items())

    def _turns(self, trace: Trace, until: int) -> dict[str, list[object]]:
        """By task: what it did in each of its turns between the fork and that Step."""
        found: dict[str, list[object]] = {}
        for step in trace.steps[self.fork - 1 : until]:
            option = step.option
            if self._is_its_own(option) and step.kind in OWN_TURNS:
                said = [(record.path, record.said) for record in step.records]
                turn = (step.kind, option.verb, option.key, step.operation, said)
                found.setdefault(option.path, []).append(turn)
        return found

    def knew_it(self, trace: Trace) -> bool:
        """Whether this life of the actor had read or heard the news when it first moved, and when
        it decided. What its own writes were answered does not count."""
        knowledge = Knowledge(trace)
        news = knowledge.version(self._since.key, self._revision)
        moved = [
            step.number
            for step in trace.steps[self.fork - 1 :]
            if self._is_its_own(step.option) and step.kind in OWN_TURNS and step.kind != SERVE
        ]
        if news is None or not moved:
            return False
        actor = self._act.actor
        return knowledge.has_heard(actor, news, moved[0], since=knowledge.birth(actor, moved[0]))


def _made(step: Step) -> list[tuple[str, Change]]:
    return [(step.option.actor, change) for change in step.marks.changes]


def _done_in(step: Step, act: Act) -> object:
    """What sort of thing the actor of that act did in a Step: the verb and the kind, or the name of
    a record; None if it did nothing. It may do it to another object when it knows better: whether
    that breaks the claim all the same is what counts."""
    if act.record is not None:
        name = act.record.name
        return name if any((r.name, r.path) == (name, act.path) for r in step.records) else None
    option = step.option
    if step.kind != SERVE or option.actor != act.actor or not step.marks.changes:
        return None
    return option.verb.partition(".")[0], plural_of(option.key)
