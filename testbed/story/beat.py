"""Beat: one sentence of a story, with its place in it and why it is told."""

from __future__ import annotations

from enum import IntEnum

import attrs


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
