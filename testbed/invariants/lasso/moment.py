"""Moment: all that the rest of a Run depends on, in a form in which two of them can be compared.

Of the Store what lives; of each actor its tasks, Caches and watches; what is pending, and how long
from now; what Endpoints have in hand. Left out, because nothing that is decided depends on it: the
number of a Step, which of its sentence an Option is, the bookmarks that a Cache is still to get,
and Events, which are for people (API-49).

What cannot be seen, and so is assumed: that no actor keeps anything outside its tasks (the house
forbids it), that none reads the history before the older of the two moments, and that uids and
ages are compared with each other alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from testbed.client.cache import Cache
from testbed.client.client import Client, Task
from testbed.client.request import Post, Request
from testbed.client.stream import Stream, Streams
from testbed.client.wire import Wire
from testbed.invariant import Evidence
from testbed.invariants.lasso.likeness import Likeness, Mark, StandIns, digest_of
from testbed.objects.event import Event
from testbed.objects.meta import Revision
from testbed.store.change import Change, Entry
from testbed.store.delivery import BOOKMARK
from testbed.store.store import Store
from testbed.store.watch import Cursor, Watch
from testbed.turns.life import Life, Role, Seat
from testbed.turns.option import Option
from testbed.turns.table import Table

EVENTS = f"{Event.plural}/"
NAMES_GIVEN = "_names_given"
"""Where an Endpoint that gives names counts them."""


@attrs.frozen
class Moment:
    """A state of a World between two turns."""

    parts: Mapping[str, str]
    """What each part comes to; the labels say what it is."""
    digest: str
    """Equal for two moments from which the same choices lead to the same."""

    def differences(self, other: Moment) -> Iterator[str]:
        """The labels of what is not the same in both."""
        for label in dict.fromkeys([*self.parts, *other.parts]):
            if self.parts.get(label) != other.parts.get(label):
                yield label


def moment(evidence: Evidence, renamed: Mapping[str, str], *, names_matter: bool = True) -> Moment:
    """How things are now; Unlike if something in it cannot be compared. `renamed` are the texts
    that only name something: for each, what kind of name it is. Which names an Endpoint will give
    is compared if `names_matter`."""
    now_ms = evidence.now_ms
    likeness = Likeness(_stand_ins(evidence, now_ms), renamed, now_ms)
    likeness.begin("the Store")
    for entry in evidence.store.snapshot(""):
        if not entry.key.startswith(EVENTS):
            likeness.write(entry)
    for name, post in sorted(evidence.wire.posts.items()):
        likeness.begin(f"what {name} has in hand")
        likeness.write((post.is_up, list(post.requests), _endpoint(post, names_matter)))
    for role in evidence.actors:
        _write_actor(likeness, role, now_ms)
    likeness.begin("what may happen next")
    for option in _that_matter(evidence):
        causes = option.causes[-1] if option.causes else 0
        likeness.write((option, Mark("step", causes)))
    digests = likeness.digests()
    return Moment(digests, digest_of(repr(list(digests.items())).encode()))


def _write_actor(likeness: Likeness, role: Role, now_ms: int) -> None:
    lags = {k: (by, until - now_ms) for k, (by, until) in role.lags.items() if until > now_ms}
    cut_off_ms = max(role.cut_off_until_ms - now_ms, 0)
    likeness.begin(f"the state of {role.name}")
    likeness.write((role.is_up, role.is_starting, role.home, role.clock_shift_ms, cut_off_ms, lags))
    life = role.life
    if life is None or not life.is_alive:
        return
    likeness.write(max(life.stalled_until_ms - now_ms, 0))
    likeness.write((life.caches, life.streams))
    own = _own(role, life, now_ms)
    if own is not None:
        likeness.begin(f"the digest of {role.name}")
        likeness.write(own)
    readers = [cache.reader.seat for cache in life.caches]
    for path, seat in life.seats.items():
        likeness.begin(f"where {path} is")
        likeness.write((path, seat.waits_for, seat.is_idle, seat.is_cancelled))
        if seat.coro is None or (own is not None and seat not in readers):
            likeness.write(_points(seat.coro))
        else:
            likeness.begin(path)
            likeness.write(seat.coro)


def _own(role: Role, life: Life, now_ms: int) -> object:
    """What an actor says that its memory comes to, if it says that."""
    digest = getattr(role.actor, "digest", None)
    if digest is not None:
        return digest()
    told = [what.digest(now_ms) for what in life.shown.values() if hasattr(what, "digest")]
    return told or None


def tells_time(life: Life) -> bool:
    """Whether a life that looks at its clock says how far from now all is that it goes by."""
    return any(hasattr(what, "digest") for what in life.shown.values())


def _points(task: Any) -> list[object]:
    """Only where it is parked, frame by frame: an actor that digests itself tells the rest."""
    points: list[object] = []
    while (frame := getattr(task, "cr_frame", None)) is not None:
        points += [frame.f_code.co_qualname, frame.f_lasti]
        task = task.cr_await
    return points


def _that_matter(evidence: Evidence) -> Iterator[Option]:
    """What is pending or held, in order, without the bookmarks of a Cache."""
    pending = evidence.table.pending
    readers = [
        cache.reader.seat
        for role in evidence.actors
        for cache in (role.life.caches if role.life is not None else ())
    ]
    for option in (*pending, *pending.held):
        if option.change != BOOKMARK or option.seat not in readers:
            yield option


def starved(before: list[Option], evidence: Evidence) -> list[Option]:
    """What was ready before, and still only waits: whoever it belongs to never had its turn."""
    pending = evidence.table.pending
    now = [*pending, *pending.held]
    return [option for option in before if any(option is other for other in now)]


def ready(evidence: Evidence) -> list[Option]:
    """What could happen now, or could if it were not held."""
    now_ms = evidence.now_ms
    return [option for option in _that_matter(evidence) if option.due_ms <= now_ms]


def _endpoint(post: Post, names_matter: bool) -> object:
    """What an Endpoint keeps: what it says its memory comes to, or else whatever it holds."""
    digest = getattr(post.endpoint, "digest", None)
    kept: Mapping[str, object] = vars(post.endpoint) if digest is None else digest()
    return {name: held for name, held in kept.items() if names_matter or name != NAMES_GIVEN}


def _stand_ins(evidence: Evidence, now_ms: int) -> StandIns:
    """What is written of the World's own things when an actor, or an Endpoint, holds them."""
    endpoints = {type(post.endpoint): _name for post in evidence.wire.posts.values()}
    return {
        **endpoints,
        Table: _kind, Wire: _kind, Streams: _kind, Store: _kind,
        Post: _name, Role: _name,
        Life: lambda life: ("life of", life.role.name, life.is_alive),
        Seat: lambda seat: ("task", seat.path, seat.has_ended, seat.result),
        Task: lambda task: task.seat,
        Client: lambda client: client._life,
        Cache: _cache,
        Stream: lambda stream: (stream.path, stream.server.name, stream.error, stream.watch),
        Watch: _watch,
        Cursor: _cursor,
        Request: lambda r: ("request", r.operation, r.path, r.part, r.is_served, r.is_awaited,
                            r.value, r.error, r.handler, r.pause),
        Option: lambda o: (o.kind, o.path, o.verb, o.key, o.change, o.label, o.due_ms - now_ms),
        Change: lambda change: (change.key, change.old, change.new, Revision(change.revision)),
        Entry: lambda entry: (entry.key, entry.value),
    }  # fmt: skip


def _kind(value: object) -> str:
    return type(value).__name__


def _name(value: Any) -> str:
    return f"{type(value).__name__} {value.name}"


def _cache(cache: Any) -> object:
    """Its order is that of its keys, so by which way it came to hold them is no part of it. Whom
    it tells holds what a life that shows its digest says there."""
    items = [cache.known[key] for key in sorted(cache.known)]
    handlers = () if tells_time(cache._client._life) else cache._handlers
    return ("cache", cache.kind, cache.selector, items, cache._synced, handlers)


def _watch(watch: Any) -> object:
    return ("watch", watch.selector, watch.is_open, list(watch.queue))


def _cursor(cursor: Any) -> object:
    behind = (
        list(cursor.store.log(cursor.plural).after(cursor.revision)) if cursor.is_behind else []
    )
    return ("cursor", cursor.reader, cursor.plural, cursor.follows, behind)
