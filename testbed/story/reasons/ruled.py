"""Ruled: its actor is set otherwise than with the guard on, and does otherwise on the same news."""

from __future__ import annotations

from testbed.story.cause import Cause, CauseShape, sentence
from testbed.story.deciding import decided, said_of_it
from testbed.story.slice import Slice
from testbed.story.twins.compared import UnlikeAct
from testbed.story.twins.pair import Parted


def told(slice_: Slice, deed: UnlikeAct, head: str) -> Cause | None:
    """`…, which it would not with the guard on, though it saw the same: it chose …`; None if it is
    not compared with the guard."""
    act = deed.effect.act
    if not deed.twin.is_guarded:
        return None
    why = decided(slice_, act) or said_of_it(slice_, act)
    does = "would do otherwise" if deed.how is Parted.OTHER else "would not do that"
    text = sentence(
        f"{head}, and {does} with the guard on, though it saw the same",
        (f": {why}" if why else "", ""),
    )
    return Cause.of(CauseShape.UNKNOWN, act, text)
