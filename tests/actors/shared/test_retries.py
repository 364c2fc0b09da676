"""Retries: a request goes out again until another try cannot change the answer."""

from __future__ import annotations

from typing import Any

import pytest

from actors.apiserver import ApiServer
from actors.shared.retries import RETRY_MS_MAX, make, until_told
from testbed.client.client import Client
from testbed.errors import (
    AlreadyExists,
    ApiError,
    BadRequest,
    Conflict,
    Expired,
    Forbidden,
    InternalError,
    Invalid,
    NotFound,
    TimedOut,
    TooManyRequests,
    Unavailable,
)
from testbed.faults.lose_reply import LoseReply
from testbed.objects import Pod
from tests.each_row import each_row
from tests.shared.stage import note, play, world_of

PASSING = (Conflict, Forbidden, InternalError, TimedOut, TooManyRequests, Unavailable)
FOR_GOOD = (AlreadyExists, BadRequest, Expired, Invalid, NotFound)


def tries(*errors: ApiError, retry_ms: int = 1000) -> tuple[list[int], Any]:
    """When it was tried if these errors come first, and what came of it."""
    left, tried = list(errors), list[int]()
    end: Any = None

    async def run(client: Client) -> None:
        nonlocal end

        async def send() -> str:
            tried.append(client.now())
            if left:
                raise left.pop(0)
            return "told"

        try:
            end = await until_told(client, send, why="retry", retry_ms=retry_ms)
        except ApiError as error:
            end = type(error)

    play(world_of(alpha=run))
    return tried, end


@each_row("error", PASSING)
def test_what_may_pass_is_tried_again(error: type[ApiError]) -> None:
    """A second later."""
    assert tries(error()) == ([0, 1000], "told")


@each_row("error", FOR_GOOD)
def test_what_will_not_pass_is_told(error: type[ApiError]) -> None:
    """At once."""
    assert tries(error()) == ([0], error)


@pytest.mark.spec("CTL-1")
def test_it_waits_for_longer_each_time() -> None:
    """Twice as long, but never more than a thousand seconds, nor less than it is told to."""
    assert tries(*[Unavailable()] * 4, retry_ms=500)[0] == [0, 500, 1500, 3500, 7500]
    times = tries(*[Unavailable()] * 3, retry_ms=RETRY_MS_MAX // 2)[0]
    assert times == [0, 500_000, 1_500_000, 2_500_000]
    assert tries(TooManyRequests(retry_after_s=7), Unavailable())[0] == [0, 7000, 9000]


def test_what_was_made_without_an_answer_is_not_made_again() -> None:
    """The second try is told that the name is taken, and that is enough."""

    async def run(client: Client) -> None:
        await make(client, note())

    world = world_of(alpha=run)
    world.allow(LoseReply("alpha"))
    played = play(world, "serve alpha/main create *", "fault * lose_reply *")
    assert [step.now_ms for step in played.every("serve alpha/main create *")] == [0, 1000]
    assert [entry.key for entry in world.store.snapshot("notes/")] == ["notes/default/n"]


def test_what_is_refused_for_good_is_given_up() -> None:
    """It says so in the trace, and lives."""

    async def run(client: Client) -> None:
        await make(client, Pod.of("not a name", cpu_m=100))
        await make(client, note())

    world = world_of(alpha=run)
    world.serve(ApiServer)
    play(world)
    assert [(each.name, each.facts) for each in world.evidence.records] == [
        ("gave up", {"item": "pods/default/not a name", "error": "Invalid"})
    ]
    assert [entry.key for entry in world.store.snapshot("notes/")] == ["notes/default/n"]
