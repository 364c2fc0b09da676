"""Crossing: a complete search is put to the test, by playing its classes in another order.

A complete search plays one Run of each class, and trusts footprints that all others would come to
the same. So classes are played twice more: as they were seen, and with the turns that commute in
the opposite order. A turn that then shows something else has looked at what no footprint names,
such as a list that two actors share. Every such look in the wrong order is a Run that the search
left out; so it is an error, and not a class more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import attrs

from testbed.choosers.crossed import Crossed, crossed_order
from testbed.choosers.equivalence.certificate import AT_REST, Seen
from testbed.choosers.equivalence.orders import OrderedTurn, Past
from testbed.errors import ReplayDiverged
from testbed.races.trying import never_over
from testbed.turns.imprint import apart, as_json, suspects_in
from testbed.turns.option import Option
from testbed.turns.trace import Step, Trace
from testbed.world.world import World

CROSSED_MAX = 50
"""How many classes are played in another order, at most."""
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
    """Plays classes in another order."""

    world: Callable[[], World]
    """Makes a World of what was searched."""
    driver: str
    is_over: Callable[[], bool] = never_over
    """Asked before each class: whether time is up."""

    def check(self, classes: Sequence[Seen], again: str) -> int:
        """Play some of these classes in another order, spread evenly; ReplayDiverged if one comes
        to something else. `again` is what a user should paste to see that once more. Returns how
        many were compared to their end."""
        step = max(1, -(-len(classes) // CROSSED_MAX))
        compared = 0
        for number in range(0, len(classes), step):
            if self.is_over():
                break
            found = self._compared(classes[number])
            if isinstance(found, Difference):
                raise found.error(f"class {number + 1} of {len(classes)}", again)
            compared += found
        return compared

    def _compared(self, seen: Seen) -> bool | Difference:
        """Whether that class has another order, and was compared with it to its end."""
        past = Past()
        for turn in seen.turns:
            past.add(turn)
        order = crossed_order(past)
        if order == sorted(order) or seen.end not in AT_REST:
            return False
        straight, first = self._play(seen.turns, sorted(order))
        crossed, second = self._play(seen.turns, order)
        stopped = [chooser for chooser in (straight, crossed) if chooser.stopped_at]
        if any(chooser.may_be_missing for chooser in stopped):
            return False
        for place, step in zip(order, crossed.steps, strict=False):
            if place < len(straight.steps):
                said = _unlike(straight.steps[place], step, is_whole=not stopped)
                if said:
                    return Difference(str(step.option), said, step.option)
        for chooser in stopped:
            last = chooser.steps[-1].option if chooser.steps else None
            return Difference(chooser.stopped_at, "it cannot happen", last)
        one, other = _broken(first), _broken(second)
        if one != other:
            return Difference("the end", f"{one} was broken, and {other} is")
        return True

    def _play(self, turns: Sequence[OrderedTurn], order: Sequence[int]) -> tuple[Crossed, World]:
        world, chooser = self.world(), Crossed(turns, order)
        world.run(chooser, driver=self.driver, trace=Trace({}, keep=True))
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
