"""Timers, joins, signals, queues, the first of several, and deadlines: how a task waits."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from testbed.chooser import Chooser
from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.client.client import Client, Task
from testbed.errors import Cancelled, ScenarioError, TimedOut, Unavailable
from testbed.objects import Note
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict
from testbed.turns.waits import Waitable
from tests.shared.stage import Cued, Doing, note, world_of

DRIVERS = ("trio", "direct")
pytestmark = pytest.mark.parametrize("driver", DRIVERS)


def run(main: Doing, driver: str, chooser: Chooser | None = None) -> Verdict:
    """Alpha does this, beside the note `n`."""
    world = world_of(alpha=main)
    world.add(note())
    return world.run(chooser or Calm(), driver=driver)


# -- timers -------------------------------------------------------------------------------------


def test_a_sleep_of_nothing_is_a_turn_all_the_same(driver: str) -> None:
    """Every await is a turn, also when it could have gone on at once; no time passes."""
    said: list[int] = []

    async def main(client: Client) -> None:
        for ms in (0, -5):
            await client.sleep(ms)
            said.append(client.now())

    verdict = run(main, driver)
    assert (said, verdict.turns, verdict.virtual_ms) == ([0, 0], 3, 0)


# -- alarms -------------------------------------------------------------------------------------


def test_a_timer_bears_the_name_it_was_given(driver: str) -> None:
    """So that a person can speak of it."""

    async def main(client: Client) -> None:
        await client.sleep(5, "flush")

    world = world_of(alpha=main)
    trace = Trace({}, keep=True)
    world.run(Calm(), driver=driver, trace=trace)
    assert str(trace.steps[-1].sentence) == "wake alpha/main flush"


def test_an_alarm_goes_off_at_the_time_it_was_last_set_to(driver: str) -> None:
    """Set again while a task waits, to sooner or later, it goes off once; then it is not set."""
    said: list[int] = []

    async def main(client: Client) -> None:
        alarm = client.alarm("flush")

        async def waits() -> None:
            while True:
                await alarm.wait()
                said.append(client.now())

        client.spawn("waits", waits)
        for ms, rest_ms in ((50, 10), (20, 5), (30, 40), (7, 20)):
            alarm.set(ms)
            await client.sleep(rest_ms)

    verdict = run(main, driver)
    assert said == [45, 62]
    assert (verdict.end, verdict.virtual_ms) == ("quiet", 75)


def test_an_alarm_that_is_not_set_is_a_rest(driver: str) -> None:
    """What was set and taken back never goes off, and no task is stuck because of it."""

    async def main(client: Client) -> None:
        alarm = client.alarm("flush")
        alarm.set(10)
        alarm.set(None)
        await alarm.wait()

    assert run(main, driver).end == "quiet"


def test_an_alarm_wakes_whom_it_finds_late(driver: str) -> None:
    """It was set before any task waited, and its time is over: it goes off at once."""
    said: list[int] = []

    async def main(client: Client) -> None:
        alarm = client.alarm("flush")
        alarm.set(10)
        await client.sleep(30)
        await client.first(client.sleep(100), alarm.wait())
        said.append(client.now())

    world = world_of(alpha=main)
    trace = Trace({}, keep=True)
    world.run(Calm(), driver=driver, trace=trace)
    assert said == [30]
    assert str(trace.steps[-1].sentence) == "wake alpha/main flush"


def test_one_task_waits_for_an_alarm(driver: str) -> None:
    """A second one is a mistake, and named; so is a time that is no whole number."""

    async def twice(client: Client) -> None:
        alarm = client.alarm("flush")

        async def waits() -> None:
            await alarm.wait()

        client.spawn("one", waits)
        client.spawn("two", waits)

    async def half(client: Client) -> None:
        client.alarm("flush").set(0.5)  # type: ignore[arg-type]

    with pytest.raises(ScenarioError, match="alpha/two and another task wait for one timer flush"):
        run(twice, driver)
    with pytest.raises(ScenarioError, match=r"alarm 'flush' set to 0\.5: expected whole milli"):
        run(half, driver)


# -- joins --------------------------------------------------------------------------------------


def test_join_gives_what_the_task_returned(driver: str) -> None:
    """Of one that still runs, of one that has long ended, and to each that asks."""
    said: list[object] = []

    async def main(client: Client) -> None:
        async def work(n: int) -> int:
            await client.sleep(n)
            return n * n

        async def waits(task: Task) -> None:
            said.append(await client.join(task))

        tasks = [client.spawn("work", work, n) for n in (30, 10)]
        others = [client.spawn("waits", waits, tasks[0]) for _ in range(2)]
        said.append([task.has_ended for task in tasks])
        said.append(await client.join(tasks[0]))
        said.append([task.has_ended for task in tasks])
        said.append(await client.join(tasks[1]))
        for other in others:
            await client.join(other)

    assert run(main, driver).is_held
    assert said == [[False, False], 900, [True, True], 100, 900, 900]


# -- signals ------------------------------------------------------------------------------------


def test_a_signal_lets_all_go_on_who_wait_each_in_a_turn_of_its_own(driver: str) -> None:
    """Three tasks wait, one sets: three Options, and any order of them can happen."""
    orders: set[tuple[int, ...]] = set()
    for seed in range(60):
        order: list[int] = []

        async def main(client: Client, order: list[int] = order) -> None:
            ready = client.signal()

            async def waits(n: int) -> None:
                await ready.wait()
                order.append(n)

            for n in range(3):
                client.spawn("waits", waits, n)
            await client.sleep(1)
            ready.set()

        assert run(main, driver, Uniform(seed)).is_held
        orders.add(tuple(order))
    assert len(orders) == 6


def test_a_signal_stays_set_until_it_is_cleared(driver: str) -> None:
    """Who comes late goes on as well; after `clear` a wait waits, and one that was about to end
    does not."""
    said: list[object] = []

    async def main(client: Client) -> None:
        ready = client.signal("ready")
        ready.set()
        await ready.wait()
        await ready.wait()
        said.append(ready.is_set)

        async def waits() -> None:
            await ready.wait()
            said.append(client.now())

        ready.clear()
        client.spawn("waits", waits)
        await client.sleep(1)
        ready.set()
        ready.clear()
        said.append(ready.is_set)
        await client.sleep(1)
        ready.set()

    assert run(main, driver).is_held
    assert said == [True, False, 2]


# -- queues -------------------------------------------------------------------------------------


def test_a_queue_gives_its_items_in_order(driver: str) -> None:
    """First in, first out, those that were there before and those that come."""
    said: list[object] = []

    async def main(client: Client) -> None:
        inbox = client.queue(idle=True)
        inbox.put(1)
        inbox.put(2)

        async def takes() -> None:
            while True:
                said.append(await inbox.get())

        said.append(len(inbox))
        client.spawn("takes", takes)
        await client.sleep(1)
        inbox.put(3)
        inbox.put(4)
        await client.sleep(1)
        said.append(len(inbox))

    assert run(main, driver).is_held
    assert said == [2, 1, 2, 3, 4, 0]


class Watching(Uniform):
    """Uniform; it keeps how many could take an item at each turn."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.takers: list[int] = []

    def choose(self, options: Options | Alternatives) -> int:
        shown = [options[index] for index in range(options.ready)]
        self.takers.append(sum("queue" in option.verb for option in shown))
        return super().choose(options)


def test_one_item_is_offered_to_all_who_wait_and_given_to_one(driver: str) -> None:
    """Each of three waiting tasks may be the one; then the offer is withdrawn from the others."""
    takers: set[int] = set()
    for seed in range(30):
        took: list[tuple[int, str]] = []

        async def main(client: Client, took: list[tuple[int, str]] = took) -> None:
            inbox = client.queue(idle=True)

            async def takes(n: int) -> None:
                took.append((n, await inbox.get()))

            for n in range(3):
                client.spawn("takes", takes, n)
            await client.sleep(1)
            inbox.put("item")

        chooser = Watching(seed)
        assert run(main, driver, chooser).is_held
        ((taker, item),) = took
        assert item == "item"
        takers.add(taker)
        assert chooser.takers[-1] == 3
    assert takers == {0, 1, 2}


def test_an_offer_that_was_withdrawn_comes_again_with_the_next_item(driver: str) -> None:
    """Two tasks and two items, one after the other: each gets one, in every order."""
    for seed in range(20):
        took: list[int] = []

        async def main(client: Client, took: list[int] = took) -> None:
            inbox = client.queue()

            async def takes() -> None:
                took.append(await inbox.get())

            tasks = [client.spawn("takes", takes) for _ in range(2)]
            await client.sleep(1)
            inbox.put(1)
            await client.sleep(1)
            inbox.put(2)
            for task in tasks:
                await client.join(task)

        assert run(main, driver, Uniform(seed)).is_held
        assert took == [1, 2]


def test_who_was_offered_an_item_and_lost_it_is_stuck_when_no_other_comes(driver: str) -> None:
    """That it could have gone on once does not mean that it still can."""

    async def main(client: Client) -> None:
        inbox = client.queue("inbox")

        async def takes() -> None:
            await inbox.get()

        for _ in range(2):
            client.spawn("takes", takes)
        await client.sleep(1)
        inbox.put("item")

    verdict = run(main, driver)
    assert verdict.end == "stuck"
    assert "alpha/takes#2 waits for queue alpha/inbox" in str(verdict)


# -- the first of several -----------------------------------------------------------------------


def test_first_gives_the_place_and_the_value_of_whichever_ends_first(driver: str) -> None:
    """A timer, a queue, a signal, a join and a watch, each of them once."""
    said: list[object] = []

    async def main(client: Client) -> None:
        inbox, ready = client.queue("inbox"), client.signal("ready")
        stream = await client.watch(Note, (await client.list(Note)).revision)

        async def works() -> str:
            return "worked"

        async def acts(do: Callable[[], None]) -> None:
            await client.sleep(1)
            do()

        async def writes() -> None:
            await client.create(note("new"))

        async def one(*, join: bool = False) -> None:
            waits: list[Waitable] = [client.sleep(5), inbox.get(), ready.wait(), stream.next()]
            if join:
                waits.append(client.join(client.spawn("works", works)))
            place, value = await client.first(*waits)
            said.append((place, getattr(value, "type", value)))

        await one()
        client.spawn("puts", acts, lambda: inbox.put("item"))
        await one()
        client.spawn("sets", acts, ready.set)
        await one()
        ready.clear()
        client.spawn("writes", writes)
        await one()
        await one(join=True)

    assert run(main, driver).is_held
    assert said == [(0, None), (1, "item"), (2, None), (3, "ADDED"), (4, "worked")]


def test_first_withdraws_what_did_not_end_it(driver: str) -> None:
    """Nothing that came too late happens, moves time, or takes an item away."""
    said: list[object] = []

    async def main(client: Client) -> None:
        one, other = client.queue("one"), client.queue("other")
        one.put("a")
        other.put("b")
        place, _ = await client.first(client.sleep(50), one.get(), other.get())
        said.append((place, len(one), len(other)))
        await client.sleep(1)
        said.append((len(one), len(other)))

    verdict = run(main, driver)
    assert verdict.virtual_ms == 1
    assert said == [(1, 0, 1), (0, 1)]


def test_first_within_first_tells_the_way(driver: str) -> None:
    """The value of a nested one is a place and a value again."""
    said: list[object] = []

    async def main(client: Client) -> None:
        ready = client.signal()
        ready.set()
        inner = client.first(client.sleep(9), ready.wait())
        said.append(await client.first(client.sleep(9), inner))

    run(main, driver)
    assert said == [(1, (1, None))]


def test_a_wait_can_be_waited_for_again(driver: str) -> None:
    """Made once, before the loop, as one of several, withdrawn while it was offered, and alone."""
    said: list[object] = []

    async def main(client: Client) -> None:
        inbox, stop = client.queue("inbox"), client.signal("stop")
        item, stopped = inbox.get(), stop.wait()
        for n in range(3):
            inbox.put(n)
        said.append(await item)
        stop.set()
        said.append(await client.first(item, stopped))
        said.append(await client.first(item, stopped))
        said.append(await client.first(item, stopped))
        said.append(await stopped)

    assert run(main, driver).is_held
    assert said == [0, (0, 1), (0, 2), (1, None), None]


# -- deadlines of operations --------------------------------------------------------------------


def test_a_late_answer_is_dropped_and_the_operation_takes_effect(driver: str) -> None:
    """The write is announced, its caller gives up at 10 ms, and then it is served all the same;
    what the caller gets to its next question is the answer to that."""
    said: list[object] = []

    async def main(client: Client) -> None:
        seen = await client.get(Note, "n")
        try:
            await client.update(seen.saying(by="alpha"), timeout_ms=10)
        except TimedOut as late:
            said.append((client.now(), str(late)))
        said.append((await client.get(Note, "n")).data.get("by"))
        await client.sleep(5)
        said.append((client.now(), (await client.get(Note, "n")).data.get("by")))

    cues = Cued("wake * timeout of update *", "serve * get *#2", "answer * get *#2", "serve * upd*")
    world = world_of(alpha=main)
    world.add(note())
    world.limit(delay_max_ms=10)
    assert world.run(cues, driver=driver).is_held
    late = "update notes/default/n: no answer within 10 ms; it may have happened"
    assert said == [(10, late), None, (15, "alpha")]
    assert not cues.cues


def test_an_answer_on_its_way_is_dropped_as_well(driver: str) -> None:
    """Served, and late: the caller is told that it may have happened, and it has. A watch that
    was opened so is closed: nobody holds it."""
    said: list[object] = []

    async def main(client: Client) -> None:
        seen = await client.get(Note, "n")
        for ask in (
            client.update(seen.saying(by="alpha"), timeout_ms=10),
            client.watch(Note, seen.meta.revision, timeout_ms=10),
        ):
            try:
                await ask
            except Unavailable:
                said.append("unavailable")
        said.append(len(world.wire.streams.open))
        said.append((await client.get(Note, "n")).data["by"])

    world = world_of(alpha=main)
    world.add(note())
    world.limit(delay_max_ms=10)
    chooser = Cued("serve * update *", "wake *", "serve * watch *", "wake *")
    assert world.run(chooser, driver=driver).is_held
    assert said == ["unavailable", "unavailable", 0, "alpha"]


def test_an_answer_in_time_ends_the_deadline(driver: str) -> None:
    """The timer goes with the wait: it neither fires nor moves time."""

    async def main(client: Client) -> None:
        await client.get(Note, "n", timeout_ms=1000)
        await client.sleep(1)

    verdict = run(main, driver)
    assert (verdict.outcome, verdict.virtual_ms, verdict.turns) == ("held", 1, 4)


def test_every_outcome_of_a_deadline_is_one_of_three(driver: str) -> None:
    """Done and answered, done and not answered, not done; the next read shows which."""
    seen: set[tuple[str, str | None]] = set()
    for seed in range(60):

        async def main(client: Client) -> None:
            told = "told"
            try:
                await client.update(note("n", by="alpha"), timeout_ms=10)
            except TimedOut:
                told = "late"
            seen.add((told, (await client.get(Note, "n")).data.get("by")))

        world = world_of(alpha=main)
        world.add(note())
        world.limit(delay_max_ms=10)
        assert world.run(Uniform(seed), driver=driver).is_held
    assert seen == {("told", "alpha"), ("late", "alpha"), ("late", None)}


# -- cancelling ---------------------------------------------------------------------------------


def test_a_cancelled_wait_leaves_nothing_behind(driver: str) -> None:
    """The item it was offered goes to another; its timer moves no time."""
    said: list[object] = []

    async def main(client: Client) -> None:
        inbox = client.queue("inbox")

        async def takes() -> None:
            try:
                await client.first(inbox.get(), client.sleep(500))
            except Cancelled:
                said.append("cancelled")
                raise

        task = client.spawn("takes", takes)
        await client.sleep(1)
        client.cancel(task)
        await client.join(task)
        inbox.put("item")
        said.append(await inbox.get())

    verdict = run(main, driver)
    assert said == ["cancelled", "item"]
    assert verdict.virtual_ms == 1


def test_one_wait_may_be_shared_by_two_tasks(driver: str) -> None:
    """The same `signal.wait()` in two tasks ends for both; neither is forgotten."""
    ended: list[str] = []

    async def main(client: Client) -> None:
        wait = client.signal("go")
        shared = wait.wait()

        async def one(name: str) -> None:
            await shared
            ended.append(name)

        client.spawn("one", one, "one")
        client.spawn("two", one, "two")
        await client.sleep(5)
        wait.set()

    assert world_of(alpha=main).run(Calm(), driver=driver).is_held
    assert sorted(ended) == ["one", "two"]


def test_two_waits_for_one_queue_take_one_item(driver: str) -> None:
    """A task that waits twice for one queue is served once, and a rival takes the rest."""
    taken: list[object] = []

    async def main(client: Client) -> None:
        queue = client.queue("inbox", idle=True)

        async def both() -> None:
            taken.append(await client.first(queue.get(), queue.get()))

        async def rival() -> None:
            taken.append(await queue.get())

        client.spawn("both", both)
        client.spawn("rival", rival)
        await client.sleep(5)
        queue.put("x")
        queue.put("y")

    for seed in range(20):
        taken.clear()
        verdict = world_of(alpha=main).run(Uniform(seed), driver=driver)
        assert verdict.is_held, verdict
        assert len(taken) == 2
