"""The words of drawn Worlds for programs that never rest: they look, count and wait again."""

from __future__ import annotations

from typing import Any

from testbed.objects import Event
from testbed.objects.reference import Reference
from tests.models.worlds.doing import WORDS, Action, Desk, does

ENOUGH = 30
"""A program counts up to here, and then no further."""


@does("again")
async def again(
    desk: Desk, every: int = 1_000, name: str = "look", actions: tuple[Action, ...] = (),
    times: int = 0, keeps: bool = False, idle: bool = False,
) -> str:  # fmt: skip
    """The same again and again, or so many times; what it has seen is forgotten after each round,
    unless it keeps that."""
    done = 0
    while not times or done < times:
        await desk.do(actions)
        if times:
            done += 1
        if not keeps:
            desk.seen, desk.revisions, desk.tasks = [], [], desk.tasks[-1:]
            desk.error = desk.number = None
        await desk.client.sleep(every, name, idle=idle)
    return ""


@does("count")
async def count(desk: Desk, what: str = "rounds", of: int = 0) -> str:
    """Count one on, up to a number, or as a clock with so many hours does."""
    counts = desk.shared.counts
    now = counts.get(what, 0) + 1
    counts[what] = now % of if of else min(now, ENOUGH)
    return ""


@does("once")
async def once(
    desk: Desk, look: Action = ("counted", {}), told: str = "True", most: int = 1,
    name: str = "done", actions: tuple[Action, ...] = (),
) -> str:  # fmt: skip
    """Do something as soon as a look tells that, and not more often than so many times."""
    word, given = look
    said = str(await WORDS[word](desk, **given))
    done = desk.shared.counts.get(name, 0)
    if told in said and done < most:
        desk.shared.counts[name] = done + 1
        await desk.do(actions)
    return ""


@does("counted")
async def counted(desk: Desk, what: str = "rounds", to: int = 3) -> str:
    """Whether it has counted so far."""
    return str(desk.shared.counts.get(what, 0) == to)


@does("late")
async def late(desk: Desk, ms: int = 10_000, elapsed: bool = False) -> str:
    """Whether it is that late."""
    client = desk.client
    return str((client.elapsed() if elapsed else client.now()) >= ms)


@does("order")
async def order(desk: Desk, what: str = "last") -> str:
    """Note that this task came last; tell whether another one had."""
    hidden: list[Any] = desk.shared.hidden
    hidden.append(desk.task)
    del hidden[:-2]
    return str(hidden[0] != hidden[-1])


@does("event")
async def event(desk: Desk) -> str:
    """Report something to people, under a name of its own."""
    counts = desk.shared.counts
    counts["events"] = counts.get("events", 0) + 1
    item = Event(f"{desk.client.name}-{counts['events']}", involved=Reference(name="x"))
    return (await desk.client.create(item)).reason
