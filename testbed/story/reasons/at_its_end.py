"""At its end: a task has died, or waits for ever, since it went by what was not so."""

from __future__ import annotations

import attrs

from testbed.story.cause import Cause, CauseShape, sentence
from testbed.story.slice import Slice
from testbed.story.twins.compared import why_there
from testbed.story.twins.reason import Reason
from testbed.story.twins.side import PlayedSide
from testbed.story.wording import believed, wrote
from testbed.turns.found import STUCK
from testbed.turns.life import Death

JOIN = "join "
"""Begins what a task waits for that waits for another one to end."""


def died(slice_: Slice, cause: Cause) -> Cause:
    """The cause of a death; with what its actor had not heard, if that was an error of its own."""
    violation, world = slice_.violation, slice_.trace.played_in
    if violation is None or world is None or cause.since is not None:
        return cause
    death: Death = next(each for each in world.table.deaths if str(each) == violation.said)
    reason = _why(slice_, death.path, violation.step)
    if reason is None or reason.since is None:
        return cause
    head = cause.text.removesuffix(".").partition(" at ")[0]
    text = sentence(head, f", {_belief(reason)}")
    return attrs.evolve(cause, shape=CauseShape.OLD_NEWS, text=text, since=reason.since)


def stuck(slice_: Slice) -> Cause | None:
    """Which tasks wait for ever, and for what; with what one of them had gone by."""
    violation, world = slice_.violation, slice_.trace.played_in
    if violation is None or world is None or violation.reason != STUCK:
        return None
    waiting = world.evidence.waiting
    telling = [each for each in waiting if not each.waits_for.startswith(JOIN)] or [*waiting]
    told = [f"{each.path} waits for {each.waits_for}" for each in telling[:2]]
    actor = telling[0].actor
    because = ""
    for each in telling:
        # A task has decided to wait in its last turn.
        moves = [step.number for step in slice_.steps if step.option.path == each.path]
        reason = _why(slice_, each.path, moves[-1]) if moves else None
        if reason is not None:
            because = f", {_belief(reason)}"
            break
    text = sentence(f"{actor} waits for ever: {' and '.join(told)}", (because, ""))
    return Cause(CauseShape.UNKNOWN, text, actor, "wait", None, violation.step)


def _why(slice_: Slice, path: str, at: int) -> Reason | None:
    violation = slice_.violation
    assert violation is not None
    side = PlayedSide(slice_.trace, slice_.knowledge, slice_.requests)
    return why_there(side, violation, slice_.named_keys, path, at)


def _belief(reason: Reason) -> str:
    since = reason.since
    assert since is not None
    if reason.known is None:
        return f"not knowing of {reason.key}; {wrote(since, 'it')}"
    return f"believing that {believed(reason.known, since, reason.field)}; {wrote(since, 'it')}"
