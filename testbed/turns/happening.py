"""Happening: one turn, fault or pick of a Run, named so that another World finds it again.

A choice is a number in a line, and the line depends on what is held back. A Happening does not: two
Runs with the same turns in the same order have the same Happenings, whatever Chooser chose them.
"""

from __future__ import annotations

from typing import Any

import attrs

from testbed.code.quick import quick
from testbed.turns.option import FAULT, Option

Key = tuple[Any, ...]
"""What tells an Option from all others that are pending: its sentence and its life; of a fault,
also the Fault itself."""


def key_of(option: Option) -> Key:
    """What an Option is found again by, in another World with the same turns."""
    return (option.sentence, option.life, option.fault if option.kind == FAULT else None)


@quick
@attrs.frozen
class Happening:
    """One turn or fault of a Run, or one pick in a turn."""

    key: Key
    """Of a pick, the sentence alone."""
    now_ms: int
    """The virtual time before it."""
    picked: int | None = None
    """The number of the alternative, if it is a pick."""

    @property
    def is_fault(self) -> bool:
        """Whether a fault struck."""
        return bool(self.key[0].kind == FAULT)

    @property
    def is_pick(self) -> bool:
        """Whether something was picked."""
        return self.picked is not None

    @property
    def again(self) -> tuple[object, ...]:
        """What is the same in each lap: all but the count of such things before it."""
        sentence = self.key[0]
        return (sentence.kind, sentence.path, sentence.verb, self.picked)
