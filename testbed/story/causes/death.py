"""Death: an actor died of an error that it did not catch, and of which request that was.

1. The request that its task had sent last, if its caller was let go or refused: whether it took
   effect all the same, and, if it was refused for what others had written, that this was old news.
2. Any other error is one of the program itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from testbed.story.cause import Cause, CauseShape, sentence
from testbed.story.knowledge import Act
from testbed.story.requests import Sent
from testbed.story.slice import Slice
from testbed.story.wording import believed, wrote
from testbed.turns.found import DIED
from testbed.turns.life import Death


def found(slice_: Slice) -> Iterator[Cause]:
    """The cause of a death; nothing if the Violation is none."""
    violation, world = slice_.violation, slice_.trace.played_in
    if violation is None or violation.reason != DIED or world is None:
        return
    death: Death = next(each for each in world.table.deaths if str(each) == violation.said)
    path, actor, error, place = death.path, death.actor, death.kind, death.line
    sent = next((s for s in reversed(slice_.requests.all) if s.path == path), None)
    head = f"{actor} died of {error} (step {violation.step})"
    if sent is None or not _is_of_it(sent, error):
        text = sentence(head, (f"at {place}, an error of its own" if place else "", ""))
        yield Cause(CauseShape.UNKNOWN, text, actor, "die", None, violation.step)
    elif sent.changes and not sent.refused:
        change = sent.changes[-1]
        made = slice_.knowledge.version(change.key, change.revision)
        text = sentence(
            f"{head}: its {sent.word} of {change.key} {sent.unanswered},",
            f"and had taken effect at rv {change.revision} (step {sent.step})",
        )
        did = f"{sent.word} {change.key}"
        yield Cause(CauseShape.DID_IT_HAPPEN, text, actor, did, made, violation.step)
    else:
        yield _refused(slice_, head, sent, violation.step)


def _is_of_it(sent: Sent, error: str) -> bool:
    return bool(sent.let_go) or sent.refused == error


def _refused(slice_: Slice, head: str, sent: Sent, step: int) -> Cause:
    """A request without effect, and what it was refused for."""
    how = f"{sent.unanswered} (step {sent.let_go})"
    if sent.refused:
        how = f"was refused (step {sent.step})"
    did = f"{sent.word} {sent.key}"
    act = Act(sent.step, sent.asked, sent.path, sent.actor, sent.word)
    for stale in slice_.knowledge.stale(act, [sent.key]) if sent.refused else ():
        since = stale.missed[0]
        text = sentence(
            f"{head}: its {sent.word} of {sent.key} {how}, for it believed that",
            f"{believed(stale.known, since, what='it')}; false since {wrote(since, 'it')}",
        )
        return Cause(CauseShape.OLD_NEWS, text, sent.actor, did, since, step)
    text = sentence(
        f"{head}: its {sent.word} of {sent.key} {how}", ", and it survives no such error"
    )
    return Cause(CauseShape.UNKNOWN, text, sent.actor, did, None, step)
