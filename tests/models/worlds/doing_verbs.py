"""The words by which drawn Worlds ask Endpoints: every verb, with every argument."""

from __future__ import annotations

from typing import Any

from testbed.client.stream import Stream
from testbed.objects import Binding, Eviction, Map, Meta, Target
from testbed.store.endpoint import Operation
from tests.models.worlds.doing import KINDS, Desk, does, made, said_by, saying, selecting


@does("get")
async def get(
    desk: Desk, kind: str = "note", name: str = "x", within: str = "default", at: str = "",
    timeout: int | None = None,
) -> str:  # fmt: skip
    """An object, as it is or was."""
    found = await desk.client.get(
        KINDS[kind], name, namespace=within, at=desk.at(at), timeout_ms=timeout
    )
    return desk.saw(found)


@does("list")
async def list_(
    desk: Desk, kind: str = "note", selector: str = "all", at: str = "", match: str = "",
    limit: int = 0, fields: tuple[str, ...] = (), goes_on: bool = False,
    timeout: int | None = None,
) -> str:  # fmt: skip
    """A list, or the next page of the last one; its revision is kept."""
    page = desk.more if goes_on else ""
    given = {"match": match, "limit": limit, "fields": fields, "continue": page}
    listing = await desk.client.list(
        KINDS[kind], selector=selecting(selector), at=desk.at(at),
        options=Map({name: value for name, value in given.items() if value}), timeout_ms=timeout,
    )  # fmt: skip
    desk.seen.extend(listing.items)
    desk.told(listing.revision)
    desk.more = listing.more
    more = "more" if listing.more else ""
    if fields:
        return f"{[item.key for item in listing.items]} {more}"
    return f"{[said_by(item) for item in listing.items]} {more}"


@does("open")
async def open_(
    desk: Desk, kind: str = "note", since: str = "last", selector: str = "all",
    bookmarks: bool = False, fields: tuple[str, ...] = (), timeout: int | None = None,
) -> str:  # fmt: skip
    """Open a watch; the one before it stays open, and is read no more."""
    given = {"bookmarks": bookmarks, "fields": fields}
    desk.stream = await desk.client.watch(
        KINDS[kind], since=desk.at(since), selector=selecting(selector),
        options=Map({name: value for name, value in given.items() if value}), timeout_ms=timeout,
    )  # fmt: skip
    return ""


@does("next")
async def next_(desk: Desk, wait: int = 5) -> str:
    """What the watch tells next, if it does so in time."""
    stream = desk.stream
    if not isinstance(stream, Stream):
        return "no watch"
    won, delivery = await desk.client.first(stream.next(), desk.client.sleep(wait))
    if won:
        return "nothing"
    desk.told(delivery.revision)
    if delivery.object is None:
        return f"{delivery.type} {delivery.key}"
    desk.seen.append(delivery.object)
    return f"{delivery.type} {delivery.key} {said_by(delivery.object)}"


@does("hear")
async def hear(desk: Desk) -> str:
    """What the watch tells next, however late."""
    if desk.stream is None:
        return "no watch"
    delivery = await desk.stream.next()
    desk.told(delivery.revision)
    return f"{delivery.type} {delivery.key}"


@does("close")
async def close(desk: Desk) -> str:
    """Close the watch."""
    if desk.stream is not None:
        desk.stream.close()
    return ""


@does("create")
async def create(
    desk: Desk, kind: str = "note", name: str = "y", labels: dict[str, str] | None = None,
    subresource: str = "", because: bool = False, timeout: int | None = None,
) -> str:  # fmt: skip
    """A new object."""
    item = made(kind, name, desk.task, labels)
    made_now = await desk.client.create(
        item, subresource=subresource, timeout_ms=timeout, **desk.because(because)
    )
    return desk.saw(made_now)


@does("update")
async def update(
    desk: Desk, kind: str = "note", name: str = "x", over: str = "blind", subresource: str = "",
    because: bool = False, timeout: int | None = None,
) -> str:  # fmt: skip
    """Write over what is there (`blind`), over what it saw last, or over an early revision."""
    mine = [item for item in desk.seen if getattr(item, "key", "") == made(kind, name, "").key]
    if over == "seen" and mine:
        item = saying(mine[-1], desk.task)
    else:
        item = made(kind, name, desk.task).with_meta(revision=desk.at(over))
    written = await desk.client.update(
        item, whatever_it_was=over == "whatever", subresource=subresource, timeout_ms=timeout,
        **desk.because(because),
    )  # fmt: skip
    return desk.saw(written)


@does("swap")
async def swap(desk: Desk, kind: str = "note", name: str = "x") -> str:
    """Read, then write if nothing has come between."""
    old = await desk.client.get(KINDS[kind], name)
    return desk.saw(await desk.client.update(saying(old, desk.task)))


PATCHES: dict[str, dict[str, Any]] = {
    "data": {"data": {"by": "patch"}},
    "other": {"data": {"also": "patch"}},
    "gone": {"data": {"by": None}},
    "labels": {"metadata": {"labels": {"hue": "red"}}},
    "status": {"status": {"phase": "Running"}},
    "hold": {"metadata": {"finalizers": ["drawn/hold"]}},
    "free": {"metadata": {"finalizers": None}},
}


@does("patch")
async def patch(
    desk: Desk, kind: str = "note", name: str = "x", tree: str = "data", how: str = "merge",
    subresource: str = "", because: bool = False, timeout: int | None = None,
) -> str:  # fmt: skip
    """Change some fields of what has that name."""
    changed = await desk.client.patch(
        made(kind, name, ""), tree=PATCHES[tree], how=how, subresource=subresource,
        timeout_ms=timeout, **desk.because(because),
    )  # fmt: skip
    return desk.saw(changed)


@does("delete")
async def delete(
    desk: Desk, kind: str = "note", name: str = "x", over: str = "whatever",
    options: dict[str, Any] | None = None, because: bool = False, timeout: int | None = None,
) -> str:  # fmt: skip
    """Delete what is there, or only what it has seen."""
    mine = [item for item in desk.seen if getattr(item, "key", "") == made(kind, name, "").key]
    item = mine[-1] if over == "seen" and mine else made(kind, name, "")
    await desk.client.delete(
        item, whatever_it_was=over == "whatever", options=Map(options or {}), timeout_ms=timeout,
        **desk.because(because),
    )  # fmt: skip
    return ""


@does("txn")
async def txn(desk: Desk, names: tuple[str, ...] = ("x", "y"), over: str = "blind") -> str:
    """Two notes at one revision, if the first is as it was seen."""
    items = [made("note", name, desk.task).with_meta(revision=desk.at(over)) for name in names]
    written = await desk.client.ask(Operation("txn", "notes", body=tuple(items)))
    return str([desk.saw(item) for item in written])


@does("compact")
async def compact(desk: Desk, at: str = "last") -> str:
    """Have the Store forget its history."""
    desk.told(await desk.client.ask(Operation("compact", revision=desk.at(at))))
    return ""


@does("bind")
async def bind(desk: Desk, name: str = "p", node: str = "n", because: bool = False) -> str:
    """Give a pod a node."""
    body = Binding(Meta(name, "default"), target=Target(node))
    operation = Operation("create", "pods", name, "default", body, subresource="binding")
    return desk.saw(await desk.client.ask(operation, **desk.because(because)))


@does("evict")
async def evict(desk: Desk, name: str = "p") -> str:
    """Delete a pod if its budget allows it."""
    body = Eviction(Meta(name, "default"), None)
    operation = Operation("create", "pods", name, "default", body, subresource="eviction")
    await desk.client.ask(operation)
    return ""


@does("ask")
async def ask(
    desk: Desk, endpoint: str = "ledger", verb: str = "add", name: str = "x", uid: str = "",
    options: dict[str, Any] | None = None, timeout: int | None = None,
) -> str:  # fmt: skip
    """Ask an Endpoint of one's own."""
    operation = Operation(
        verb, "notes", name, namespace="default", uid=uid, selector=selecting("all"),
        options=Map(options or {}), endpoint=endpoint,
    )  # fmt: skip
    return str(await desk.client.ask(operation, timeout_ms=timeout))


@does("tell")
async def tell(desk: Desk, endpoint: str = "ledger", verb: str = "add", name: str = "x") -> str:
    """Send a message to an Endpoint of one's own."""
    desk.client.tell(Operation(verb, "notes", name, "default", endpoint=endpoint))
    return ""
