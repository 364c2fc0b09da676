"""Counting: says which of several Options of one name each is, as race files number them."""

from __future__ import annotations

from typing import NamedTuple

from testbed.races.pattern import Pattern, name_of
from testbed.turns.option import ANSWER, DELIVER, SERVE, START, Option


class Numbers(NamedTuple):
    """Which of several Options of one name it is."""

    by_actor: int
    by_task: int
    life: int
    of_change: tuple[int, ...] = ()
    """Of a delivery: by actor and by task, among those with a Change of the same type."""

    def of(self, pattern: Pattern) -> int:
        """The number that is compared with that of the Pattern."""
        is_task = "/" in pattern.who
        if pattern.change:
            return self.of_change[is_task]
        return self.by_task if is_task else self.by_actor


class Counting:
    """Counts Options by name as they come up, to say which of several of one name each is."""

    def __init__(self) -> None:
        self.lives: dict[str, int] = {}
        """How often each actor has started."""
        self._asked: dict[tuple[str, str, str, int], Numbers] = {}
        """The numbers of each actor's requests in its current life."""
        self._counts: dict[str, dict[str, int]] = {}
        """By actor and name: how many Options have come up since the last start of the actor."""

    def next(self, option: Option) -> Numbers:
        """Return the numbers that it has if it is the next to be performed or held.

        An answer has the numbers of its request, since a fault may replace one answer by another.
        If its Endpoint was down, the request did not come up before its answer.
        """
        if option.kind == ANSWER:
            return self.asked(_as_request(option))
        actor = option.path.partition("/")[0]
        counts = self._counts.get(actor, {})
        by_actor, by_task, *of_change = (counts.get(name, 0) + 1 for name in _counted(option))
        # A start belongs to the life that it begins.
        life = self.lives.get(actor, 0) + is_start(option)
        return Numbers(by_actor, by_task, life, tuple(of_change))

    def asked(self, request: Option) -> Numbers:
        """Return the numbers of a request, whether it has come up before or not."""
        return self._asked.get(asked_as(request)) or self.next(request)

    def number(self, option: Option) -> Numbers:
        """Give an Option that comes up now its numbers, so that the next one gets others."""
        if option.kind == ANSWER:
            self.number_once(_as_request(option))
            return self.next(option)
        numbers = self.next(option)
        counts = self._counts.setdefault(option.path.partition("/")[0], {})
        counted = (numbers.by_actor, numbers.by_task, *numbers.of_change)
        counts.update(zip(_counted(option), counted, strict=True))
        if option.kind == SERVE:
            # Its later parts are counted by names of their own; it keeps the number of the first.
            self._asked.setdefault(asked_as(option), numbers)
        return numbers

    def number_once(self, request: Option) -> None:
        """Give a request its numbers if it has none yet: a fault may strike one that was neither
        performed nor held so far."""
        if asked_as(request) not in self._asked:
            self.number(request)

    def performed(self, option: Option) -> None:
        """Note that it was performed; if that starts a life, its actor is counted from 1 again."""
        if is_start(option):
            self._counts.pop(option.actor, None)
            self._asked = {
                asked: numbers
                for asked, numbers in self._asked.items()
                if asked[0].partition("/")[0] != option.actor
            }
            self.lives[option.actor] = self.lives.get(option.actor, 0) + 1


def is_start(option: Option) -> bool:
    """Whether it starts a life of an actor."""
    return option.kind == START and option.path == f"{option.actor}/main"


def names_of(option: Option) -> tuple[str, str]:
    """Return what a race file calls an Option, by its actor and by its task, without a number."""
    return name_of(option, by_task=False, nth=1), name_of(option, by_task=True, nth=1)


def _counted(option: Option) -> tuple[str, ...]:
    """The names under which it is counted; a delivery also under those with the type of Change."""
    names = names_of(option)
    if option.kind != DELIVER:
        return names
    return *names, *(f"{option.change} {name}" for name in names)


def request_of(fault: Option) -> Option:
    """Return the request that a fault would strike, as an Option."""
    who, verb, key = fault.key.split(" ", 2)
    key, _, nth = key.partition("#")
    path = who if "/" in who else f"{who}/main"
    actor = who.partition("/")[0]
    return Option(SERVE, path, _never, actor=actor).about(verb, key, nth=int(nth or 1))


def asked_as(option: Option) -> tuple[str, str, str, int]:
    """Return what all parts of a request, and its answer, have in common."""
    return option.path, option.verb.partition(".")[0], option.key, option.nth


def _as_request(answer: Option) -> Option:
    """The request that an answer belongs to, as an Option."""
    request = Option(SERVE, answer.path, _never, actor=answer.actor)
    return request.about(answer.verb, answer.key, nth=answer.nth)


def _never() -> None:
    """Do nothing: an Option that only stands for a request is never performed."""
