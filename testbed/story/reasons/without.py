"""Without: no Run was found that tells why; what is so, and without which write it would hold."""

from __future__ import annotations

from collections.abc import Iterator

from testbed.story.cause import Cause, CauseShape, sentence
from testbed.story.deciding import last_said
from testbed.story.slice import Slice
from testbed.story.twins.compared import Compared
from testbed.story.twins.side import TracedEffect
from testbed.story.wording import acted, listed

DONE_MAX = 2
"""At most this many writes are named."""


def told(slice_: Slice, compared: Compared, otherwise: Cause) -> Cause:
    """What an actor has last said of an object that the Violation names; else the writes without
    which it would hold, whoever made them; else that nothing more is known."""
    said = last_said(slice_, slice_.named_keys)
    if said is not None:
        text = sentence(f"{acted(said)}, and that was the last that is said of it")
        return Cause(CauseShape.UNKNOWN, text, said.actor, said.word, None, said.step)
    effects = list(_of_others(compared))
    if not effects:
        return otherwise
    acts = list({effect.step: effect.act for effect in effects}.values())[:DONE_MAX]
    text = sentence(
        f"It would hold without this: {listed([acted(act) for act in acts])}",
        "; no Run that was tried shows why",
    )
    return Cause.of(CauseShape.UNKNOWN, acts[0], text)


def _of_others(compared: Compared) -> Iterator[TracedEffect]:
    for each in compared.about:
        yield from each.effects
