"""who_comes_again: equal where equal pods are created, and at no other time."""

from __future__ import annotations

from typing import Any

from actors.shared.who_comes_again import who_comes_again
from testbed import Evidence, always
from testbed.choosers.calm import Calm
from testbed.client.client import Client
from testbed.objects import Pod
from tests.shared.stage import world_of


def of(label: str, name: str) -> Pod:
    """A pod with that label."""
    return Pod.of(name, labels={"app": label})


async def creates_and_deletes(client: Client) -> None:
    """Pods come and go."""
    for label, name in (("web", "a"), ("web", "b"), ("db", "c")):
        await client.create(of(label, name))
        await client.delete(of(label, name))


def test_only_pods_that_come_are_alike() -> None:
    """By their labels, whatever they are called; what is deleted recurs never."""
    told: list[Any] = []

    def look(see: Evidence) -> None:
        if see.changes:
            told.append(who_comes_again(see))

    world = world_of(alpha=creates_and_deletes)
    world.claim(always(look))
    assert world.run(Calm(), driver="direct").is_held
    web, gone, again, gone_again, db, last = told[:6]
    assert web == again != db
    assert len({gone, gone_again, last}) == 3
