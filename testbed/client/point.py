"""Point of work: how far a life of an actor has come: what it has sent, and what it waits for.

It is what two Runs have in common if an actor is "at the same point of its work" in both, whatever
happened between its turns. Only turns of the actor itself move it, and if it `crosses` the wire
also those in which an Endpoint serves what it has sent.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from testbed.client.request import Post, Request
from testbed.turns.life import Role
from testbed.turns.option import SERVE

Asked = tuple[str, ...]
"""A request: the task that sent it, its verb and its key."""


@attrs.frozen
class PointOfWork:
    """What one life has sent, and what of that it still waits for."""

    life: int
    """The number of the life; 0 before the first."""
    is_up: bool
    task: str
    """The path of the task that it is about; empty: all tasks."""
    crosses: bool
    """Whether it also says how far the server has come with what is still awaited."""
    sent: frozenset[tuple[Asked, int]]
    """Each request, and how often it was sent."""
    awaited: frozenset[tuple[object, ...]]

    def is_that_of(self, role: Role, posts: Iterable[Post]) -> bool:
        """Whether an actor has come just as far."""
        return self == point_of_work(role, posts, task=self.task, crosses=self.crosses)


def point_of_work(
    role: Role, posts: Iterable[Post], *, task: str = "", crosses: bool = False
) -> PointOfWork:
    """How far an actor has come in its current or last life, or one task of it."""
    life = role.life
    if life is None:
        return PointOfWork(0, False, task, crosses, frozenset(), frozenset())
    sent = [
        ((path, verb, key), count)
        for (kind, path, verb, key, _), count in life.counted()
        if kind == SERVE and task in ("", path)
    ]
    awaited = [
        _stage(request, crosses)
        for post in posts
        for request in post.requests
        if request.life is life and request.is_awaited and task in ("", request.path)
    ]
    return PointOfWork(
        life.number, life.is_alive, task, crosses, frozenset(sent), frozenset(awaited)
    )


def _stage(request: Request, crosses: bool) -> tuple[object, ...]:
    operation = request.operation
    asked = (request.path, operation.asked, operation.key, request.nth)
    return (*asked, request.part, request.is_served) if crosses else asked
