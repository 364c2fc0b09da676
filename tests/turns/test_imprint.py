"""Imprints: what a turn has shown, compared when the same choices are played again; and suspects:
what the code of an actor keeps outside its World."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

from testbed.chooser import Chooser
from testbed.choosers.bounded import Bounded
from testbed.choosers.complete import Complete
from testbed.choosers.uniform import Uniform
from testbed.client.client import Client
from testbed.errors import ApiError, ReplayDiverged
from testbed.invariant import Evidence, quiescent
from testbed.objects import Note
from testbed.objects.meta import Map
from testbed.races.playing import race_of
from testbed.races.shrink import shrink
from testbed.store.endpoint import Handler, Operation
from testbed.store.footprint import Footprint
from testbed.turns.imprint import as_json, imprint_of, sum_of
from testbed.turns.suspects import suspects_of
from testbed.turns.trace import Trace
from testbed.world.scenario import Scenario, find, of, play_runs
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.lots import drawing_lots
from tests.shared.stage import Puppet, note

COUNTED = SimpleNamespace(times=0)


def count_up() -> int:
    """How often it was called in this process: what no World may depend on."""
    COUNTED.times += 1
    return int(COUNTED.times)


async def writes_it(client: Client) -> None:
    """In an object."""
    await client.create(Note("n", data=Map(count=str(count_up()))))


async def asks_it(client: Client) -> None:
    """In the name of an object."""
    await client.create(note(f"n{count_up() % 2}"))


async def records_it(client: Client) -> None:
    """In a Record."""
    client.record("counted", count=count_up())


async def sleeps_it(client: Client) -> None:
    """In how long it waits."""
    await client.sleep(count_up(), "counting")


async def touches_it(client: Client) -> None:
    """In the name of a task."""
    client.spawn(f"task-{count_up()}", busy, client)


async def asks_a_counter(client: Client) -> None:
    """In an answer."""
    await client.ask(Operation("count", "notes", "n", endpoint="counter"))


async def asks_for_a_count(client: Client) -> None:
    """In an answer of a class of the user's own."""
    await client.ask(Operation("count", "notes", "n", endpoint="counter", body=Count))


async def asks_for_a_list(client: Client) -> None:
    """In a list of such."""
    await client.ask(Operation("count", "notes", "n", endpoint="counter", body=Counts))


class Count:
    """A plain class, which has no JSON."""

    def __init__(self) -> None:
        self.number = count_up()
        self.says = lambda: self.number


class Counts(list[Count]):
    """A list of one."""

    def __init__(self) -> None:
        super().__init__([Count()])


class Counter:
    """An Endpoint of the user's own, whose answers count the calls in this process."""

    name, near, is_front, on_behind = "counter", False, False, None

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        yield from ()
        return (operation.body or count_up)()

    def may(self, operation: Operation, caller: str = "") -> Footprint:
        return Footprint(writes=frozenset({"counter"}))

    def begin(self) -> None: ...

    def restart(self) -> None: ...


async def busy(client: Client) -> None:
    """Writes one note three times, as another does."""
    for _ in range(3):
        with suppress(ApiError):
            await client.create(note("busy", by=client.name))


WAYS = [
    writes_it,
    asks_it,
    records_it,
    sleeps_it,
    touches_it,
    asks_a_counter,
    asks_for_a_count,
    asks_for_a_list,
]


def counting(does: Callable[[Client], Any]) -> Scenario:
    """A World in which one actor counts what is outside it, and two others race."""

    def scenario(world: World) -> None:
        world.serve(lambda store: Counter())  # type: ignore[arg-type, return-value]
        world.start(Puppet("alpha", does), Puppet("beta", busy), Puppet("gamma", busy))

    return of(scenario)


@each_row("does", WAYS, ids=lambda does: does.__name__)
@each_row("chooser", [Complete, Bounded], ids=lambda kind: kind.__name__)
def test_state_outside_the_world_is_noticed(does: Any, chooser: type[Chooser]) -> None:
    """Whatever it shows in: what is written, asked, recorded, touched or answered, and when. The
    search ends with the turn, the likely cause, and a line to paste."""
    with pytest.raises(ReplayDiverged) as raised:
        play_runs(counting(does), chooser(), lambda _: True, runs_max=300, driver="direct")
    said = str(raised.value)
    assert "of run " in said
    assert "Something outside the World decided. Most likely: " in said
    assert "the global COUNTED, which count_up (test_imprint.py:" in said
    assert re.search(
        r"\nNext: testbed run '.*test_imprint:counting.<locals>.scenario' --twice$", said
    )


async def holds_back(client: Client) -> None:
    """Shows the count only in a turn that comes late, after a pick."""
    colour = client.pick("colour", ("red", "blue"))
    client.record("picked", colour=colour, count=count_up())
    await client.create(note("late"))


def test_a_turn_with_a_pick_is_compared_as_well() -> None:
    """Each alternative makes another turn, which is compared with itself alone."""
    with pytest.raises(ReplayDiverged, match="what it recorded was "):
        play_runs(counting(holds_back), Complete(), lambda _: True, runs_max=300, driver="direct")


def test_what_was_and_what_is_are_named() -> None:
    """The two values, as they were written."""
    with pytest.raises(ReplayDiverged) as raised:
        play_runs(counting(writes_it), Complete(), lambda _: True, runs_max=300, driver="direct")
    assert re.search(
        r"turn \d+ of run \d+, `\S+ \S+.*`: .* was .*\"count\":\"\d+\".* "
        r".*\"count\":\"\d+\".*, after the same choices",
        str(raised.value),
    )


def test_a_world_that_keeps_to_itself_is_left_in_peace() -> None:
    """The searches of the scenarios meet nothing; nor those of Worlds with faults and picks."""
    for name in ("lost_update", "double_bind", "two_defaults"):
        for chooser in (Complete(), Bounded()):
            play_runs(find(name), chooser, lambda _: True, runs_max=40, driver="direct")
    for chooser in (Complete(faults_max=1), Bounded()):
        play_runs(of(drawing_lots), chooser, lambda _: True, runs_max=60, driver="direct")


def noted(seen: list[str]) -> Scenario:
    """A scenario that hands one list to all its Worlds, and is breached in each."""

    async def adds(client: Client) -> None:
        seen.append(client.name)
        await client.create(Note("n", data=Map(before=str(len(seen)))))

    def scenario(world: World) -> None:
        world.start(Puppet("alpha", adds))
        world.claim(quiescent(no_note))

    return of(scenario)


def no_note(see: Evidence) -> str | None:
    """Breached at once: what is shrunk is the Run."""
    return "a note" if see.store.get("notes/default/n") is not None else None


def test_a_shrink_that_does_not_repeat_is_noticed() -> None:
    """The breach is there both times, but not the same Run."""
    recipe = noted([])
    race = race_of(recipe, {}, played(recipe).trace.choices)
    with pytest.raises(ReplayDiverged, match=r"`seen`, which adds \(test_imprint.py:\d+\) closes"):
        shrink(race, recipe)


def played(recipe: Scenario, seed: int = 0) -> World:
    """One whole Run."""
    world = recipe.world()
    world.run(Uniform(seed), driver="direct", trace=Trace({}, keep=True))
    return world


def test_the_sums_of_two_equal_runs_are_equal() -> None:
    """And of two that differ in what is written alone, they are not."""
    sums = []
    seen: list[str] = []
    for recipe in (noted(seen), noted([]), noted(seen)):
        sums.append([sum_of(imprint_of(step)) for step in played(recipe).trace.steps])
    assert sums[0] == sums[1] != sums[2]


# -- suspects -------------------------------------------------------------------------------------

SHARED: dict[str, int] = {}
FIXED = ("a", "b")


def looks_at_the_clock(_: Client) -> float:
    """The wall's."""
    return time.monotonic()


def draws(_: Client) -> float:
    """Lots."""
    return random.random()


def counts(_: Client) -> None:
    """In a global of its own."""
    global SHARED
    SHARED = {}


def keeps(_: Client, so_far: list[int] = []) -> None:  # noqa: B006
    """In a default."""
    so_far.append(1)


def fills(_: Client) -> None:
    """A global that others made."""
    SHARED["n"] = 1


def orders(_: Client) -> list[str]:
    """By a set."""
    return list({*FIXED})


def addresses(thing: Client) -> int:
    """By an address."""
    return id(thing)


def pure(client: Client) -> tuple[str, ...]:
    """What cannot change."""
    return (client.name, *FIXED)


@each_row(
    ("does", "expected"),
    [
        (looks_at_the_clock, "the clock (`time`), in looks_at_the_clock"),
        (draws, "`random`, in draws"),
        (counts, "the global SHARED, which counts"),
        (keeps, "a default that keeps"),
        (fills, "the global SHARED, which fills"),
        (orders, "the order of a set, in orders"),
        (addresses, "an `id()`, in addresses"),
    ],
)
def test_a_suspect_is_named(does: Any, expected: str) -> None:
    """With the function that uses it, and where that stands."""
    assert any(text.startswith(expected) for text in suspects_of([Puppet("alpha", does)]))


def test_nobody_is_suspected_for_nothing() -> None:
    """What cannot change is no suspect; nor is any of our own code."""
    assert suspects_of([Puppet("alpha", pure)]) == []  # type: ignore[arg-type]
    assert suspects_of([find("lost_update").world()]) == []


def test_what_python_makes_of_annotations_is_not_read() -> None:
    """From 3.14 on, a class with annotations has such a function, which closes over a mapping of
    its own. It is no code of the user's, and would stand first."""

    class Annotated(Puppet):
        async def run(self, client: Client) -> None:
            assert globals()

        def __annotate__(self, shared: Any = []) -> None:  # noqa: B006
            assert shared is self

    assert [text.partition(",")[0] for text in suspects_of([Annotated("alpha", pure)])] == [  # type: ignore[arg-type]
        "`globals()`"
    ]


def test_a_choice_that_is_not_there_again_names_the_line_to_paste() -> None:
    """A Run that is made a race is played again: what differs is told as in any other Run."""
    with pytest.raises(ReplayDiverged) as raised:
        race_of(noted([]), {}, [7])
    assert str(raised.value).startswith(
        "the Run, played again, is another one: only 1 thing could happen, not 8, after the same "
        "choices.\nSomething outside the World decided. Look in the scenario for a global, "
    )
    assert str(raised.value).endswith(":noted.<locals>.scenario' --twice")


def test_a_value_of_any_class_is_its_fields_and_no_address() -> None:
    """A digest of its own counts instead; of a function, or a part of the testbed, the name."""

    class Digested(Count):
        def digest(self) -> object:
            return "the same"

    texts = [as_json([kind(), World(), count_up]) for kind in (Count, Digested) for _ in range(2)]
    assert re.match(r'\[{"Count":{"number":\d+,"says":"function"}},"World","function"\]$', texts[0])
    assert texts[0] != texts[1]
    assert texts[2:] == ['[{"Digested":"the same"},"World","function"]'] * 2
