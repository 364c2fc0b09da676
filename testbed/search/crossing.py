"""Crossing: a complete search is put to the test, by playing its classes in another order.

A complete search plays one Run of each class, and trusts footprints that all others would come to
the same. So classes are played again: as they were seen, with the turns that commute in the
opposite order, and in orders that are drawn from the seed of the search. A turn that then shows
something else has looked at what no footprint names, such as a list that two actors share. Every
such look in the wrong order is a Run that the search left out; so it is an error, and not a class
more.

1. Up to CROSSED_MAX classes, spread evenly, are played in the opposite order.
2. A third of the turns that the search has played, and TURNS_MIN at least, are spent on drawn
   orders: of all classes as many as can be had, or DRAWN_MIN of each of some, spread evenly. What
   one class does not need, since it has few orders, goes to those after it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import attrs

from testbed.choosers.complete import Complete
from testbed.choosers.crossed import Crossed, crossed_order, drawn_order
from testbed.choosers.equivalence.certificate import AT_REST, Seen, Tested
from testbed.choosers.equivalence.orders import Past
from testbed.choosers.sampling.chance import Chance
from testbed.errors import ReplayDiverged
from testbed.races.trying import never_over
from testbed.turns.imprint import apart, as_json, suspects_in
from testbed.turns.option import Option
from testbed.turns.trace import Step, Trace
from testbed.world.world import World

CROSSED_MAX = 50
"""How many classes are played in the opposite order, at most."""
TURNS_MIN, DRAWN_MIN = 5_000, 4
TURNS_OF = 3
"""One turn is played in a drawn order for so many turns of the search: a quarter of both."""
REPEATS_MAX = 8
"""A class of which so many draws in a row were known has no more orders, or hardly any."""
REVISIONS = re.compile(r'("(?:revision|resourceVersion)":)"[^"]*"')


@attrs.frozen
class Difference:
    """Something that one class does not come to in both orders."""

    turn: str
    said: str
    option: Option | None = None
    """What was performed, or last before it."""

    def error(self, where: str, again: str) -> ReplayDiverged:
        """The error that says so."""
        found = [] if self.option is None else suspects_in(self.option)
        who = (self.option and self.option.actor) or "the scenario"
        likely = (
            f"Most likely: {'; '.join(found)}."
            if found
            else f"Look in {who} for an object that actors share, a closure, or a global."
        )
        return ReplayDiverged(
            f"{where}, `{self.turn}`: {self.said}, once turns that touch nothing in common came in "
            "another order.\n"
            "It looked at something that no footprint names, so this search is not complete. "
            f"{likely}\nNext: {again}"
        )


@attrs.frozen
class Crossing:
    """Plays classes in other orders."""

    world: Callable[[], World]
    """Makes a World of what was searched."""
    driver: str
    seed: int = 0
    """What orders are drawn from."""
    is_over: Callable[[], bool] = never_over
    """Asked before each class: whether time is up."""

    def test(self, search: Complete, again: str) -> bool:
        """Put a search that came to its end to the test; ReplayDiverged if it fails that, and then
        it is complete no more. False if time was up before."""
        is_whole = False
        try:
            orders = self.check(search.seen, again, search.turns)
            search.tested, is_whole = Tested(orders, search.turns, self.seed), not self.is_over()
        finally:
            if not is_whole:
                search.refute()
        return is_whole

    def check(self, classes: Sequence[Seen], again: str, turns: int = 0) -> int:
        """Play these classes in other orders; ReplayDiverged if one comes to something else.
        `turns` is how many the search has played, and `again` what a user should paste to see that
        once more. Returns how many orders were compared to their end."""
        orders, left = 0, max(TURNS_MIN, turns // TURNS_OF)
        opposite = set(range(0, len(classes), max(1, -(-len(classes) // CROSSED_MAX))))
        drawn = _spread(classes, left)
        for number in sorted(opposite.union(drawn)):
            if self.is_over():
                break
            tried = Orders(self, classes[number], Chance(self.seed, number))
            if not tried.are_some:
                continue
            if number in opposite:
                tried.play(crossed_order(tried.past))
            if number in drawn:
                share = left // sum(each >= number for each in drawn)
                left -= tried.play_drawn(share)
            if tried.found is not None:
                raise tried.found.error(f"class {number + 1} of {len(classes)}", again)
            orders += tried.compared
        return orders


def _spread(classes: Sequence[Seen], left: int) -> list[int]:
    """The classes of which drawn orders are played, if so many turns are left for that."""
    total = sum(len(seen.turns) for seen in classes)
    runs = left * len(classes) // max(total, 1)
    wanted = min(len(classes), max(1, runs // (DRAWN_MIN + 1)))
    return [number * len(classes) // wanted for number in range(wanted)]


class Orders:
    """One class, played as it was seen and in other orders."""

    def __init__(self, crossing: Crossing, seen: Seen, chance: Chance) -> None:
        self.past = Past()
        for turn in seen.turns:
            self.past.add(turn)
        self.found: Difference | None = None
        """The first thing that was not the same."""
        self.compared = 0
        """How many orders came to the same."""
        self._crossing = crossing
        self._turns = seen.turns
        self._chance = chance
        self._straight = tuple(range(len(seen.turns)))
        self._known = {self._straight}
        self.are_some = seen.end in AT_REST and (tuple(crossed_order(self.past)) != self._straight)
        """Whether it has other orders, and came to an end."""

    @cached_property
    def _first(self) -> tuple[Crossed, World]:
        return self._play(self._straight)

    def play_drawn(self, turns: int) -> int:
        """Play drawn orders in so many turns, the Run as it was seen among them; returns how many
        it took."""
        length, used, repeats = len(self._turns), len(self._turns), 0
        while used + length <= turns and repeats < REPEATS_MAX and self.found is None:
            order = drawn_order(self.past, self._chance)
            if tuple(order) in self._known:
                repeats += 1
                continue
            repeats = 0
            self.play(order)
            used += length
        return used

    def play(self, order: Sequence[int]) -> None:
        """Play it in this order, and compare."""
        self._known.add(tuple(order))
        straight, first = self._first
        crossed, second = self._play(order)
        stopped = [chooser for chooser in (straight, crossed) if chooser.stopped_at]
        if any(chooser.may_be_missing for chooser in stopped):
            return
        for place, step in zip(order, crossed.steps, strict=False):
            if place < len(straight.steps):
                said = _unlike(straight.steps[place], step, is_whole=not stopped)
                if said:
                    self.found = Difference(str(step.option), said, step.option)
                    return
        for chooser in stopped:
            last = chooser.steps[-1].option if chooser.steps else None
            self.found = Difference(chooser.stopped_at, "it cannot happen", last)
            return
        one, other = _broken(first), _broken(second)
        if one != other:
            self.found = Difference("the end", f"{one} was broken, and {other} is")
            return
        self.compared += 1

    def _play(self, order: Sequence[int]) -> tuple[Crossed, World]:
        world, chooser = self._crossing.world(), Crossed(self._turns, order)
        world.run(chooser, driver=self._crossing.driver, trace=Trace({}, keep=True))
        return chooser, world


def _unlike(was: Step, now: Step, *, is_whole: bool) -> str:
    """What two Steps of one turn do not show alike, in words; empty if nothing is. Of a Run that
    was cut, later turns may still have added to what was touched."""
    pairs = [*zip(_shown(was), _shown(now), strict=True)]
    for (words, one), (_, other) in pairs if is_whole else pairs[:-2]:
        if one != other:
            before, after = apart(one, other)
            return f"{words} was {before or 'nothing'}, and is {after or 'nothing'}"
    return ""


def _shown(step: Step) -> Iterator[tuple[str, str]]:
    """What a turn shows in every order of the turns that commute with it; no revisions."""
    yield "its time in ms", str(step.now_ms)
    if step.operation is not None:
        yield "what it asked for", _plain(step.operation.body)
    else:
        yield "what it asked for", ""
    yield "its refusal", step.outcome
    changed = [(each.key, each.new and each.new.value) for each in step.marks.changes]
    yield "what it wrote", _plain(changed)
    yield "what it recorded", _plain([(each.name, each.facts) for each in step.records])
    yield "what it read", " ".join(sorted(step.did.reads))
    yield "what it touched", " ".join(sorted(step.did.writes))


def _plain(value: object) -> str:
    return REVISIONS.sub(r'\1""', as_json(value))


def _broken(world: World) -> str:
    assert world.verdict is not None
    return ", ".join(sorted({each.invariant for each in world.verdict.violations})) or "nothing"
