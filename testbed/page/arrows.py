"""Arrows: what went from one lane to another: requests, answers, news, and what was not known.

1. A request goes from the Step in which it was asked to the one that served it, its answer from
   there back. If its caller went on without it, the arrow is lost; the request may have taken
   effect all the same.
2. News goes from a commit to the Step in which an actor was told of it. It is dotted if it was held
   back, or came later than the scenario states.
3. An act on old news points back to the write that it had missed; so does what the cause names.
4. Every arrow begins and ends in a row. What was asked before the first row that is shown begins
   there; what arrived between two rows arrives in the first of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from testbed.maps.describing import cut
from testbed.page.marking import STORE, Marking
from testbed.page.moments import Moments
from testbed.page.truth_log import TruthLog
from testbed.story.cause import Cause, CauseShape
from testbed.story.diagram import MATTERS, SPOKEN_OF
from testbed.story.knowledge import StaleAct
from testbed.story.requests import Sent
from testbed.story.sightings import WATCH
from testbed.story.slice import Slice
from testbed.turns.option import DELIVER, HOLD
from testbed.turns.trace import Step

SOLID, DOTTED, LOST, REFUSED = "solid", "dotted", "lost", "refused"
MISSED = {
    CauseShape.OLD_NEWS: "did not know",
    CauseShape.UNREAD: "did not go by",
    CauseShape.DID_IT_HAPPEN: "did not know",
}
"""The causes that name a write which the actor had missed, and how."""


class Arrows:
    """The arrows of one Run between the rows that are shown."""

    def __init__(
        self,
        slice_: Slice,
        cause: Cause | None,
        marking: Marking,
        truth: TruthLog,
        moments: Moments,
    ) -> None:
        self._slice, self._steps = slice_, slice_.causality.steps
        self._marking, self._moments, self._truth = marking, moments, truth
        self._rows = set(moments.steps)
        held = [step for step in slice_.steps if step.kind == HOLD]
        self._late = {freed.number for freed in map(slice_.freed, held) if freed is not None}
        """The Steps in which came what had been held back."""
        self._stated_ms = max((each.deliver_ms or 0 for each in slice_.latencies), default=0)
        self._committed = {
            (change.key, change.revision): number
            for number, changes in truth.changes.items()
            for change in changes
        }
        found = [
            *(arrow for sent in slice_.requests.all for arrow in self._request(sent)),
            *(arrow for step in slice_.steps if (arrow := self._news(step)) is not None),
            *self._stale(cause),
        ]
        # Two acts may have missed the same write.
        found = [arrow for n, arrow in enumerate(found) if arrow not in found[:n]]
        self.all = sorted(found, key=lambda arrow: (arrow["to"]["step"], arrow["from"]["step"]))

    # -- requests and answers -------------------------------------------------------------------

    def _request(self, sent: Sent) -> Iterator[dict[str, Any]]:
        """(1) A request that has a mark, and its answer."""
        what = cut(f"{sent.word} {sent.key}")
        if not self._moments.has_lane(sent.actor) or sent.step not in self._rows:
            return
        if not sent.parts:
            weight = max(self._marking.weight_of(sent.actor, sent.step), MATTERS)
            ends = self._ends(sent.actor, sent.asked, STORE, sent.step)
            yield _arrow("request", ends, LOST, f"{what} is lost", weight)
            return
        if not any(mark["lane"] == sent.actor for mark in self._marking.by_step.get(sent.step, ())):
            return
        weight = self._marking.weight_of(sent.actor, sent.step)
        is_late = any(part.number in self._late for part in sent.parts)
        line = REFUSED if sent.refused else DOTTED if is_late else SOLID
        ends = self._ends(sent.actor, sent.asked, STORE, sent.step)
        yield _arrow("request", ends, line, what, weight)
        if back := sent.answered or sent.let_go:
            ends = self._ends(STORE, sent.step, sent.actor, max(back, sent.step))
            line = SOLID if sent.answered else LOST
            line = DOTTED if sent.answered in self._late else line
            text = sent.refused or (f"rv {sent.parts[-1].revision}" if sent.is_write else "")
            text = text if sent.answered else f"{sent.actor} {sent.unanswered}"
            yield _arrow("answer", ends, line, text, weight)

    # -- news -----------------------------------------------------------------------------------

    def _news(self, step: Step) -> dict[str, Any] | None:
        """(2) What a watch told of in that Step, if it has a row."""
        option = step.option
        if step.kind != DELIVER or step.number not in self._rows or not step.revision.isdecimal():
            return None
        commit = self._committed.get((option.key, int(step.revision)))
        if commit is None or not self._moments.has_lane(option.actor):
            return None
        if not self._truth.is_in_sight(option.key):
            return None
        passed_ms = step.now_ms - self._steps[commit].now_ms
        is_late = step.number in self._late or passed_ms > self._stated_ms
        weight = self._marking.weight_of(option.actor, step.number)
        text = cut(f"{option.key} rv {step.revision}")
        text += f", {passed_ms:,} ms late" if is_late and passed_ms else ""
        ends = self._ends(STORE, commit, option.actor, step.number)
        return _arrow("news", ends, DOTTED if is_late else SOLID, text, weight)

    # -- what was not known ---------------------------------------------------------------------

    def _stale(self, cause: Cause | None) -> Iterator[dict[str, Any]]:
        """(3) From each act on old news to the writes that it had missed; and from what the cause
        says was done to the write that it names."""
        drawn = set()
        for stale in self._slice.stale:
            missed = stale.missed[-1]
            if self._moments.has_lane(stale.act.actor):
                drawn.add((stale.act.step, missed.step))
                ends = self._ends(stale.act.actor, stale.act.step, STORE, missed.step)
                text = cut(f"did not know rv {missed.revision} of {missed.key}")
                yield _arrow("stale", ends, SOLID, text, SPOKEN_OF)
                yield from self._never_told(stale)
        since = cause.since if cause is not None else None
        if cause is None or since is None or not cause.step or (cause.step, since.step) in drawn:
            return
        how = MISSED.get(cause.shape, "")
        if how and since.step < cause.step and self._moments.has_lane(cause.actor):
            ends = self._ends(cause.actor, cause.step, STORE, since.step)
            text = cut(f"{how} rv {since.revision} of {since.key}")
            yield _arrow("stale", ends, SOLID, text, SPOKEN_OF)

    def _never_told(self, stale: StaleAct) -> Iterator[dict[str, Any]]:
        """News of the write that its watch had not brought: lost."""
        missed, sighting = stale.missed[-1], stale.known.sighting
        is_watched = sighting.by_cache or sighting.how == WATCH
        if is_watched and self._slice.knowledge.first_told(stale.act, missed) is None:
            ends = self._ends(STORE, missed.step, stale.act.actor, self._slice.end)
            text = cut(f"{missed.key} rv {missed.revision} had not come")
            yield _arrow("news", ends, LOST, text, MATTERS)

    def _ends(self, lane: str, step: int, to: str, until: int) -> tuple[dict[str, Any], ...]:
        """(4) Where an arrow begins and ends, each in a row."""
        begins = self._moments.at_or_after(step)
        is_back = until < step
        arrives = (self._moments.at_or_after if is_back else self._moments.at_or_before)(until)
        arrives = arrives if is_back else max(begins, arrives)
        return {"lane": lane, "step": begins}, {"lane": to, "step": arrives}


def _arrow(
    kind: str, ends: tuple[dict[str, Any], ...], line: str, text: str, weight: int
) -> dict[str, Any]:
    return {
        "kind": kind,
        "from": ends[0],
        "to": ends[1],
        "line": line,
        "text": text,
        "weight": weight,
    }
