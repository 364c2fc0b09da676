"""Workqueue: a key is queued once, processed by one task at a time, and requeued if that failed."""

from __future__ import annotations

from typing import Any

import pytest

from actors.shared.workqueue import Workqueue, is_done
from testbed import Client
from testbed.errors import ApiError, Conflict, NotFound, Unavailable
from tests.shared.stage import play, world_of


def played(do: Any) -> list[Any]:
    """What an actor has written down that used a Workqueue so."""
    seen: list[Any] = []

    async def run(client: Client) -> None:
        await do(client, Workqueue(client), seen)

    play(world_of(alpha=run))
    return seen


@pytest.mark.spec("CTL-1")
def test_a_key_in_hand_is_seen_to_once_more_and_never_twice_at_a_time() -> None:
    """It was added twice meanwhile: no other task gets it before it is done, and then once."""

    async def do(client: Client, todo: Workqueue, seen: list[Any]) -> None:
        async def work(name: str) -> None:
            while True:
                key = await todo.take()
                seen.append((client.now(), name, key))
                await client.sleep(100)
                todo.done(key)

        todo.add("a")
        for name in "xy":
            client.spawn(name, work, name)
        await client.sleep(10)
        todo.add("a")
        todo.add("a")
        todo.add("b")

    seen = played(do)
    assert [(at, key) for at, _, key in seen] == [(0, "a"), (10, "b"), (100, "a")]


def test_its_digest_tells_what_it_will_do() -> None:
    """What is queued, what is being processed, and what has failed."""

    async def do(client: Client, todo: Workqueue, seen: list[Any]) -> None:
        for key in "abc":
            todo.add(key)
        for has_failed in (True, False):
            key = await todo.take()
            seen.append(todo.digest())
            todo.done(key, has_failed=has_failed)
        seen.append(todo.digest())

    none: frozenset[object] = frozenset()
    failed = frozenset({("a", 1)})
    assert played(do) == [(["b", "c"], ["a"], none), (["c"], ["b"], failed), (["c"], [], failed)]


def test_work_on_what_is_gone_is_done_and_any_other_failure_is_not() -> None:
    """What is no answer of the API is not caught."""

    async def do(client: Client, todo: Workqueue, seen: list[Any]) -> None:
        async def work(error: Exception | None) -> None:
            if error is not None:
                raise error

        given: tuple[ApiError | None, ...] = (None, NotFound("n"), Conflict("c"), Unavailable("u"))
        seen.extend([await is_done(work(error)) for error in given])
        with pytest.raises(ZeroDivisionError):
            await is_done(work(ZeroDivisionError()))

    assert played(do) == [True, True, False, False]
