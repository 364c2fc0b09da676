"""Spawned: a function that can begin no task is refused at the line that spawns it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial, wraps
from typing import Any

import pytest

from testbed.client.client import Client
from testbed.errors import ScenarioError
from tests.each_row import each_row
from tests.shared.stage import play, world_of


async def work(client: Client, ms: int = 1, *, name: str = "work") -> None:
    """Something to do."""
    await client.sleep(ms, name)


async def named(client: Client, *, name: str) -> None:
    """Something that must be named."""
    await client.sleep(1, name)


WRONG: dict[str, tuple[Callable[[Any], object], str, str]] = {
    "a wait": (
        lambda c: c.spawn("x", c.sleep, 5),
        "client.spawn('x', …) was given Client.sleep, which gave a wait, which is no task of its "
        "own: expected an async function",
        "write `async def f(): …` that awaits it, and say client.spawn('x', f)",
    ),
    "a wait that was asked for": (
        lambda c: c.spawn("x", c.sleep(5)),
        "was given a wait, which is no task of its own: expected an async function",
        "say client.spawn('x', f, …)",
    ),
    "a coroutine": (
        lambda c: c.spawn("x", work(c)),
        "was given a coroutine, which has been called already: expected an async function",
        "say client.spawn('x', f, …)",
    ),
    "no function": (
        lambda c: c.spawn("x", 3), "was given 3: expected an async function", "say"
    ),
    "nothing": (lambda c: c.spawn("x", None), "was given None: expected an async", "say"),
    "no name": (
        lambda c: c.spawn(work, c),
        "client.spawn was given the function work for the name of a task: expected a text",
        "say client.spawn('later', f, …)",
    ),
    "a name of two words": (
        lambda c: c.spawn("create menu", work, c),
        "client.spawn was given the name 'create menu': expected one word without # @ * ? [ ]",
        "say client.spawn('create-menu', f, …)",
    ),
    "a name that counts": (
        lambda c: c.spawn("work#2", work, c),
        "was given the name 'work#2': expected one word",
        "say client.spawn('work-2', f, …)",
    ),
    "too few": (
        lambda c: c.spawn("x", work),
        "was given 0 arguments for work: missing a required argument: 'client'",
        "give what it takes behind it",
    ),
    "too many": (
        lambda c: c.spawn("x", work, c, 1, 2),
        "was given 3 arguments for work: too many positional arguments",
        "give what it takes behind it",
    ),
    "one that must be named": (
        lambda c: c.spawn("x", named, c),
        "was given 1 argument for named: missing a required",
        "give what it takes behind it; what has a name goes in with functools.partial",
    ),
    "of a part": (
        lambda c: c.spawn("x", partial(work, c, 1), 2),
        "was given 1 argument for a partial: too many positional arguments",
        "give what it takes behind it",
    ),
    "of a method": (
        lambda c: c.spawn("x", c.get), "was given 0 arguments for Client.get: missing", "give"
    ),
    "a function that is not async": (
        lambda c: c.spawn("x", lambda: None),
        "<lambda>, which gave None: expected an async function",
        "write `async def f(): …`",
    ),
    "one of Python's": (
        lambda c: c.spawn("x", dict),
        "was given dict, which gave {}: expected an async function",
        "write `async def f(): …`",
    ),
}  # fmt: skip


@each_row("case", WRONG)
def test_what_can_begin_no_task_is_told_with_its_line(case: str) -> None:
    """The file and the line, what was given, what was expected, and the next step; also if the
    actor catches it."""
    wrong, said, step = WRONG[case]

    async def alpha(client: Client) -> None:
        with suppress(Exception):
            wrong(client)
        await client.sleep(1)

    with pytest.raises(ScenarioError) as refused:
        play(world_of(alpha=alpha))
    text, _, then = str(refused.value).partition("\nNext: ")
    first = wrong.__code__.co_firstlineno
    assert text.startswith(tuple(f"{__file__}, line {n}: client.spawn" for n in (first, first + 1)))
    assert said in text
    assert then.startswith(step)
    assert " at 0x" not in text


def test_every_way_to_begin_a_task_is_taken() -> None:
    """An async function, a method, a partial, a lambda, a plain function that calls one."""

    class Worker:
        async def work(self, client: Client) -> None:
            await client.sleep(1, "method")

        @staticmethod
        async def alone(client: Client) -> None:
            await client.sleep(1, "static")

        async def __call__(self, client: Client) -> None:
            await client.sleep(1, "call")

    def plain(client: Client) -> Any:
        return work(client, name="plain")

    async def alpha(client: Client) -> None:
        worker = Worker()

        @wraps(work)
        async def wrapping(*args: Any) -> None:
            await work(client, *args, name="wraps")

        client.spawn("t", work, client)
        client.spawn("t", work, client, 2)
        client.spawn("t", partial(named, client, name="partial"))
        client.spawn("t", lambda: work(client, name="lambda"))
        client.spawn("t", plain, client)
        client.spawn("t", worker.work, client)
        client.spawn("t", worker.alone, client)
        client.spawn("t", worker, client)
        client.spawn("t", wrapping, 1)
        client.spawn("t", wrapping)

    played = play(world_of(alpha=alpha))
    woken = sorted(step.option.verb for step in played.every("wake *"))
    names = ["work", "work", "partial", "lambda", "plain", "method", "static", "call"]
    assert woken == sorted([*names, "wraps", "wraps"])
