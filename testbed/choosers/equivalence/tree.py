"""Tree: the turns and picks at which a search may go on in another way, and what was tried there.

A Node stands for one turn of the Run under way. What is to be tried there grows while the Runs
below it are played; what was tried goes to sleep in the Runs that go other ways.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain

import attrs

from testbed.choosers.equivalence.certificate import Offer
from testbed.choosers.equivalence.orders import NO_TOUCH, OrderedTurn, Touch
from testbed.turns.option import FAULT, Option, Sentence

Name = tuple[Sentence, int]
"""An Option among those of one turn: its sentence, and which of that sentence, oldest first."""


@attrs.define
class Tried:
    """What is known of an Option from having performed it at some turn."""

    touch: Touch = NO_TOUCH
    """What it touched, whatever was picked."""
    withdrew: set[Name] = attrs.Factory(set)
    """What was ready beside it, and was not when it had happened."""


def is_fault(name: Name | None) -> bool:
    """Whether it need not happen."""
    return name is not None and name[0].kind == FAULT


REST: Name = (Sentence("rest", "", "", "", "", 1), 0)
"""Stands for the end of a Run, where a fault could still have struck."""


class TurnNode:
    """One turn of the Run under way: what may happen, what was tried, what is to be."""

    def __init__(
        self, index: dict[Name, int], ready: int, due_ms: int, asleep: dict[Name, Tried]
    ) -> None:
        self.index = index
        """Where each Option stands."""
        self.ready = ready
        self.names = sorted(index, key=index.__getitem__)
        self.due_ms = due_ms
        """When all that is ready is due."""
        self.asleep = asleep
        self.done: dict[Name, Tried] = {}
        self.wanted = [name for name in self.names[ready:] if name not in asleep]
        """All that is to be tried, and what was, in this order."""
        awake = [name for name in self.names[:ready] if name not in asleep]
        self.wanted += awake[:1] if ready else [REST]
        self.chosen: Name | None = self.wanted[0] if self.wanted else None
        self.tried = Tried()
        """What is known so far of the one chosen."""
        self.silenced: list[tuple[Name, Touch]] = []
        """What slept or was tried and is withdrawn by the one chosen, and what it would touch: it
        could have happened later, had the one chosen waited."""

    @cached_property
    def offer(self) -> Offer:
        """What may happen, as a certificate says it."""
        said = [sentence for sentence, _ in self.names]
        return Offer(tuple(said[: self.ready]), tuple(said[self.ready :]), self.due_ms)

    def want(self, name: Name) -> None:
        """Try this, too, unless it is to be tried anyway or sleeps."""
        if name not in self.wanted and name not in self.asleep:
            self.wanted.append(name)

    def want_all(self) -> None:
        """Try all that is ready."""
        for name in self.names[: self.ready]:
            self.want(name)

    def has_next(self) -> bool:
        """Done with the one chosen: choose another; False if none is left."""
        assert self.chosen is not None
        self.done[self.chosen] = self.tried
        self.tried = Tried()
        self.silenced = []
        self.chosen = next((name for name in self.wanted if name not in self.done), None)
        return self.chosen is not None

    def withdraw(self, name: Name) -> None:
        """The one chosen has taken this away, which could have happened instead."""
        self.tried.withdrew.add(name)
        if not is_fault(self.chosen):
            self.want(name)
            known = self.asleep.get(name) or (self.done.get(name) if is_fault(name) else None)
            if known is not None:
                self.silenced.append((name, known.touch))

    def silences(self, event: OrderedTurn, may_strike: bool) -> bool:
        """Whether something silenced would have raced with that; a fault, if one may strike."""
        return any(
            touch.clashes(event.touch)
            for name, touch in self.silenced
            if may_strike or not is_fault(name)
        )

    def still_asleep(self, touch: Touch, has_passed: bool) -> Iterator[tuple[Name, Tried]]:
        """What comes out the same before the one chosen, which touches that, and after it."""
        for name, tried in chain(self.asleep.items(), self.done.items()):
            if has_passed and is_fault(name):
                continue
            if self.chosen not in tried.withdrew and not tried.touch.clashes(touch):
                yield name, tried


def named(options: Sequence[Option], first: int = 0) -> dict[Name, int]:
    """Where every Option stands, counted from `first`, by its name; of two with one sentence, the
    older one is the first."""
    names: dict[Name, int] = {}
    for at, option in enumerate(options):
        sentence, nth = option.sentence, 0
        while (sentence, nth) in names:
            nth += 1
        while nth and options[names[sentence, nth - 1] - first].causes > option.causes:
            names[sentence, nth] = names[sentence, nth - 1]
            nth -= 1
        names[sentence, nth] = at + first
    return names


@attrs.define
class Fork:
    """One pick of a turn: all its alternatives are tried, one after another."""

    of: int
    at: int = 0
