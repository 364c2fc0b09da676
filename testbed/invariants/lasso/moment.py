"""Moment: all that the rest of a Run depends on, in a form in which two of them can be compared.

It has the objects of the Store; the tasks, Caches and watches of each actor; what is pending, and
how long from now; the requests that Endpoints are serving. Left out is what no decision depends on:
the number of a Step, the number of an Option among those of its sentence, the bookmarks that a
Cache is still to get, and Events, which are for people (API-49).

Some things cannot be seen and are assumed: that no actor keeps anything outside its tasks (the
house forbids it), that none reads the history before the older of the two moments, and that uids
and ages are compared only with each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any

import attrs

from testbed.client.cache import Cache
from testbed.client.client import Client, Task
from testbed.client.open_watch import OpenWatch, Streams
from testbed.client.request import Post, Request
from testbed.client.stream import Stream
from testbed.client.wire import Wire
from testbed.invariant import Evidence
from testbed.invariants.lasso.lasting import Lasting, Listed
from testbed.invariants.lasso.likeness import Likeness, StandIns
from testbed.invariants.lasso.renaming import Mark, Renaming
from testbed.invariants.lasso.written import digest_of
from testbed.objects.event import Event
from testbed.objects.meta import Revision
from testbed.store.change import Change, Entry
from testbed.store.delivery import BOOKMARK
from testbed.store.store import Store
from testbed.store.watch import Cursor, Watch
from testbed.turns.life import Life, Role, Seat
from testbed.turns.option import Option
from testbed.turns.pending import calm_place
from testbed.turns.table import Table

EVENTS = f"{Event.plural}/"
STORE = "the Store"
NAMES_GIVEN = "_names_given"
"""The attribute in which an Endpoint that gives names counts them."""


@attrs.frozen
class Moment:
    """A state of a World between two turns."""

    digest: str
    """Equal for two moments if the same choices lead to the same from either."""
    texts: Mapping[str, str] = attrs.field(factory=dict, eq=False, repr=False)
    """What is written of each part, by a label that says what the part is, as long as it is kept.
    """
    _digests: Mapping[str, str] = attrs.field(factory=dict, eq=False, repr=False)
    """A digest for each part, if the texts are not kept."""
    objects: Mapping[str, object] = attrs.field(factory=dict, eq=False, repr=False)
    """What the Store has, by key, as long as the texts are kept."""

    @property
    def parts(self) -> Mapping[str, str]:
        """A digest for each part."""
        return self._digests or {k: digest_of(text.encode()) for k, text in self.texts.items()}

    def without_texts(self) -> Moment:
        """The same, of which only the digests are kept."""
        return Moment(self.digest, digests=self.parts)

    def differences(self, other: Moment) -> Iterator[str]:
        """The labels of the parts that are not the same in both."""
        mine, theirs = self.parts, other.parts
        for label in dict.fromkeys([*mine, *theirs]):
            if mine.get(label) != theirs.get(label):
                yield label


def moment(
    evidence: Evidence,
    names: Renaming,
    lasting: Lasting | None = None,
    *,
    names_matter: bool = True,
    order_matters: bool = True,
    also: Callable[[Likeness], None] | None = None,
) -> Moment:
    """The state now; raises Unlike if something in it cannot be compared. `names` has the texts
    that only name something, and `lasting` what moments before this have written. If
    `names_matter`, the names that an Endpoint will give next are compared too. Unless
    `order_matters`, it makes no difference which Option was offered first: for a caller that tries
    them all in any case. `also` writes what else is to be compared."""
    now_ms = evidence.now_ms
    likeness = Likeness(_stand_ins(evidence, names, now_ms), names, now_ms, lasting)
    likeness.begin(STORE)
    entries = {e.key: e for e in evidence.store.snapshot("") if not e.key.startswith(EVENTS)}
    for key in names.in_order(entries):
        likeness.write(entries[key])
    for name, post in sorted(evidence.wire.posts.items()):
        likeness.begin(f"what {name} is handling")
        kept = _endpoint(post, now_ms, names_matter)
        requests = list(post.requests) if order_matters else _by_path(post.requests, names)
        likeness.write((post.is_up, requests, kept))
    for role in evidence.actors:
        _write_actor(likeness, role, now_ms, order_matters=order_matters)
    likeness.begin("what may happen next")
    for option in _in_order(_that_matter(evidence), names, order_matters=order_matters):
        causes = option.causes[-1] if option.causes else 0
        likeness.write((option, Mark("step", causes)) if order_matters else option)
    if also is not None:
        also(likeness)
    return _moment(likeness, {key: entry.value for key, entry in entries.items()})


def _moment(likeness: Likeness, objects: Mapping[str, object]) -> Moment:
    texts = likeness.texts()
    whole = "\n".join([f"{label}\n{text}" for label, text in texts.items()])
    return Moment(digest_of(whole.encode()), texts, objects=objects)


def moment_of(
    evidence: Evidence,
    name: str,
    timers: Iterable[Option],
    names: Renaming,
    lasting: Lasting,
    *,
    reads_clock: bool,
) -> Moment:
    """The state of one actor or Endpoint with these timers, and what all Endpoints hold: equal if
    it goes on alike from here, as long as nothing is written and nothing else reaches it. How long
    ago a time was makes a difference only to who `reads_clock`. Raises Unlike if something in it
    cannot be compared."""
    now_ms, role = evidence.table.now_ms, evidence.table.roles.get(name)
    told_ms = now_ms if reads_clock else None
    # What is held back may be late for ever. How late it is by now decides nothing.
    stand_ins: dict[type, Callable[[Any], Any]] = {
        **_stand_ins(evidence, names, now_ms),
        Option: lambda option: (*_named(option), max(option.due_ms - now_ms, 0)),
    }
    likeness = Likeness(stand_ins, names, told_ms, lasting)
    for each, post in sorted(evidence.wire.posts.items()):
        likeness.begin(f"what {each} is handling")
        kept = _endpoint(post, now_ms, names_matter=False) if post.is_up else {}
        likeness.write((post.is_up, list(post.requests) if each == name else (), kept))
    if role is not None:
        _write_actor(likeness, role, now_ms, order_matters=True)
    likeness.begin("its timers")
    for option in _in_order(timers, names, order_matters=True):
        likeness.write(option)
    return _moment(likeness, {})


def kept_by(evidence: Evidence, posts: Iterable[Post], names: Renaming, lasting: Lasting) -> str:
    """A digest of what these Endpoints remember."""
    now_ms = evidence.table.now_ms
    kept = [(post.name, post.is_up, _endpoint(post, now_ms, names_matter=False)) for post in posts]
    return held_by(evidence, kept, names, lasting)


def held_by(evidence: Evidence, held: object, names: Renaming, lasting: Lasting) -> str:
    """A digest of anything that something of this World holds."""
    likeness = Likeness(_stand_ins(evidence, names, evidence.table.now_ms), names, None, lasting)
    likeness.begin("")
    likeness.write(held)
    return _moment(likeness, {}).digest


def outline(evidence: Evidence) -> object:
    """A small part of the state now, cheap to have. Equal moments have equal outlines, so two with
    different ones need not be compared."""
    now_ms = evidence.now_ms
    posts = [(name, p.is_up, len(p.requests)) for name, p in sorted(evidence.wire.posts.items())]
    pending = sorted((o.due_ms - now_ms, o.kind, o.verb) for o in _that_matter(evidence))
    tasks = [
        (role.name, seat.is_cancelled, _points(seat.coro))
        for role in evidence.actors
        if role.life is not None and role.life.is_alive
        for seat in role.life.seats.values()
    ]
    return posts, pending, tasks


def _write_actor(likeness: Likeness, role: Role, now_ms: int, *, order_matters: bool) -> None:
    lags = {k: (by, until - now_ms) for k, (by, until) in role.lags.items() if until > now_ms}
    cut_off_ms = max(role.cut_off_until_ms - now_ms, 0)
    likeness.begin(f"the state of {role.name}")
    likeness.write((role.is_up, role.is_starting, role.home, role.clock_shift_ms, cut_off_ms, lags))
    life = role.life
    if life is None or not life.is_alive:
        return
    likeness.write(max(life.stalled_until_ms - now_ms, 0))
    opened = life.streams if order_matters else sorted(life.streams, key=attrgetter("path"))
    likeness.write((life.caches, opened))
    own = _own(role, life, now_ms)
    if own is not None:
        likeness.begin(f"the digest of {role.name}")
        likeness.write(own)
    # An actor that digests itself says all that its tasks hold, so of them only the places where
    # they are parked are written. The task that reads for a Cache is the testbed's own code: it
    # is in no digest of the actor's, and is written whole.
    readers = [cache.reader._seat for cache in life.caches]
    for path, seat in life.seats.items():
        name = uncounted(path)
        likeness.begin(f"where {name} is")
        likeness.write((name, seat.waits_for, seat.is_idle, seat.is_cancelled))
        if seat.coro is None or (own is not None and seat not in readers):
            likeness.write(_points(seat.coro))
        else:
            likeness.begin(path)
            likeness.write(seat.coro)


def _own(role: Role, life: Life, now_ms: int) -> object:
    """The digest that an actor gives of its own memory, or None if it gives none."""
    digest = getattr(role.actor, "digest", None)
    if digest is not None:
        return digest()
    digests = [what.digest(now_ms) for what in life.shown.values() if hasattr(what, "digest")]
    return digests or None


def tells_time(life: Life) -> bool:
    """Whether a life digests itself. Its digest says how far from now all its times are, so it may
    look at its clock: the same digest leads to the same decisions at another time."""

    return any(hasattr(what, "digest") for what in life.shown.values())


def _points(task: Any) -> list[object]:
    """Where a task is parked, frame by frame; the rest is in the digest of its actor."""
    points: list[object] = []
    while (frame := getattr(task, "cr_frame", None)) is not None:
        points += [frame.f_code.co_qualname, frame.f_lasti]
        task = task.cr_await
    return points


def _that_matter(evidence: Evidence) -> Iterator[Option]:
    """What is pending or held, except for the bookmarks of Caches."""
    pending = evidence.table.pending
    readers = [
        cache.reader._seat
        for role in evidence.actors
        for cache in (role.life.caches if role.life is not None else ())
    ]
    for option in [*pending, *pending.held]:
        if option.change != BOOKMARK or option.seat not in readers:
            yield option


def _in_order(options: Iterable[Option], names: Renaming, *, order_matters: bool) -> list[Option]:
    """In calm order, where what was made first stands for the first name."""
    # What is held back stands where it would stand if it were not: that nothing is held, but passed
    # over, by another Chooser in the same Run, makes no other state.

    def place(option: Option) -> tuple[object, ...]:
        due_ms, kind, cause, path = calm_place(option)
        return (
            due_ms,
            kind,
            cause if order_matters else option.kind,
            names.place(path),
            names.place(str(option.sentence)),
        )

    return sorted(options, key=place)


def _by_path(requests: Iterable[Request], names: Renaming) -> list[Request]:
    """Requests in the order of the tasks that have sent them, and of what they ask."""
    return sorted(requests, key=lambda r: (names.place(r.path), str(r.operation)))


def starved(before: list[Option], evidence: Evidence) -> list[Option]:
    """What was ready before and is still waiting: it never had its turn in between."""
    pending = evidence.table.pending
    now = [*pending, *pending.held]
    return [option for option in before if any(option is other for other in now)]


def ready(evidence: Evidence) -> list[Option]:
    """What could happen now, also if it is held back."""
    now_ms = evidence.now_ms
    return [option for option in _that_matter(evidence) if option.due_ms <= now_ms]


def _endpoint(post: Post, now_ms: int, names_matter: bool) -> object:
    """What an Endpoint keeps: its own digest, with times as distances from now if it has any, or
    else all its attributes."""
    digest_at = getattr(post.endpoint, "digest_at", None)
    if digest_at is not None:
        return digest_at(now_ms)
    digest = getattr(post.endpoint, "digest", None)
    kept: Mapping[str, object] = vars(post.endpoint) if digest is None else digest()
    return {name: held for name, held in kept.items() if names_matter or name != NAMES_GIVEN}


def _stand_ins(evidence: Evidence, names: Renaming, now_ms: int) -> StandIns:
    """What is written instead of the World's own objects when an actor or an Endpoint holds one."""
    # An actor holds its Client, and that holds the World: written by value, every task would hold
    # everything. Each of these is written somewhere once, so a name, or the little that matters
    # to what holds it, stands for it here.
    endpoints = {type(post.endpoint): _name for post in evidence.wire.posts.values()}
    return {
        **endpoints,
        Table: _kind, Wire: _kind, Streams: _kind, Store: _kind,
        Post: _name, Role: _name,
        Life: lambda life: ("life of", life.role.name, life.is_alive),
        Seat: lambda seat: ("task", uncounted(seat.path), seat.has_ended, seat.result),
        Task: lambda task: task._seat,
        Client: lambda client: client._life,
        Cache: lambda cache: _cache(cache, names),
        Stream: lambda stream: stream._watch,
        OpenWatch: lambda watch: (watch.path, watch.server.name, watch.error, watch.watch),
        Watch: _watch,
        Cursor: _cursor,
        Request: lambda r: ("request", r.operation, r.path, r.part, r.is_served, r.is_awaited,
                            r.value, r.error, r.handler, r.pause),
        Option: lambda option: (*_named(option), option.due_ms - now_ms),
        Change: lambda change: (change.key, change.old, change.new, Revision(change.revision)),
        Entry: lambda entry: (entry.key, entry.value),
    }  # fmt: skip


def _named(option: Option) -> tuple[str, ...]:
    """What an Option is about, without its time."""
    said = (option.verb, option.key, option.change, option.label)
    return (option.kind, uncounted(option.path), *said)


def uncounted(path: str) -> str:
    """The path of a task without how many there were of that name: an actor cannot see that."""
    name, counted, number = path.rpartition("#")
    return name if counted and number.isdecimal() else path


def _kind(value: object) -> str:
    return type(value).__name__


def _name(value: Any) -> str:
    return f"{type(value).__name__} {value.name}"


def _cache(cache: Any, names: Renaming) -> object:
    """A Cache by its objects, in the order of their keys: the order in which they came does not
    matter. Its handlers are left out if the life digests itself, since that has what they keep."""
    items = Listed([cache.known[key] for key in names.in_order(cache.known)])
    handlers = () if tells_time(cache._client._life) else cache._handlers
    return ("cache", cache.kind, cache.selector, items, cache._synced, handlers)


def _watch(watch: Any) -> object:
    return ("watch", watch.selector, watch.is_open, Listed(watch.queue))


def _cursor(cursor: Any) -> object:
    behind = Listed()
    if cursor.is_behind:
        behind += cursor.store.log(cursor.plural).after(cursor.revision)
    return ("cursor", cursor.reader, cursor.plural, cursor.follows, behind)
