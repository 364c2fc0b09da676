"""Point: how far work has come where a fault strikes.

It is what two Runs have in common if a fault strikes "at the same point" in both, whatever happened
between. Each kind of point holds what a turn that must keep its order with the fault has moved, and
nothing else: so all Runs that differ only in the order of turns that commute have the same points.

- Of an actor or of one request (`PointOfWork`): what its life has sent, and what it waits for.
- Of an Endpoint (`PointOfService`): what it has served, and which requests it holds.
- Of the Store's history (`PointOfHistory`): what was served that has committed or has looked back.
- Of a watch (`PointOfWatch`): what its reader was told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from testbed.client.open_watch import OpenWatch
from testbed.client.request import Post, Request
from testbed.store.footprint import HISTORY, Footprint, Marks
from testbed.turns.life import Role
from testbed.turns.option import DELIVER, SERVE, Option

Asked = tuple[str, ...]
"""A request: the task that sent it, its verb and its key."""
Counts = frozenset[tuple[Asked, int]]
"""Each request, and how often."""


class ServedSoFar:
    """What was served so far, by Endpoint and by actor. Only a World that compares Runs counts."""

    def __init__(self) -> None:
        self.served: dict[str, dict[str, dict[Asked, int]]] = {}
        """By Endpoint."""
        self.dated: dict[str, dict[Asked, int]] = {}
        """What has committed, or has looked at the history."""
        self._done: set[Request] = set()

    def add(self, request: Request, marks: Marks) -> None:
        """A request was served, or one part of it, in the turn that has these Marks."""
        asked = (request.path, request.operation.asked, request.operation.key)
        places = [self.served.setdefault(request.post.name, {})]
        if marks.changes or HISTORY in marks.reads or HISTORY in marks.writes:
            places.append(self.dated)
        for place in places:
            counts = place.setdefault(request.role.name, {})
            counts[asked] = counts.get(asked, 0) + 1
        if request.is_served:
            self._done.add(request)

    def has_served(self, request: Request) -> bool:
        """Whether its last part was served. A fault may fail it before, which answers it, too; and
        what strikes its actor need not keep its order with that."""
        return request in self._done


@attrs.frozen
class Whereabouts:
    """What a World shows of how far its actors and its Endpoints have come."""

    roles: Mapping[str, Role]
    posts: Mapping[str, Post]
    streams: Iterable[OpenWatch]
    """The open watches."""
    tally: ServedSoFar | None
    """None if nothing is counted."""


class Point:
    """Where one fault has struck."""

    def is_there(self, here: Whereabouts) -> bool:
        """Whether a World has come just as far."""
        raise NotImplementedError

    def waits(self, option: Option, here: Whereabouts) -> bool:
        """Whether that Option is of an actor that has come as far as it may before the fault: so
        it waits there until the others have come as far. One that is struck alone comes to its
        point by itself."""
        return False


@attrs.frozen
class PointOfWork(Point):
    """What one life has sent, and what of that it still waits for."""

    actor: str
    life: int
    """The number of the life; 0 before the first."""
    is_up: bool
    task: str
    """The path of the task that it is about; empty: all tasks."""
    crosses: bool
    """Whether it also says how far the server has come with what is still awaited."""
    sent: Counts
    awaited: frozenset[tuple[object, ...]]

    def is_there(self, here: Whereabouts) -> bool:
        role = here.roles.get(self.actor)
        return role is not None and self == point_of_work(
            role, here, task=self.task, crosses=self.crosses
        )


def point_of_work(
    role: Role, here: Whereabouts, *, task: str = "", crosses: bool = False
) -> PointOfWork:
    """How far an actor has come in its current or last life, or one task of it."""
    life = role.life
    if life is None:
        return PointOfWork(role.name, 0, False, task, crosses, frozenset(), frozenset())
    sent = [
        ((path, verb, key), count)
        for (kind, path, verb, key, _), count in life.counted()
        if kind == SERVE and task in ("", path)
    ]
    awaited = [
        _stage(request, here if crosses else None)
        for post in here.posts.values()
        for request in post.requests
        if request.life is life and request.is_awaited and task in ("", request.path)
    ]
    return PointOfWork(
        role.name, life.number, life.is_alive, task, crosses, frozenset(sent), frozenset(awaited)
    )


def _stage(request: Request, here: Whereabouts | None) -> tuple[object, ...]:
    """Which request it is, and, as it is here, how far the server has come with it."""
    operation = request.operation
    asked = (request.path, operation.asked, operation.key, request.nth)
    if here is None:
        return asked
    is_served = request.is_served if here.tally is None else here.tally.has_served(request)
    return (*asked, request.part, is_served)


@attrs.frozen
class ByActor:
    """What an Endpoint has served of each actor, and what it holds; an actor of which it has done
    neither is left out."""

    served: frozenset[tuple[str, Counts]]
    held: frozenset[tuple[str, frozenset[tuple[object, ...]]]] = frozenset()

    def is_same_of(self, actor: str, other: ByActor) -> bool:
        """Whether it has come as far with that actor."""
        return _of(actor, self.served) == _of(actor, other.served) and (
            _of(actor, self.held) == _of(actor, other.held)
        )


def _of(actor: str, rows: Iterable[tuple[str, object]]) -> object:
    return next((each for name, each in rows if name == actor), None)


def _counted(counts: Mapping[str, Mapping[Asked, int]]) -> frozenset[tuple[str, Counts]]:
    return frozenset((actor, frozenset(each.items())) for actor, each in counts.items())


@attrs.frozen
class PointOfService(Point):
    """What an Endpoint has served, and how far it has come with the requests that it holds."""

    endpoint: str
    is_up: bool
    done: ByActor

    def is_there(self, here: Whereabouts) -> bool:
        post = here.posts.get(self.endpoint)
        return post is not None and self == point_of_service(post, here)

    def waits(self, option: Option, here: Whereabouts) -> bool:
        post = here.posts.get(self.endpoint)
        return _has_come(option.actor, None if post is None else point_of_service(post, here), self)


def point_of_service(post: Post, here: Whereabouts) -> PointOfService | None:
    """How far an Endpoint has come; None if nothing is counted, or if it is near: what that serves
    is no turn of its own."""
    if here.tally is None or post.endpoint.near:
        return None
    held: dict[str, list[tuple[object, ...]]] = {}
    for request in post.requests:
        stage = (request.life.number, request.is_awaited, *_stage(request, here))
        held.setdefault(request.role.name, []).append(stage)
    kept = frozenset((actor, frozenset(each)) for actor, each in held.items())
    served = _counted(here.tally.served.get(post.name, {}))
    return PointOfService(post.name, post.is_up, ByActor(served, kept))


@attrs.frozen
class PointOfHistory(Point):
    """What was served that has committed or has looked at the history, by any Endpoint."""

    done: ByActor
    behind: frozenset[tuple[str, str]]
    """The servers that had not read all of a kind, and that kind."""

    def is_there(self, here: Whereabouts) -> bool:
        now = point_of_history(here)
        # Who is further behind than then would lose what nothing has lost there.
        return now is not None and now.done == self.done and now.behind <= self.behind

    def waits(self, option: Option, here: Whereabouts) -> bool:
        return _has_come(option.actor, point_of_history(here), self)


def point_of_history(here: Whereabouts) -> PointOfHistory | None:
    """How far the history of the Store has come; None if nothing is counted."""
    if here.tally is None:
        return None
    behind = frozenset(
        (post.name, plural)
        for post in here.posts.values()
        for plural, (cursor, _) in post.feeds.items()
        if cursor.is_behind
    )
    return PointOfHistory(ByActor(_counted(here.tally.dated)), behind)


def _has_come(
    actor: str,
    now: PointOfService | PointOfHistory | None,
    point: PointOfService | PointOfHistory,
) -> bool:
    """Whether that actor, if it is one, has come as far by now as it had at that point."""
    return bool(actor) and now is not None and now.done.is_same_of(actor, point.done)


@attrs.frozen
class PointOfWatch(Point):
    """What the reader of a watch was told on its path, in this life."""

    actor: str
    life: int
    path: str
    told: frozenset[tuple[tuple[str, str], int]]
    """Each kind of Change of each key, and how often."""

    def is_there(self, here: Whereabouts) -> bool:
        return any(point_of_watch(stream) == self for stream in here.streams)


def point_of_watch(stream: OpenWatch) -> PointOfWatch:
    """How far the reader of a watch has come."""
    life = stream.life
    told = frozenset(
        ((key, change), count)
        for (kind, path, _, key, change), count in life.counted()
        if kind == DELIVER and path == stream.path
    )
    return PointOfWatch(life.role.name, life.number, stream.path, told)


# Told by the Footprint: the turns with which it keeps a fault in order are those that tell where
# the fault strikes. An actor comes first, since a fault that ends a life ends its watches, too.
def point_of(actor: str, touches: Footprint, here: Whereabouts) -> Point | None:
    """Where a fault strikes that is to touch this; None if no point tells."""
    role, writes = here.roles.get(actor), touches.writes
    if role is not None and role.memory in writes:
        crosses = not {role.lives_key, f"wire:{role.name}"}.isdisjoint(writes)
        return point_of_work(role, here, crosses=crosses)
    found: list[Point | None] = [
        point_of_service(post, here) for post in here.posts.values() if post.key in writes
    ]
    if not found and HISTORY in writes:
        found = [point_of_history(here)]
    if not found:
        found = [point_of_watch(stream) for stream in here.streams if stream.head in writes]
    return found[0] if len(found) == 1 else None
