"""What an actor is handed shows only what it may see: the graph of public names behind a Client, a
task, a Cache, a watch, waits, answers and refusals holds nothing of the World's own, and whatever
changes there by a turn of somebody else was marked by that turn, and by the look."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping, Sized
from typing import Any

import pytest

from testbed import Operation, World
from testbed.chooser import Chooser
from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.client.cache import Cache
from testbed.client.client import Client
from testbed.client.open_watch import OpenWatch, Streams
from testbed.client.request import Post, Request
from testbed.client.wire import Wire
from testbed.errors import ApiError
from testbed.objects import Note, Pod
from testbed.objects.meta import Numbered, Revision, text_of
from testbed.store.change import Log
from testbed.store.endpoint import Handler
from testbed.store.footprint import Footprint, Marks
from testbed.store.listeners import Listeners
from testbed.store.store import Store
from testbed.store.store_endpoint import StoreEndpoint
from testbed.store.watch import Cursor, Watch
from testbed.turns.life import Life, Role, Seat
from testbed.turns.option import Option
from testbed.turns.pending import Pending
from testbed.turns.table import Table
from testbed.turns.trace import Record, Step, Trace
from tests.shared.stage import Apart, Doing, Puppet, note

OF_THE_WORLD = (
    World, Table, Wire, Store, StoreEndpoint, Streams, OpenWatch, Post, Request, Log, Listeners,
    Marks, Cursor, Watch, Life, Role, Seat, Option, Pending, Record, Step, Trace,
)  # fmt: skip
"""What shows all that goes on in a World. An actor holds none of it under a public name."""
PLAIN = (str, bytes, int, float, bool, type(None), type, types.ModuleType, Mapping)
LOOKS = ("all",)
"""Methods that are looks, too; those at a clock are none, since no turn moves over time."""
Path = tuple[str, ...]


class Refused(ApiError):
    """A refusal with a constructor of its own."""

    def __init__(self, what: str, times: int) -> None:
        super().__init__(f"not {what}, {times} times")
        self.times = times


class Board(StoreEndpoint):
    """Answers with the list that it goes on writing, and refuses with one exception for all."""

    marks_memory = True
    refusal = Refused("that", 3)

    def __init__(self, store: Store, name: str = "board") -> None:
        super().__init__(store, name)
        self.pages: list[Any] = []

    def handle(self, operation: Operation, caller: str, now_ms: int) -> Handler:
        """Add what is brought, and show all."""
        self.store.mark(writes=("memory:board",))
        if operation.verb == "refuse":
            raise self.refusal
        self.pages.append(operation.body)
        return {"pages": self.pages, "last": (operation.body,)}
        yield

    def may(self, operation: Operation, caller: str = "") -> Footprint:
        """Its one key."""
        return Footprint(writes=frozenset({"memory:board"}))


def public(thing: Any) -> Iterator[tuple[str, Any]]:
    """The public names of an object, each with what stands there now."""
    if isinstance(thing, BaseException):
        yield from (("cause", thing.__cause__), ("context", thing.__context__))
    names = {name for kind in type(thing).__mro__ for name in vars(kind)}
    for name in sorted(names | set(getattr(thing, "__dict__", ()))):
        if name.startswith("_"):
            continue
        found = getattr(thing, name)
        if name in LOOKS and callable(found):
            yield f"{name}()", found()
        elif not callable(found):
            yield name, found
    if isinstance(thing, Sized) and not isinstance(thing, PLAIN):
        yield "len", len(thing)


def walked(thing: Any, path: Path, seen: dict[Path, Any], over: list[Any]) -> None:
    """Add what is reached from there, by its path; an object that was met already is not new."""
    if isinstance(thing, Mapping):
        seen[path] = type(thing).__name__, len(thing)
        for name, held in thing.items():
            walked(held, (*path, f"[{name}]"), seen, over)
    elif isinstance(thing, (list, tuple, set, frozenset)):
        seen[path] = type(thing).__name__, len(thing)
        for number, held in enumerate(thing):
            walked(held, (*path, f"[{number}]"), seen, over)
    elif isinstance(thing, Revision | Numbered):
        seen[path] = text_of(thing)
    elif isinstance(thing, PLAIN) or any(thing is other for other in over):
        seen[path] = thing if isinstance(thing, PLAIN) else type(thing).__name__
    else:
        seen[path] = type(thing).__name__
        over.append(thing)
        assert not isinstance(thing, OF_THE_WORLD), f"{'.'.join(path)} is a {type(thing).__name__}"
        for name, held in public(thing):
            walked(held, (*path, name), seen, over)


class Watcher:
    """Looks at all that it was handed, turn after turn, and notes what is not what it was."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.handed: dict[str, Any] = {}
        self.was: dict[Path, Any] = {}
        self.looks: list[tuple[Path, int, int, Footprint]] = []
        """What had changed: where, since which Step, in which, and what that look has touched."""
        self.step = 0

    def look(self) -> None:
        """Look at all of it once more."""
        table, now = self.world.table, dict[Path, Any]()
        for name, thing in self.handed.items():
            walked(thing, (name,), now, [])
        changed = {p for p in {*self.was, *now} if now.get(p, ...) != self.was.get(p, ...)}
        for path in sorted(changed if self.was else ()):
            marks = table.marks
            reads, writes = len(marks.reads), len(marks.writes)
            again(self.handed[path[0]], path[1:])
            did = Footprint(frozenset(marks.reads[reads:]), frozenset(marks.writes[writes:]))
            self.looks.append((path, self.step, table.step, did))
        self.was, self.step = now, table.step


def again(thing: Any, path: Path) -> Any:
    """What stands at the end of that path, if there is one; a look as an actor's code has it."""
    for name in path:
        inner = name[1:-1]
        if not name.startswith("["):
            thing = named(thing, name)
        elif isinstance(thing, Mapping):
            thing = thing.get(inner)
        else:
            thing = thing[int(inner)] if int(inner) < len(thing) else None
        if isinstance(thing, Revision | Numbered):
            thing = str(thing)
    return len(thing) if isinstance(thing, Mapping) else thing


def named(thing: Any, name: str) -> Any:
    """What that object has under a name, as `public` calls it."""
    if name == "len":
        return len(thing)
    name = f"__{name}__" if name in ("cause", "context") else name
    found = getattr(thing, name.removesuffix("()"), None)
    return found() if name.endswith("()") and found is not None else found


async def failing(client: Client, *operations: Operation) -> list[ApiError]:
    """The refusals of these."""
    found = []
    for operation in operations:
        try:
            await client.ask(operation, timeout_ms=1 if operation.verb == "late" else None)
        except ApiError as error:
            found.append(error)
    return found


async def collects(client: Client, watcher: Watcher) -> None:
    """Take whatever there is to be had, then look at it in each turn that follows."""
    handed = watcher.handed
    cache = Cache(client, Note, reads=("data",))
    await cache.synced()
    listing = await client.list(Note)
    stream = await client.watch(Note, listing.revision)
    body = ["mine"]
    handed |= {"client": client, "cache": cache, "listing": listing, "stream": stream}
    handed |= {"known": cache.known, "items": cache.items, "note": await client.get(Note, "n")}
    handed |= {"signal": client.signal("s"), "queue": client.queue("q"), "body": body}
    handed |= {"alarm": client.alarm("a"), "record": client.record("first")}
    handed["answer"] = await client.ask(Operation("write", body=body, endpoint="board"))
    refuse = Operation("refuse", endpoint="board")
    stale = Operation("update", "notes", "n", "default", note("n").with_meta(uid="other"))
    handed["refusals"] = await failing(client, refuse, refuse, stale)
    assert [str(error) for error in handed["refusals"][:2]] == ["not that, 3 times"] * 2

    async def other() -> str:
        await client.get(Note, "n")
        handed["queue"].put(1)
        await client.sleep(1)
        handed["signal"].set()
        handed["alarm"].set(3)
        await client.create(note("of-the-other"))
        stream.close()
        await handed["queue"].get()
        return "done"

    async def waits() -> None:
        await handed["waits"]["alarm"]
        await handed["waits"]["first"]

    delivered = client.spawn("other", other)
    handed["task"] = delivered
    handed["waits"] = {
        "sleep": client.sleep(1), "join": client.join(delivered), "alarm": handed["alarm"].wait(),
        "first": client.first(handed["signal"].wait(), handed["queue"].get()),
    }  # fmt: skip
    client.spawn("waits", waits)
    for _ in range(14):
        watcher.look()
        await client.get(Note, "n")
    await handed["waits"]["sleep"]
    await handed["waits"]["join"]
    watcher.look()


async def stirs(client: Client) -> None:
    """Somebody else, who commits and asks, and spoils what it was handed."""
    for number in range(3):
        await client.create(Pod.of(f"{client.name}-{number}"))
        await client.create(note(f"{client.name}-{number}"))
        mine = await client.ask(Operation("write", body=[number], endpoint="board"))
        mine["pages"].append("spoilt")
        for error in await failing(client, Operation("refuse", endpoint="board")):
            error.add_note("spoilt")
            error.spoilt = True  # type: ignore[attr-defined]


@pytest.mark.parametrize("chooser", [Calm(), Uniform(1), Uniform(2)], ids=["calm", "1", "2"])
@pytest.mark.parametrize("kind", [Apart, Puppet])
def test_what_an_actor_is_handed_changes_by_no_unmarked_turn(
    kind: type[Puppet], chooser: Chooser
) -> None:
    """Nothing of the World's own is reached; and where a look finds another value than before, it
    clashes with one of the turns of others that came between."""
    world = World("handed")
    world.add(note("n"))
    world.serve(Board)
    watcher = Watcher(world)
    do: Doing = lambda client: collects(client, watcher)  # noqa: E731
    world.start(kind("a", do), Apart("b", stirs), Apart("c", stirs))
    trace = Trace({}, keep=True)
    verdict = world.run(chooser, driver="direct", trace=trace)
    assert verdict.is_held, str(verdict)
    assert len({path for path, *_ in watcher.looks}) > 8
    for path, since, until, did in watcher.looks:
        between = [step for step in trace.steps if since < step.number < until]
        whole = did if kind is Apart else did | Footprint(writes=frozenset({"mem:a"}))
        assert any(step.did.clashes(whole) for step in between), f"{'.'.join(path)}: {did}"


def test_what_an_actor_makes_says_nothing_of_commits() -> None:
    """A Revision of its own is of no commit, and one that it was handed cannot be set to be."""
    with pytest.raises(TypeError):
        Revision("4", None, True)  # type: ignore[call-arg]
    for name in ("view", "is_commit"):
        assert not hasattr(Revision("4"), name)
        with pytest.raises(AttributeError):
            setattr(Revision("4"), name, True)
