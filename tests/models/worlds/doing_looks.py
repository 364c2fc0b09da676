"""The words of drawn Worlds for what an actor gets to see: revisions, whole objects, errors, and
what a Cache holds."""

from __future__ import annotations

from typing import Any

from testbed.client.cache import Cache
from testbed.objects import Object
from tests.models.worlds.doing import KINDS, ORDERS, Desk, does, said_by, saying, selecting

# -- revisions, objects, errors --------------------------------------------------------------------


@does("same")
async def same(desk: Desk, how: str = "==") -> str:
    """Whether the last two revisions that it was told are equal, asked in many ways."""
    if len(desk.revisions) < 2:
        return "too few"
    one, other = desk.revisions[-2:]
    match how:
        case "==":
            return str(one == other)
        case "!=":
            return str(one != other)
        case "in":
            return str(other in {one: "key"})
        case "set":
            return str(len({one, other}))
    try:
        return str(ORDERS[how](one, other))
    except TypeError:
        return "no order"


@does("text")
async def text(desk: Desk, how: str = "str") -> str:
    """What the last revision that it was told looks like, or where the next page begins."""
    if how == "more":
        return str(desk.more)
    if not desk.revisions:
        return "none"
    one = desk.revisions[-1]
    match how:
        case "str":
            return str(one)
        case "repr":
            return repr(one)
        case "text":
            return one.text
        case "bool":
            return str(bool(one))
    return f"{one}"


@does("known as")
async def known_as(desk: Desk, to: str = "early") -> str:
    """Whether the last revision that it was told is one that it knew beforehand."""
    return str(bool(desk.revisions) and desk.revisions[-1] == desk.at(to))


@does("alike")
async def alike(desk: Desk, how: str = "==") -> str:
    """Whether the last two objects that it saw are equal; in all but the revision, by `is_as`."""
    found = [item for item in desk.seen if isinstance(item, Object)]
    if len(found) < 2:
        return "too few"
    one, other = found[-2:]
    if how == "==":
        return str(one == other)
    return str(one.is_as(other)) if how == "is_as" else str(len({one, other}))


@does("whole")
async def whole(desk: Desk) -> str:
    """All of the last object that it saw, with its revision and its age."""
    return repr(desk.seen[-1]) if desk.seen else "none"


@does("age")
async def age(desk: Desk) -> str:
    """Identity and age of the last object that it saw."""
    found = [item.meta for item in desk.seen if isinstance(item, Object)]
    return f"{found[-1].uid} {found[-1].created_ms} {found[-1].generation}" if found else "none"


@does("error")
async def error(desk: Desk, what: str = "text") -> str:
    """What the last refusal says."""
    if desk.error is None:
        return "none"
    match what:
        case "text":
            return str(desk.error)
        case "causes":
            return str(desk.error.causes)
        case "later":
            return str(desk.error.retry_after_s)
    return f"{desk.error.code} {desk.error.args}"


# -- a Cache ---------------------------------------------------------------------------------------


@does("cache")
async def cache(
    desk: Desk, kind: str = "note", selector: str = "all", reads: tuple[str, ...] | None = None,
    quorum: bool = False, waits: bool = True, hears: str = "",
) -> str:  # fmt: skip
    """A Cache, with handlers for what it `hears`; perhaps wait until it has listed."""
    if reads == ("data.by",) and kind != "note":
        reads = ("meta",)  # what only a Note has
    held = Cache(desk.client, KINDS[kind], selecting(selector), reads=reads, quorum=quorum)
    desk.shared.caches[kind] = held
    _listen(desk, held, hears)
    if waits:
        await held.synced()
    return ""


def _listen(desk: Desk, held: Cache[Any], hears: str) -> None:
    client, shared = desk.client, desk.shared

    def added(new: Any) -> None:
        client.record("added", key=new.key)

    def updated(old: Any, new: Any) -> None:
        client.record("updated", key=new.key, listing=held.is_listing, is_new=old is not new)

    def deleted(last: Any) -> None:
        client.record("deleted", key=last.key, listing=held.is_listing)

    def queued(new: Any) -> None:
        shared.queue("q").put(new.key)

    def looked(_: Any) -> None:
        client.record("look", held=len(held.all()))

    match hears:
        case "add":
            held.on(add=added)
        case "update":
            held.on(update=updated)
        case "delete":
            held.on(delete=deleted)
        case "all":
            held.on(add=added, update=updated, delete=deleted)
        case "queue":
            held.on(add=queued, delete=queued)
        case "look":
            held.on(add=looked)


@does("synced")
async def synced(desk: Desk, kind: str = "note") -> str:
    """Wait until the Cache has listed."""
    if kind in desk.shared.caches:
        await desk.shared.caches[kind].synced()
    return ""


@does("cached")
async def cached(desk: Desk, kind: str = "note", how: str = "all", name: str = "x") -> str:
    """What the Cache holds, asked in every way."""
    held = desk.shared.caches.get(kind)
    if held is None:
        return "no cache"
    reads = held.reads
    match how:
        case "all":
            return str([_shown(reads, item) for item in held.all()])
        case "get":
            return _shown(reads, held.get(name, namespace="default"))
        case "items":
            return str({key: _shown(reads, item) for key, item in held.items.items()})
        case "known":
            return str({key: _shown(reads, item) for key, item in held.known.items()})
        case "has synced":
            return str(held.has_synced)
        case "revision":
            desk.told(held.revision)
            return str(bool(held.revision))
        case "upto":
            desk.told(held.upto)
            return str(bool(held.upto))
        case "itself":
            return f"{held.kind.plural} {held.selector} {held.is_listing}"
        case "reader":
            return str(held.reader.has_ended)
    raise LookupError(how)


def _shown(reads: tuple[str, ...] | None, item: Any) -> str:
    """What it says, if all of it was declared; else what was declared."""
    if item is None:
        return "None"
    if reads is None:
        return said_by(item)
    return f"{item.key} {item.data.get('by')}" if "data.by" in reads else str(item.key)


@does("write back")
async def write_back(desk: Desk, kind: str = "note", name: str = "x") -> str:
    """Update an object from what the Cache holds of it, at the revision that it holds."""
    held = desk.shared.caches.get(kind)
    item = None if held is None else held.get(name)
    if item is None or (held is not None and held.reads is not None):
        return "nothing to write"
    return desk.saw(await desk.client.update(saying(item, desk.task)))
