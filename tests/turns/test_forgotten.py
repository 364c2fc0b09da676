"""Forgotten awaits: each ends the Run with the actor's own line, under each driver."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import re
import warnings
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import trio

from testbed import ApiError, Cache, Client, Operation, World
from testbed.choosers.calm import Calm
from testbed.client.stream import NextDelivery
from testbed.code.whose import TESTBED, whose
from testbed.errors import HarnessError, NotFound, ScenarioError
from testbed.faults.crash import Crash
from testbed.objects import Note
from tests.each_row import each_row
from tests.shared.stage import Cued, Puppet

# mypy: disable-error-code="unused-coroutine, unused-awaitable"
Doing = Callable[[Client], Coroutine[Any, Any, Any]]
DRIVERS = ["trio", "direct"]


def line_of(do: Callable[..., Any]) -> str:
    """The place of the line that says `# here` in a function."""
    lines, first = inspect.getsourcelines(do)
    (offset,) = [number for number, line in enumerate(lines) if "# here" in line]
    return f"{__file__}, line {first + offset}: "


def world_of(do: Doing) -> World:
    """A World of that actor alone, and one note."""
    world = World()
    world.add(Note("n"))
    world.start(Puppet("alpha", do))
    world.latency("get notes/default/late", serve_ms=9)
    return world


async def verb(client: Client) -> None:
    """The commonest: a write that is never asked for."""
    client.create(Note("m"))  # here
    await client.sleep(1)


async def kept(client: Client) -> None:
    """It is in a variable until its function ends."""
    made = client.create(Note("m"))  # here
    await client.sleep(1)
    del made


async def refused(client: Client) -> None:
    """It is in a variable of a function in which an ask was refused."""
    made = client.create(Note("m"))  # here
    with contextlib.suppress(NotFound):
        await client.get(Note, "nothing")
        await made


async def timed_out(client: Client) -> None:
    """The same, when the answer came too late."""
    wait = client.sleep(5)  # here
    try:
        await client.get(Note, "late", timeout_ms=2)
    except ApiError:
        return
    await wait


async def refused_wait(client: Client) -> None:
    """A wait that is dropped at the end of its function, in which an ask was refused."""
    wait = client.sleep(5)  # here
    try:
        await client.get(Note, "nothing")
    except NotFound:
        return
    await wait


async def kept_wait(client: Client) -> None:
    """A wait that is dropped at the end of its function."""
    wait = client.signal("ready").wait()  # here
    if (await client.get(Note, "n")).data:
        await wait


async def kept_below(client: Client) -> None:
    """A wait that a function of the actor's own makes."""
    wait = _made_below(client)
    if (await client.get(Note, "n")).data:
        await wait


def _made_below(client: Client) -> Any:
    return client.first(client.sleep(1), client.sleep(2))  # here


async def own(client: Client) -> None:
    """A function of the actor's own."""

    async def helper() -> None:
        await client.create(Note("m"))

    helper()  # here
    await client.sleep(1)


async def result(client: Client) -> Any:
    """What it returns nobody awaits."""
    return client.get(Note, "n")  # here


async def last(client: Client) -> None:
    """The last thing it does."""
    client.sleep(5)  # here


async def sleep(client: Client) -> None:
    """A timer."""
    client.sleep(5, "rest")  # here
    await client.get(Note, "n")


async def queue(client: Client) -> None:
    """An item of a queue, which goes on lying there."""
    items = client.queue("todo")
    items.put(1)
    items.get()  # here
    await client.sleep(1)


async def signal(client: Client) -> None:
    """A signal."""
    ready = client.signal("ready")
    ready.wait()  # here
    await client.sleep(1)


async def several(client: Client) -> None:
    """The first of several."""
    client.first(client.sleep(1), client.sleep(2))  # here
    await client.sleep(1)


async def joined(client: Client) -> None:
    """The end of a task."""
    task = client.spawn("task", last_of, client)
    client.join(task)  # here
    await client.sleep(1)


async def last_of(client: Client) -> None:
    """A task that ends."""
    await client.sleep(1)


async def delivery(client: Client) -> None:
    """The next news of a watch."""
    stream = await client.watch(Note, since=(await client.list(Note)).revision)
    stream.next()  # here
    await client.sleep(1)


async def alarmed(client: Client) -> None:
    """An alarm."""
    alarm = client.alarm("flush")
    alarm.wait()  # here
    await client.sleep(1)


async def cached(client: Client) -> None:
    """What a Cache makes is asked for by its caller."""
    notes = Cache(client, Note)
    notes.synced()  # here
    await client.sleep(1)


async def by_python(client: Client) -> None:
    """What Python's own code calls for the actor, which may lie between several times."""
    with contextlib.ExitStack() as outer, contextlib.ExitStack() as inner:  # here
        inner.callback(outer.callback, client.sleep, 5)
    await client.sleep(1)


FORGOTTEN = [
    verb, kept, refused, timed_out, refused_wait, kept_wait, own, result, last, sleep, queue,
    signal, several, joined, delivery, alarmed, cached, by_python,
]  # fmt: skip


@each_row("driver", DRIVERS)
@each_row("do", FORGOTTEN)
def test_what_is_never_awaited_ends_the_run(
    do: Doing, driver: str, recwarn: pytest.WarningsRecorder
) -> None:
    """With its file and line, and nothing on stderr."""
    with pytest.raises(ScenarioError) as ended:
        world_of(do).run(Calm(), driver=driver)
    said = str(ended.value)
    assert said.startswith(f"{line_of(do)}alpha/main never awaited "), said
    assert "Next: write `await` before it" in said
    assert not recwarn.list


@each_row("driver", DRIVERS)
def test_the_line_is_where_the_wait_was_made(driver: str) -> None:
    """Not where its function ends, nor where that was called."""
    with pytest.raises(ScenarioError) as ended:
        world_of(kept_below).run(Calm(), driver=driver)
    assert str(ended.value).startswith(f"{line_of(_made_below)}alpha/main never awaited ")


@pytest.mark.parametrize("driver", DRIVERS)
def test_what_the_testbed_itself_waits_for_is_not_the_callers(
    driver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who plays the World has not asked for what a Cache waits for."""
    made: set[str] = set()
    arm = NextDelivery.arm

    def arming(wait: NextDelivery, *seat_and_wrap: Any) -> None:
        made.add(wait._made_at[0].co_filename)
        arm(wait, *seat_and_wrap)

    async def informed(client: Client) -> None:
        await Cache(client, Note).synced()

    monkeypatch.setattr(NextDelivery, "arm", arming)
    assert world_of(informed).run(Calm(), driver=driver).is_held
    assert list(map(whose, made)) == [TESTBED]


@each_row("driver", DRIVERS)
def test_it_is_noticed_whatever_warnings_are_shown(driver: str) -> None:
    """Ignored, or errors, as pytest may set them; and afterwards they are as they were."""
    for how in ("ignore", "error"):
        with warnings.catch_warnings():
            warnings.simplefilter(how)
            before = (list(warnings.filters), warnings.showwarning)
            with pytest.raises(ScenarioError, match=r"never awaited Client\.create,"):
                world_of(verb).run(Calm(), driver=driver)
            assert (list(warnings.filters), warnings.showwarning) == before


def test_another_warning_is_shown_as_ever(recwarn: pytest.WarningsRecorder) -> None:
    """It is the actor's own matter."""

    async def warns(client: Client) -> None:
        warnings.warn("coroutines are fun", RuntimeWarning, stacklevel=1)
        await client.sleep(1)

    assert world_of(warns).run(Calm()).is_held
    assert [str(each.message) for each in recwarn.list] == ["coroutines are fun"]


@each_row("driver", DRIVERS)
def test_what_a_crash_came_before_was_not_forgotten(driver: str) -> None:
    """It would have been awaited; and what a dead life still makes is lost."""

    async def prudent(client: Client) -> None:
        made, wait = client.get(Note, "n"), client.sleep(3)
        try:
            await client.sleep(5)
        except BaseException:
            client.sleep(7)
            raise
        await made
        await wait

    world = world_of(prudent)
    world.allow(Crash("alpha", restart_after_ms=5))
    assert world.run(Cued("start *", "fault *crash*"), driver=driver).faults == 1


@each_row("driver", DRIVERS)
def test_what_is_awaited_in_one_of_several_was_not_forgotten(driver: str) -> None:
    """Nor what is made early and awaited late."""

    async def early(client: Client) -> None:
        rest, made = client.sleep(5), client.create(Note("m"))
        wait = client.first(rest, client.sleep(9))
        assert await wait == (0, None)
        await made

    assert world_of(early).run(Calm(), driver=driver).is_held


def test_after_the_run_python_is_as_it_was() -> None:
    """Coroutines tell their origin only during a Run."""
    import sys

    before = sys.get_coroutine_origin_tracking_depth()
    assert world_of(last_of).run(Calm()).is_held
    assert sys.get_coroutine_origin_tracking_depth() == before


# -- what is not the World's ----------------------------------------------------------------------


async def of_trio(client: Client) -> None:
    """Sleeps by trio."""
    await client.sleep(1)
    await trio.sleep(1)  # here


async def of_asyncio(client: Client) -> None:
    """Sleeps by asyncio."""
    await client.sleep(1)
    await asyncio.sleep(1)  # here


async def yielding(client: Client) -> None:
    """As people do to yield."""
    await asyncio.sleep(0)  # here


async def deeper(client: Client) -> None:
    """In a function of its own, below another."""
    await _below()


async def _below() -> None:
    await trio.sleep(0)  # here


async def timed(client: Client) -> None:
    """Tasks of trio's own."""
    async with trio.open_nursery() as tasks:  # here
        tasks.start_soon(trio.sleep, 1)


@each_row("driver", DRIVERS)
@each_row(
    ("do", "here"),
    [(of_trio, of_trio), (of_asyncio, of_asyncio), (yielding, yielding), (deeper, _below),
     (timed, timed)],
)  # fmt: skip
def test_what_is_not_the_worlds_is_told_with_its_line(
    do: Doing, here: Callable[..., Any], driver: str, recwarn: pytest.WarningsRecorder
) -> None:
    """The actor's own line, under each driver, also where the library itself raises."""
    with pytest.raises(ScenarioError) as ended:
        world_of(do).run(Calm(), driver=driver)
    said = str(ended.value)
    assert said.startswith(f"{line_of(here)}alpha/main awaited something"), said
    assert "\nNext: wait with the Client: client.sleep(ms) for time; " in said


async def sleeps_by_half(client: Client) -> None:
    """Half a millisecond."""
    await client.sleep(0.5)  # type: ignore[arg-type]  # here


async def picks_from_nothing(client: Client) -> None:
    """An empty list."""
    client.pick("node", [])  # here


async def waits_for_nothing(client: Client) -> None:
    """No wait at all."""
    await client.first()  # here


async def follows_from_nothing(client: Client) -> None:
    """A number is no Record."""
    await client.create(Note("a"), because=3)  # type: ignore[arg-type]  # here


async def asks_nobody(client: Client) -> None:
    """There is no such Endpoint."""
    await client.ask(Operation("get", "notes/default/a", endpoint="clark"))  # here


async def records_a_task(client: Client) -> None:
    """What cannot stand in a trace."""
    client.record("did", by=client)  # here


async def cancels_itself(client: Client) -> None:
    """A task of its own."""
    tasks: list[Any] = []

    async def other() -> None:
        client.cancel(tasks[0])  # here

    tasks.append(client.spawn("other", other))
    await client.join(tasks[0])


async def cannot_await(client: Client) -> None:
    """A handler that is async."""

    async def handler(*_: object) -> None:
        return

    Cache(client, Note).on(add=handler)  # type: ignore[arg-type]  # here


BROKEN_RULES: dict[Doing, str] = {
    sleeps_by_half: "sleep(0.5, 'sleep'): expected whole milliseconds",
    picks_from_nothing: "alpha/main picks 'node' from nothing",
    waits_for_nothing: "nothing to wait for",
    follows_from_nothing: "because",
    asks_nobody: "nothing answers to 'clark'",
    records_a_task: "alpha/main records 'did'",
    cancels_itself: "alpha/other cancels itself",
    cannot_await: "handler",
}


@each_row("driver", DRIVERS)
@each_row(("do", "told"), BROKEN_RULES.items())
def test_a_rule_that_is_broken_is_told_with_its_line_and_the_next_step(
    do: Doing, told: str, driver: str
) -> None:
    """Whatever the actor gets wrong: its own line comes first, and what to do comes last."""
    with pytest.raises(HarnessError) as ended:
        world_of(do).run(Calm(), driver=driver)
    said = str(ended.value)
    assert said.startswith(line_of(do)), said
    assert told in said
    assert re.fullmatch(r"Next: .+\.", said.splitlines()[-1]), said


def test_an_error_of_a_library_beside_them_is_the_actors_own_death() -> None:
    """Only those that let tasks wait are refused."""

    async def breaks(client: Client) -> None:
        inspect.getsource(3)  # type: ignore[arg-type]
        raise ApiError

    verdict = world_of(breaks).run(Calm())
    assert "test_forgotten.py:" in str(verdict)
