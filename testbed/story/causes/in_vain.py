"""In vain: a write that changed nothing, because its actor acted on an old state.

Two actors read 0, and each writes 1. The second write changes nothing, so the Store makes no
revision of it, and no act of the Run shows it. One of the two counts is lost all the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from testbed.story.cause import Cause, CauseShape, before_its_own, sentence
from testbed.story.knowledge import Act, changed_nothing
from testbed.story.requests import Sent
from testbed.story.slice import Slice
from testbed.story.wording import believed, known_by, wrote
from testbed.words import past


def found(slice_: Slice) -> Iterator[Cause]:
    """Such writes to what the Violation is about, the last one first."""
    end = slice_.end
    keys = slice_.named_keys | slice_.counted
    for sent in reversed(slice_.requests.all):
        is_vain = sent.parts and changed_nothing(sent.parts[-1]) and not sent.changes
        if is_vain and sent.key in keys and sent.step <= end and not _made_good(slice_, sent):
            yield from of(slice_, sent)


def of(slice_: Slice, sent: Sent) -> Iterator[Cause]:
    """Why that write changed nothing."""
    act = Act(sent.step, sent.asked, sent.path, sent.actor, sent.word)
    did = f"{sent.word} {sent.key}"
    said = f"{sent.actor} {past(sent.word)} {sent.key} to what it was already (step {sent.step})"
    for stale in slice_.knowledge.stale(act, [sent.key]):
        since = stale.missed[-1]
        belief = believed(stale.known, since, what="it")
        how = f", {known_by(stale.known, since)}"
        text = sentence(
            f"{said}, believing that {belief}", (how, ""), f"; false since {wrote(since, 'it')}"
        )
        yield Cause(CauseShape.OLD_NEWS, text, sent.actor, did, since, sent.step)
    for own in slice_.knowledge.unseen(act, [sent.key]):
        text = before_its_own(said, own)
        yield Cause(CauseShape.OLD_NEWS, text, sent.actor, did, own, sent.step)


def _made_good(slice_: Slice, sent: Sent) -> bool:
    """Whether its actor wrote the same object later."""
    written = slice_.knowledge.versions.get(sent.key, [])
    return any(v.actor == sent.actor and v.step > sent.step for v in written)
