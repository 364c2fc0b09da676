"""Tree: the turns and picks at which a search may go on in another way, and what was tried there.

A TurnNode stands for one turn of the Run under way. What is to be tried there grows while the Runs
below it are played. What was tried sleeps in the Runs that go other ways from there. A Walk is what
belongs to one Run alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain

import attrs

from testbed.chooser import RunInfo
from testbed.choosers.equivalence.certificate import Offer, Said
from testbed.choosers.equivalence.orders import (
    NO_TOUCH,
    OrderedTurn,
    Picked,
    Touch,
    settings_of,
)
from testbed.turns.option import FAULT, Option, Sentence
from testbed.turns.trace import Step

Name = tuple[Sentence, int, str, int]
"""What tells an Option from all others of one turn, and it keeps it while it waits: its sentence,
its life, the settings of a fault, and its number among faults that are alike in all of these."""


@attrs.define
class Walk:
    """One Run on its way down the tree. What is known of its turns stands in the `Past`, since the
    next Run begins with most of them."""

    run: RunInfo
    depth: int = 0
    """How many turns and picks of it have been chosen."""
    strikes: int = 0
    """How many faults have struck."""
    is_blocked: bool = False
    """Whether it was cut since all that was ready slept."""
    picks: list[Picked] = attrs.Factory(list)
    """The picks of the turn under way."""
    steps: list[tuple[Step, tuple[Picked, ...]]] = attrs.Factory(list)
    """Its turns so far, and what was picked in each."""
    place_of: dict[int, int] = attrs.Factory(dict)
    """The place of a turn among its turns, by the number of its Step; picks are Steps as well."""
    touch: Touch = NO_TOUCH
    """What its last turn touched, or may turn out to have touched."""
    ready: Sequence[Option] = ()
    """What was ready at its last turn, in calm order."""

    @property
    def spent(self) -> set[str]:
        """The limits that its turns have just reached: there, no fault could strike."""
        run, at = self.run, Counter(step.now_ms for step, _ in self.steps)
        limits = {"turns_max": run.turns_max, "instant_turns_max": run.instant_turns_max}
        reached = {"turns_max": at.total(), "instant_turns_max": max(at.values(), default=0)}
        return {name for name, most in limits.items() if reached[name] == most > 0}


@attrs.define
class Tried:
    """What is known of an Option that was performed at some turn."""

    touch: Touch = NO_TOUCH
    """What it touched, whatever was picked."""
    withdrew: set[Name] = attrs.Factory(set)
    """What was ready when it was performed, and was no longer ready afterwards."""


def is_fault(name: Name | None) -> bool:
    """Whether it is a fault: it never has to happen."""
    return name is not None and name[0].kind == FAULT


REST: Name = (Sentence("rest", "", "", "", "", 1), 0, "", 0)
"""Stands for the end of a Run at which a fault could still have struck."""


class TurnNode:
    """One turn of the Run under way: what may happen, what was tried, what is to be tried."""

    def __init__(
        self, index: dict[Name, int], ready: int, due_ms: int, asleep: dict[Name, Tried]
    ) -> None:
        self.index = index
        """The place of each Option among those that were offered."""
        self.ready = ready
        self.names = sorted(index, key=index.__getitem__)
        self.due_ms = due_ms
        """When all that is ready is due."""
        self.asleep = asleep
        """What need not be tried here, since it comes to Runs that were played already."""
        self.done: dict[Name, Tried] = {}
        """What was tried here, and every Run below it was played."""
        self.wanted = [name for name in self.names[ready:] if name not in asleep]
        """All that is to be tried here or was, in this order."""
        awake = [name for name in self.names[:ready] if name not in asleep]
        self.wanted += awake[:1] if ready else [REST]
        self.chosen: Name | None = self.wanted[0] if self.wanted else None
        """What is being tried; None if all that is ready sleeps."""
        self.tried = Tried()
        """What is known so far of the one chosen."""
        self.silenced: list[tuple[Name, Touch]] = []
        """What slept or was tried here and was withdrawn by the one chosen, and what it would
        touch: it could have happened later, had the one chosen waited."""

    @property
    def is_left(self) -> bool:
        """Whether the Run ends here, and no fault strikes at rest."""
        return self.chosen == REST

    @cached_property
    def offer(self) -> Offer:
        """What may happen, as a certificate says it."""
        said = [Said(sentence, settings) for sentence, _, settings, _ in self.names]
        return Offer(tuple(said[: self.ready]), tuple(said[self.ready :]), self.due_ms)

    @property
    def taken(self) -> tuple[Offer, int]:
        """The same, and which of it was chosen; -1 for the end at which no fault struck."""
        chosen = self.chosen
        is_turn = chosen is not None and chosen in self.index
        return self.offer, self.names.index(chosen) if is_turn and chosen is not None else -1

    def still_there(
        self, was: Sequence[Option], now: Sequence[Option], index: dict[Name, int]
    ) -> dict[Name, Name]:
        """What is called so here and has not been withdrawn since, and its name at the next turn:
        there, `now` is ready, and `index` has the places. Here, `was` was ready."""
        # What was withdrawn may have a successor of its name at once, which is not it: the next
        # timer of a task, or a delivery that is offered again. A fault has nothing but its name.
        names = {now[at]: name for name, at in index.items() if at < len(now)}
        found = {name: names.get(was[at]) for name, at in self.index.items() if at < self.ready}
        found |= {name: name for name in self.names[self.ready :] if name in index}
        return {name: other for name, other in found.items() if other is not None}

    def want(self, name: Name) -> None:
        """Have this tried as well, unless it is to be tried anyway or sleeps."""
        if name not in self.wanted and name not in self.asleep:
            self.wanted.append(name)

    def want_all(self) -> None:
        """Have all tried that is ready."""
        for name in self.names[: self.ready]:
            self.want(name)

    def choose_next(self) -> bool:
        """Choose what is tried next, after the one chosen; False if nothing is left."""
        assert self.chosen is not None
        self.done[self.chosen] = self.tried
        self.tried = Tried()
        self.silenced = []
        self.chosen = next((name for name in self.wanted if name not in self.done), None)
        return self.chosen is not None

    def withdraw(self, name: Name) -> None:
        """Note that the one chosen has withdrawn this, which could have happened instead."""
        # What is gone never happens in this Run, so no race of the Run can show that it might have
        # come first: it must be asked for here. If it sleeps it is not tried, and then whatever it
        # would have raced with later is missed too; that is what `silenced` is kept for.
        self.tried.withdrew.add(name)
        if not is_fault(self.chosen):
            self.want(name)
            known = self.asleep.get(name) or (self.done.get(name) if is_fault(name) else None)
            if known is not None:
                self.silenced.append((name, known.touch))

    def silences(self, turn: OrderedTurn, may_strike: bool) -> bool:
        """Whether something silenced would have raced with this turn; a fault only if one more may
        strike."""
        return any(
            touch.clashes(turn.touch)
            for name, touch in self.silenced
            if may_strike or not is_fault(name)
        )

    def still_asleep(self, touch: Touch, has_passed: bool) -> Iterator[tuple[Name, Tried]]:
        """What goes on sleeping after the one chosen, which touched that."""
        # All Runs that begin with a sleeping Option have been played from some earlier node. If
        # only turns come between that touch nothing it touches, performing it now gives Runs of
        # the same classes, so it is skipped. It wakes up at the first turn that clashes with it,
        # or that its own turn would have withdrawn: then its place in the order matters again. A
        # fault also wakes up when time has passed, for at another time it is another deviation.
        for name, tried in chain(self.asleep.items(), self.done.items()):
            if has_passed and is_fault(name):
                continue
            if self.chosen not in tried.withdrew and not tried.touch.clashes(touch):
                yield name, tried


def offered_at(nodes: Sequence[TurnNode], fault: int) -> int:
    """The place of the turn after which the fault that was chosen there was first offered; -1 if
    it was from the beginning. A fault does not tell its causes, so that turn stands for them."""
    name, since = nodes[fault].chosen, fault
    while since and name in nodes[since - 1].index:
        since -= 1
    return since - 1


def named(options: Sequence[Option], first: int = 0) -> dict[Name, int]:
    """The place of every Option by its name, counted from `first`."""
    names: dict[Name, int] = {}
    for at, option in enumerate(options, first):
        known, nth = (option.sentence, option.life, settings_of(option)), 0
        while (*known, nth) in names:
            nth += 1
        names[(*known, nth)] = at
    return names


@attrs.define
class Fork:
    """One pick of a turn: all its alternatives are tried, one after another."""

    of: int
    at: int = 0
