"""Asking: would an actor have done the same, had it known better? The World is played again to see.

An act on old news is no cause if the news would have changed nothing: a preemptor that takes any
budget for a wish deletes the pod whatever the budget says.

1. The Run is played again up to where the actor decided, if it had been told by a watch, else up to
   where it read what was old.
2. There the actor waits, and the others go on as they did, until the news is written.
3. All news of that kind is delivered to the actor.
4. Then it goes first, and all else in calm order. If it does such a thing with the news known, and
   the claim breaks all the same, the news played no part.

Where the Run cannot be played so, because the news needs the actor itself, or is late by a latency
that the scenario states, nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from testbed.chooser import CUT, Chooser, Cut, Plan, RunInfo, fault_of
from testbed.store.change import plural_of
from testbed.story.knowledge import Act, Knowledge, StaleAct, Version
from testbed.story.sightings import WATCH
from testbed.turns.happening import Key, key_of
from testbed.turns.option import DELIVER, FEED, SERVE, Choice, HoldBack, Option, Release
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Step, Trace

TURNS_MAX = 2000
"""How many turns are played after the Run has been left."""


def is_same_anyway(trace: Trace, stale: StaleAct, since: Version, claim: str) -> bool:
    """Whether the actor does such a thing when it knows of that write, and that claim breaks all
    the same; False if that is not known."""
    make: Callable[[], Any] | None = getattr(trace.played_in, "again", None)
    if make is None or len(trace.choices) < stale.act.step:
        return False
    asking = _Asking(trace, stale, since)
    again = Trace({}, keep=True)
    try:
        verdict = make().run(asking, driver="direct", trace=again)
    except Exception:  # noqa: BLE001 - it is not the Run that is told
        # A claim or an Endpoint of the scenario may stumble over what never came up in the Run that
        # is told; that is no news of that Run.
        return False
    is_broken = any(violation.invariant == claim for violation in verdict.violations)
    return is_broken and asking.did_it and asking.knew_it(again)


class _Asking(Chooser):
    """Plays the Run again, and lets one actor know what it did not know when it acted."""

    def __init__(self, trace: Trace, stale: StaleAct, since: Version) -> None:
        act, sighting = stale.act, stale.known.sighting
        self._act, self._since = act, since
        fork = act.decided if sighting.by_cache or sighting.how == WATCH else sighting.read
        self._before = list(reversed(trace.choices[: fork - 1]))
        steps = trace.steps[fork - 1 : max(since.step, fork - 1)]
        self._order: dict[Key, int] = {}
        for step in steps:
            self._order.setdefault(key_of(step.option), step.number)
        self._was = _done_in(trace.steps[act.step - 1], act)
        self._is_written = since.step < fork
        self._revision = since.revision
        self._left = TURNS_MAX
        self._has_left = False
        self.did_it = False
        """Whether it has done the same."""
        self._did_at = 0

    def begin(self, run: RunInfo) -> Plan | None:
        return Plan("what an actor does when it knows better")

    def choose(self, options: Options | Alternatives) -> Choice | Cut:
        if self._before:
            return self._before.pop()
        self._has_left = True
        if isinstance(options, Alternatives):
            return 0
        self._left -= 1
        if self._left < 0:
            return CUT
        if self.did_it:
            return _calm(options)
        if not self._is_written:
            return self._others(options)
        news = self._news(options)
        return self._actor_first(options) if news is None else news

    def strike(self, options: Options) -> int | None:
        fault = fault_of(self._before[-1], options) if self._before else None
        if fault is not None:
            self._before.pop()
        return fault

    def _others(self, options: Options) -> Choice | Cut:
        """(2) The others go on, in the order of the Run; the actor is held back."""
        ready = options.in_line()
        free = [place for place, option in enumerate(ready) if not self._is_its_own(option)]
        if free:
            return min(free, key=lambda place: self._place(ready[place]))
        if ready:
            return HoldBack(0)
        held = [place for place, each in enumerate(options.held) if not self._is_its_own(each)]
        return Release(min(held, key=lambda n: self._place(options.held[n]))) if held else CUT

    def _place(self, option: Option) -> int:
        return self._order.get(key_of(option), TURNS_MAX**2)

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
        return _calm(options)

    def ended(self, step: Step) -> None:
        """Note whether the news is written, and whether the actor has done the same."""
        if not self._has_left:
            return
        for change in step.marks.changes:
            is_it = change.key == self._since.key and step.option.actor == self._since.actor
            if is_it and not self._is_written:
                self._is_written, self._revision = True, change.revision
        if (
            self._is_written
            and not self.did_it
            and self._was
            and _done_in(step, self._act) == self._was
        ):
            self.did_it, self._did_at = True, step.number

    def knew_it(self, trace: Trace) -> bool:
        """Whether this life of the actor had read or heard the news when it decided to do the same.
        What its own writes were answered does not count."""
        knowledge, step = Knowledge(trace), trace.steps[self._did_at - 1]
        act = next((each for each in knowledge.acts if each.step == self._did_at), None)
        news = knowledge.version(self._since.key, self._revision)
        if act is None or news is None:
            return False
        records = [each for each in knowledge.acts if each.record is not None]
        why = [each.step for each in records if each.record and each.record.number == step.because]
        at = min([act.decided, *why])
        born = max((birth for birth in knowledge.births(act.actor) if birth <= at), default=0)
        return knowledge.has_heard(act.actor, news, at, since=born)


def _calm(options: Options) -> Choice | Cut:
    if options.held:
        return Release(0)
    return 0 if options.ready else CUT


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
