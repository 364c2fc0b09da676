"""What two actors hold together and can change is seen before a search, and nothing else is."""

from __future__ import annotations

import itertools
import logging
import random
import re
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from enum import Enum
from functools import partial
from types import MappingProxyType, SimpleNamespace
from typing import Any, ClassVar

import attrs
import pytest

from testbed import Actor, Client, World
from testbed.choosers.complete import Complete
from testbed.errors import ScenarioError
from testbed.objects import Map, Note
from testbed.store.store import Store
from testbed.store.store_endpoint import StoreEndpoint
from testbed.turns.shared import shared
from testbed.world.scenario import of, play_runs
from tests.each_row import each_row
from tests.shared.stage import Doing, Puppet, note

COUNT = 0
COUNTS: dict[str, int] = {}
NAMES = ["one", "two"]
WROTE: list[str] = []


class Color(Enum):
    """Two values."""

    RED, BLUE = 1, 2


class Open:
    """Anybody may change it."""

    def __init__(self) -> None:
        self.seen = 0


class Blank:
    """It holds nothing."""


@attrs.frozen
class Settings:
    """Frozen, with what its field is given."""

    names: Any = ()


def uses(held: object) -> Callable[[], object]:
    """A function that closes over that."""
    return lambda: held


def defaults(held: object) -> Callable[[], object]:
    """A function with that for a default."""

    def does(seen: object = held) -> object:
        return seen

    return does


def carries(held: object) -> Callable[[], object]:
    """A function with that for an attribute."""

    def does() -> None:
        """Do nothing."""

    does.seen = held  # type: ignore[attr-defined]
    return does


def methods(held: object) -> object:
    """An object whose method closes over that."""

    class Does:
        def run(self) -> object:
            return held

    return Does()


WAYS: dict[str, Callable[[Any], object]] = {
    "closure": uses, "default": defaults, "function": carries, "method": methods,
    "partial": lambda held: partial(print, held), "field": Settings,
    "deep": lambda held: uses((Settings({"a": held}),)),
}  # fmt: skip
CHANGING: dict[str, Callable[[], object]] = {
    "list": list, "dict": dict, "set": set, "deque": deque, "Counter": Counter,
    "OrderedDict": OrderedDict,
    "bytearray": lambda: bytearray(b"x"), "Random": lambda: random.Random(1), "Open": Open,
    "count": itertools.count, "generator": lambda: (n for n in "ab"),
    "SimpleNamespace": SimpleNamespace,
}  # fmt: skip
STEADY: dict[str, object] = {
    "tuple": ("a", 1), "frozenset": frozenset({1}), "Map": Map({"a": 1}),
    "proxy": MappingProxyType({}),
    "enum": Color.RED, "class": Open, "module": random, "logger": logging.getLogger("x"),
    "pattern": re.compile("a"), "frozen": Settings(("a",)), "function": len, "blank": Blank(),
    "note": note("n"), "error": ValueError("x"), "text": "x",
}  # fmt: skip


@each_row(
    ("way", "make"),
    [*((way, list) for way in WAYS.values()), *((uses, make) for make in CHANGING.values())],
    ids=[*WAYS, *CHANGING],
)
def test_what_can_change_is_seen_where_two_hold_it(
    way: Callable[[Any], object], make: Callable[[], object]
) -> None:
    """By whatever way each of them comes to it; and not if each has its own."""
    held = make()
    both = shared({"a": [way(held)], "b": [uses(held)]})
    assert both is not None
    assert (both.one.party, both.other.party) == ("a", "b")
    assert type(held).__name__ in both.what
    assert "`held`, which <lambda> (test_shared.py:" in both.other.words
    assert shared({"a": [way(make())], "b": [uses(make())]}) is None


@each_row("held", STEADY.values(), ids=STEADY)
def test_what_cannot_change_may_be_shared(held: object) -> None:
    """Frozen data, code, loggers, patterns, and what has no field of its own."""
    for way in WAYS.values():
        assert shared({"a": [way(held)], "b": [uses(held)]}) is None


def counts() -> None:
    """Set a global."""
    global COUNT
    COUNT = 1


def looks() -> int:
    """Look at it."""
    return COUNT


def calls() -> None:
    """Set it by another function."""
    counts()


def fills() -> None:
    """Fill one at an index."""
    COUNTS["a"] = 1


def adds() -> None:
    """Add to what is there."""
    COUNTS["a"] += 1


def appends() -> None:
    """Fill one by a method."""
    WROTE.append("a")


def reads() -> object:
    """Look at all, and write what is its own at an index of a table."""
    mine = {"one": 0}
    mine[NAMES[0]] = 1
    return COUNTS, WROTE, mine


WRITES: dict[Callable[[], None], str] = {
    counts: "COUNT", calls: "COUNT", fills: "COUNTS", adds: "COUNTS", appends: "WROTE",
}  # fmt: skip


@each_row(("writes", "name"), WRITES.items())
def test_a_global_that_one_of_them_writes_is_seen(writes: Callable[[], None], name: str) -> None:
    """Set, or filled at an index or by a method; and one that nobody writes is a table."""
    both = shared({"a": [writes], "b": [looks if name == "COUNT" else reads]})
    assert both is not None
    assert f"the global {name}, which" in both.one.words
    assert "writes (" not in both.other.words
    assert shared({"a": [reads], "b": [reads]}) is None


def test_a_variable_that_one_of_them_sets_is_seen() -> None:
    """It is the variable that is shared, whatever is in it."""

    def around(*, sets: bool) -> list[Callable[[], object]]:
        number = 0

        def steps() -> None:
            nonlocal number
            number += 1

        return [steps if sets else lambda: number, lambda: number]

    one, other = around(sets=True)
    both = shared({"a": [one], "b": [other]})
    assert both is not None
    assert both.what == "a variable"
    one, other = around(sets=False)
    assert shared({"a": [one], "b": [other]}) is None


def test_what_a_class_keeps_is_seen_if_it_fills_it() -> None:
    """A table of a class is none."""

    class Keeps(Actor):
        seen: ClassVar[list[str]] = []
        table: ClassVar[dict[str, int]] = {"a": 1}

        async def run(self, client: Client) -> None:
            self.seen.append(str(self.table["a"]))

    class Looks(Keeps):
        async def run(self, client: Client) -> None:
            client.record("saw", many=self.table["a"])

    both = shared({"a": [Keeps("a")], "b": [Keeps("b")]})
    assert both is not None
    assert both.one.words == "`seen` of the class Keeps"
    Keeps.run = Looks.run  # type: ignore[assignment, method-assign]
    assert shared({"a": [Keeps("a")], "b": [Keeps("b")]}) is None


def a_list_that_two_close_over(world: World) -> None:
    """Found in the scenario's own function."""
    box: list[int] = []

    async def fills(client: Client) -> None:
        await client.get(Note, "n")
        box.append(1)

    async def looks(client: Client) -> None:
        client.record("saw", many=len(box))

    start(world, a=fills, b=looks)


def a_list_that_an_endpoint_shows(world: World) -> None:
    """An actor that looks into it sees what others have asked."""
    box: list[int] = []

    class Keeps(StoreEndpoint):
        def __init__(self, store: Store) -> None:
            super().__init__(store, "keeps")
            self.box = box

    async def looks(client: Client) -> None:
        client.record("saw", many=len(box))

    world.serve(Keeps)
    start(world, a=looks)


def start(world: World, **puppets: Doing) -> None:
    """Start these."""
    world.add(note("n"))
    for name, do in puppets.items():
        world.start(Puppet(name, do))


@each_row("build", [a_list_that_two_close_over, a_list_that_an_endpoint_shows])
def test_a_complete_search_refuses_it(build: Callable[[World], None]) -> None:
    """It names both places and the next step; any other Run is played."""
    with pytest.raises(ScenarioError) as caught:
        play_runs(of(build), Complete(), lambda _: True, runs_max=9, driver="direct")
    said = str(caught.value)
    assert re.search(r"a and \w+ share a list|\w+ and a share a list", said)
    assert "`box`, which looks (test_shared.py:" in said
    assert "\nNext: let them share it in the Store" in said
