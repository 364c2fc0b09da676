"""Pending and Options: the calm order, the view a Chooser is shown, and virtual time."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testbed.choosers.calm import Calm
from testbed.choosers.struck import Struck
from testbed.choosers.uniform import Uniform
from testbed.client.client import Client
from testbed.faults.stall import Stall
from testbed.turns.option import FAULT, Option
from testbed.turns.pending import CALM_ORDER, Alternatives, Options, Pending
from testbed.turns.trace import Trace
from testbed.world.world import World
from tests.each_row import each_row
from tests.shared.stage import Puppet, world_of

DRIVERS = ("trio", "direct")


def option(
    kind: str = "serve",
    path: str = "p",
    due_ms: int = 0,
    causes: tuple[int, ...] = (),
    rank: int = 0,
) -> Option:
    """An Option that does nothing."""
    option = Option(kind, path, lambda: None, causes, due_ms)
    option.rank = rank
    return option


def line_of(*options: Option) -> Pending:
    """Those, announced in this order."""
    pending = Pending()
    for each in options:
        pending.add(each)
    return pending


# -- calm order ---------------------------------------------------------------------------------


@each_row(
    ("first", "second"),
    [
        (option("wake", due_ms=1), option("serve", due_ms=2)),
        (option("serve"), option("deliver", causes=(9,))),
        (option("answer"), option("feed", causes=(9,))),
        (option("deliver"), option("start", causes=(9,))),
        (option("feed"), option("resume", causes=(9,))),
        (option("start"), option("wake", causes=(9,))),
        (option("serve", causes=(3,)), option("serve", causes=(2,))),
        (option("serve", causes=(1, 3)), option("serve", causes=(2,))),
        (option("answer", causes=(3,)), option("serve", causes=(2,))),
        (option("resume", "z", causes=(3,)), option("resume", "a", causes=(2,))),
        (option("resume", causes=(3,)), option("resume")),
        (option("resume", "a"), option("resume", "b")),
        (option("wake", "z", rank=2), option("wake", "a", rank=5, causes=(9,))),
        (option("wake", rank=6), option("wake", due_ms=1)),
    ],
)
def test_one_is_duller_than_the_other(first: Option, second: Option) -> None:
    """What is due, then what is in flight, then what was begun last, then the smaller path."""
    assert list(line_of(second, first)) == [first, second]


described = st.tuples(
    st.sampled_from(sorted(CALM_ORDER)),
    st.sampled_from("abc"),
    st.integers(0, 3),
    st.lists(st.integers(1, 4), max_size=2).map(lambda causes: tuple(sorted(causes))),
    st.integers(0, 6),
)


@settings(deadline=None)
@given(st.lists(described), st.data())
def test_the_line_is_always_sorted(
    words: list[tuple[str, str, int, tuple[int, ...], int]], data: st.DataObject
) -> None:
    """Options are announced, withdrawn, taken and postponed, in any order."""
    pending = Pending()
    serial: dict[Option, int] = {}

    def key(each: Option) -> tuple[int, int, int, str, int]:
        newest = max(each.causes, default=0)
        return each.due_ms, CALM_ORDER[each.kind] + each.rank, -newest, each.path, serial[each]

    def announced(each: Option) -> None:
        serial[each] = len(counted)
        counted.append(each)

    counted: list[Option] = []
    for kind, path, due_ms, causes, rank in words:
        added = option(kind, path, due_ms, causes, rank if kind == "wake" else 0)
        pending.add(added)
        announced(added)
        what = data.draw(st.sampled_from(("nothing", "remove", "take", "postpone")))
        there = list(pending)
        if what != "nothing":
            at = data.draw(st.integers(0, len(there) - 1))
            chosen = there[at]
            assert pending.at(at) is chosen
            if what == "postpone":
                until = data.draw(st.integers(0, 5))
                if until > chosen.due_ms:
                    announced(chosen)
                pending.postpone(chosen, until)
            else:
                if what == "remove":
                    pending.remove(chosen)
                else:
                    assert pending.take(at) is chosen
                del serial[chosen]
                assert chosen.place is None
        assert list(pending) == sorted(serial, key=key)
        assert len(pending) == len(serial)


def test_an_option_that_is_not_pending_can_be_withdrawn() -> None:
    """Twice, or before it was announced: the caller need not know whether it is pending."""
    one, other = option(), option()
    pending = line_of(one, other)
    pending.remove(option())
    pending.remove(one)
    pending.remove(one)
    pending.postpone(one, 5)
    assert list(pending) == [other]
    assert one.due_ms == 0


def test_what_is_put_back_is_never_put_back_earlier() -> None:
    """A stall that ends before it was due changes nothing."""
    late = option(due_ms=10)
    pending = line_of(late)
    pending.postpone(late, 5)
    assert late.due_ms == 10
    pending.postpone(late, 15)
    assert (late.due_ms, pending.next_due_ms) == (15, 15)


@each_row(("delay_max_ms", "ready"), [(0, 2), (4, 2), (5, 3), (9, 3), (10, 4)])
def test_ready_is_what_is_due_within_the_delay_of_the_earliest(
    delay_max_ms: int, ready: int
) -> None:
    """A prefix of the line; with no delay, what is due at the earliest time alone."""
    pending = line_of(*(option(due_ms=due_ms) for due_ms in (7, 7, 12, 17)))
    assert Options(pending, list).show(delay_max_ms) == ready
    assert Options(Pending(), list).show(delay_max_ms) == 0


# -- the view -----------------------------------------------------------------------------------


class Shelf:
    """A view on some ready Options and two faults, and how often the faults were worked out."""

    def __init__(self, ready: int, faults: int = 2) -> None:
        self.asked = 0
        self.faults = [option(FAULT, f"fault-{n}") for n in range(faults)]
        self.pending = line_of(*(option(path=f"p{n}") for n in range(ready)))
        self.options = Options(self.pending, self.find)
        self.options.show(0)

    def find(self) -> list[Option]:
        """Work out the faults."""
        self.asked += 1
        return list(self.faults)


def test_the_view_is_the_ready_ones_and_the_faults_behind_them() -> None:
    """By index, from either end, in slices, by iteration and by membership."""
    shelf = Shelf(3)
    options, every = shelf.options, [*shelf.pending, *shelf.faults]
    assert (len(options), options.ready) == (5, 3)
    assert list(options) == every
    assert [options[index] for index in range(-5, 5)] == every + every
    assert options[1:4] == every[1:4]
    assert options[::-2] == every[::-2]
    assert options[7:] == []
    assert shelf.faults[1] in options
    assert options.index(shelf.faults[0]) == 3
    assert list(reversed(options)) == every[::-1]
    for outside in (5, -6):
        with pytest.raises(IndexError):
            options[outside]
    assert shelf.asked == 1


def test_faults_are_not_worked_out_unless_somebody_looks_past_the_ready_ones() -> None:
    """A Chooser that wants none pays for none; the answer is kept for the turn, not longer."""
    shelf = Shelf(3)
    looked = [shelf.options[0], shelf.options[2], shelf.options.ready]
    assert looked
    assert shelf.asked == 0
    assert shelf.options[3] is shelf.faults[0]
    assert len(shelf.options.faults) == 2
    assert shelf.asked == 1
    shelf.options.show(0)
    assert shelf.options.ready == 3
    assert shelf.asked == 1
    assert len(shelf.options) == 5
    assert shelf.asked == 2


@each_row("look", [len, list, lambda o: o[-1], lambda o: o[:1], lambda o: o[3]])
def test_any_look_past_the_ready_ones_works_out_the_faults(
    look: Callable[[Options], object],
) -> None:
    """The length, an index from the end and a slice depend on them."""
    shelf = Shelf(3)
    look(shelf.options)
    assert shelf.asked == 1


def test_alternatives_have_no_faults_behind_them() -> None:
    """A pick is answered within the turn that asks."""
    picks = Alternatives("ab", lambda path: option(path=path))
    assert (picks.ready, len(picks), list(picks.faults)) == (2, 2, [])


def test_alternatives_are_made_when_they_are_looked_at() -> None:
    """Each once; the last can be had without the others."""
    made: list[str] = []

    def shown(path: str) -> Option:
        made.append(path)
        return option(path=path)

    picks = Alternatives("abc", shown)
    assert (picks[-1].path, picks[2].path, made) == ("c", "c", ["c"])
    assert [each.path for each in picks[:2]] == ["a", "b"]
    with pytest.raises(IndexError):
        picks[3]


# -- in a World ---------------------------------------------------------------------------------


class Ranked(Puppet):
    """A Puppet with a higher rank."""

    rank: ClassVar[int] = 4


async def sleeps_once(client: Client) -> None:
    """Wakes at 5 ms."""
    await client.sleep(5)


@each_row("driver", DRIVERS)
def test_wakes_of_one_instant_go_by_rank(driver: str) -> None:
    """The actor of the lower rank wakes first; names, and which slept last, do not matter."""
    world = World()
    world.start(Ranked("alpha", sleeps_once), Puppet("beta", sleeps_once))
    trace = Trace({}, keep=True)
    world.run(Calm(), driver=driver, trace=trace)
    woken = [step.sentence.path for step in trace.steps if step.kind == "wake"]
    assert woken == ["beta/main", "alpha/main"]


class Wandering(Uniform):
    """Uniform, and it checks what it is shown at each turn."""

    def __init__(self, seed: int, delay_max_ms: int) -> None:
        super().__init__(seed)
        self.delay_max_ms = delay_max_ms
        self.overtook = 0

    def choose(self, options: Options | Alternatives) -> int:
        shown = [options[index] for index in range(options.ready)]
        earliest = shown[0].due_ms
        assert [o.due_ms for o in shown] == sorted(o.due_ms for o in shown)
        assert shown[-1].due_ms <= earliest + self.delay_max_ms
        choice = super().choose(options)
        self.overtook += shown[choice].due_ms > earliest
        return choice


@each_row("driver", DRIVERS)
@each_row("delay_max_ms", [0, 3, 50])
def test_time_is_the_latest_due_time_and_wakes_are_never_early(
    driver: str, delay_max_ms: int
) -> None:
    """Time is a whole number that never goes back; a timer may be late within the delay, and
    with none it is on time to the millisecond."""
    slept: list[tuple[int, int]] = []

    async def main(client: Client) -> None:
        for ms in (3, 0, 10, 1, 40, 7):
            began = client.now()
            await client.sleep(ms)
            slept.append((ms, client.now() - began))

    world = world_of(alpha=main, beta=main, gamma=main)
    world.limit(delay_max_ms=delay_max_ms)
    chooser = Wandering(7, delay_max_ms)
    trace = Trace({}, keep=True)
    world.run(chooser, driver=driver, trace=trace)
    now_ms = 0
    for step in trace.steps:
        now_ms = max(now_ms, step.option.due_ms)
        assert step.now_ms == now_ms
        assert type(step.now_ms) is int
    assert len(slept) == 18
    assert all(ms <= took <= ms + delay_max_ms for ms, took in slept)
    assert bool(chooser.overtook) is (delay_max_ms > 0)


@each_row("driver", DRIVERS)
def test_what_is_stalled_is_put_back_and_does_not_hold_time_up(driver: str) -> None:
    """While alpha is stalled beta's timers go on; then alpha wakes, at the end of the stall."""
    woke: list[tuple[str, int]] = []

    async def main(client: Client) -> None:
        for _ in range(3):
            await client.sleep(10)
            woke.append((client.name, client.now()))

    world = world_of(alpha=main, beta=main)
    world.allow(Stall("alpha", by_ms=25))
    assert world.run(Struck(3, "stall alpha"), driver=driver).faults == 1
    assert woke == [
        ("beta", 10), ("beta", 20), ("alpha", 25), ("beta", 30), ("alpha", 35), ("alpha", 45),
    ]  # fmt: skip
