"""Who may import whom: the rooms say it, each in its `__init__`, and this holds the tree to it.

Nothing is imported: every file is parsed, and each breach is a Complaint with its file and line,
the rule, and what to do. `floor_plan.py` reads what the rooms say, `manners.py` has the rules for a
file by itself; `docs/house.md` tells all of it to people.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import attrs

from tests.house.floor_plan import INIT, TOP, Room, read_rooms
from tests.house.manners import Bases, Complaint, Source, complaints

PACKAGES = TOP.order
BESIDE = ("actors", "scenarios")
"""These stand behind the testbed, which knows none of them by name."""
FILES_MAX = 24
"""In one folder; `testbed/objects` has a file for each family of kinds."""
CROWDED = ("testbed/objects",)

# One door for each dependency; Hypothesis draws in one, and is asked to draw in another.
DOORS = {
    "attrs": "*",
    "click": "testbed/cli/*",
    "h11": "testbed/attended/http/connection.py",
    "hypothesis": "testbed/choosers/drawn.py testbed/strategies.py",
    "jinja2": "testbed/page/page.py",
    "msgspec": "testbed/objects/codec.py",
    "networkx": "testbed/story/causality.py",
    "numpy": "actors/framework/* actors/scheduler/*",
    "pytest": "testbed/pytest_plugin.py",
    "sortedcontainers": "testbed/store/kept.py",
    "trio": "testbed/turns/drivers/trio.py",
    "yaml": "testbed/objects/manifests/yaml_stream.py testbed/races/yaml_lines.py",
}


@attrs.frozen
class Outside:
    """A module through which something outside the World could decide."""

    advice: str
    doors: str = ""
    """The files that may use it all the same: they stand outside every World."""


OUTSIDE = {
    "asyncio": Outside("only the World lets tasks move"),
    "datetime": Outside(
        "time is virtual, in whole milliseconds; ask the Client or the World",
        doors="testbed/objects/calendar.py",  # it reads no clock
    ),
    "multiprocessing": Outside("only the World lets tasks move"),
    # A token is not to be guessed, and nothing of it stands in a trace.
    "secrets": Outside(
        "chance is a `pick`",
        doors="testbed/attended/troupe.py testbed/teaching/marking/sitting.py",
    ),
    "signal": Outside(
        "only the watchdog reaches into a World",
        # The profile looks which code is at work, and touches nothing; a fork lets Ctrl-C wait;
        # what an answer has started is killed from outside.
        doors="testbed/turns/watchdog.py testbed/attended/keeper.py testbed/attended/process.py"
        " testbed/cli/benches/room_profile.py testbed/child.py testbed/teaching/marking/booth.py"
        " testbed/teaching/marking/sitting.py",
    ),
    "threading": Outside("only the World lets tasks move", doors="testbed/turns/watchdog.py"),
    "time": Outside(
        "time is virtual; ask the Client or the World",
        # How long a command has taken, that a turn, a worker or an answer hangs, how fast bare trio
        # is; and that a program outside sends half a request, and no more.
        doors="testbed/cli/* testbed/search/sharing.py testbed/search/engines/processes.py"
        " testbed/turns/drivers/trio.py testbed/turns/watchdog.py testbed/child.py"
        " testbed/attended/* testbed/teaching/marking/booth.py",
    ),
    "uuid": Outside("a name is a function of who gave it and how many it gave before"),
}
# What an actor, and the scenario that starts it, may not reach either.
OUTSIDE_ACTORS = {
    "os": "an actor sees what its Client shows it",
    "random": "chance is `client.pick`",
    "trio": "every await is the Client's",
}
FINDERS = (
    "testbed/*_kinds.py", "testbed/world/users_code.py", "testbed/policy.py",
)  # fmt: skip
"""What finds the files of a catalogue by their names, and so imports by name."""


@attrs.frozen
class Exempt:
    """A breach that is meant: where, of which rule, about what, and why."""

    where: str
    rule: str
    what: str
    why: str


GROUNDS = ("proving_ground", "proving_grounds")
"""The file, or the room, in which a package of actors is judged in a whole cluster: so it may
import the actors beside its own."""
EXEMPT = (
    Exempt(
        "testbed/invariants/lasso/likeness.py",
        "outside",
        "id",
        "it finds again what it has met; none is kept",
    ),
    Exempt(
        "testbed/story/twins/side.py",
        "outside",
        "id",
        "it finds again the text of a value that it has met; none is kept",
    ),
    Exempt(
        "testbed/turns/shared.py",
        "outside",
        "id",
        "it asks whether two hold one object; no order and no text comes of it",
    ),
)


@attrs.frozen
class Import:
    """One module that a file imports."""

    module: str
    line: int
    is_late: bool
    """Inside a function: it happens when that is called."""
    is_for_types: bool
    """Under TYPE_CHECKING: it never happens."""


@attrs.frozen
class House:
    """All rooms, and what each lets its files import."""

    rooms: Mapping[str, Room]

    def is_door(self, path: str) -> bool:
        """Whether the file at that path, without `.py`, may import inside a function."""
        package, _, rest = path.partition("/")
        return package in self.rooms and rest.partition("/")[0] in self.rooms[package].doors

    def unplaced(self, path: str) -> str:
        """The entry on the way to this path that its room gives no place; or empty."""
        parts = path.split("/")
        for depth, entry in enumerate(parts):
            folder = "/".join(parts[:depth])
            room = self.rooms.get(folder)
            if room is None:
                return f"{folder}/{INIT}"
            if room.rank(entry) is None:
                return "/".join(parts[: depth + 1])
        return ""

    def breaks(self, path: str, target: str, *, for_types: bool) -> Iterator[tuple[str, str]]:
        """The rules that are broken if the file at `path` imports the one at `target`."""
        own, other = path.split("/"), target.split("/")
        depth = 0
        while depth < min(len(own), len(other)) - 1 and own[depth] == other[depth]:
            depth += 1
        room = self.rooms["/".join(own[:depth])]
        mine, theirs = room.rank(own[depth]), room.rank(other[depth])
        if mine is None or theirs is None or own[depth] == other[depth]:
            return
        is_ground = any(part in GROUNDS for part in own)
        if is_ground and room.path == "actors" and theirs <= mine:
            return
        if room.are_siblings(own[depth], other[depth]):
            yield "sibling", "siblings stand apart; move what both need before their folder"
        elif theirs > mine and for_types:
            yield "type", "it stands later; a Protocol, or a type said here, needs no forward look"
        elif theirs > mine:
            yield "order", "it stands later; move what is needed of it before this module"
        elif depth < len(own) - 1:
            folder = "/".join(own[: depth + 1])
            if not self.rooms[folder].may_use(target):
                yield "room", f"{folder}/ may not use that room; its {INIT} says which it may"

    def absent(self, root: Path) -> list[str]:
        """What a room gives a place, and is not in the tree."""
        return [
            "/".join(filter(None, (path, entry)))
            for path, room in self.rooms.items()
            for entry in room.order
            if entry != "siblings"
            and not (root / path / f"{entry}.py").exists()
            and not (root / path / entry).is_dir()
        ]


def inspect(root: Path, rooms: Mapping[str, Room] | None = None) -> list[Complaint]:
    """Every breach of a rule of the house under `root`, but for those that are EXEMPT. The rooms
    are those of another tree if they are given."""
    return [c for c in inspect_strictly(root, rooms) if not any(_is_meant(c, e) for e in EXEMPT)]


def unused_exemptions(root: Path) -> list[Exempt]:
    """The exemptions that nothing in the tree needs any more."""
    found = inspect_strictly(root)
    return [e for e in EXEMPT if not any(_is_meant(c, e) for c in found)]


def _is_meant(complaint: Complaint, exempt: Exempt) -> bool:
    return (
        fnmatch(complaint.path, exempt.where)
        and complaint.rule == exempt.rule
        and complaint.what == exempt.what
    )


def inspect_strictly(root: Path, rooms: Mapping[str, Room] | None = None) -> list[Complaint]:
    """Every breach of a rule of the house under `root`."""
    return _inspected(root) if rooms is None else _inspect(root, House(rooms))


@cache
def _inspected(root: Path) -> list[Complaint]:
    return _inspect(root, House(read_rooms(root)))


def _inspect(root: Path, house: House) -> list[Complaint]:
    paths = _files(root)
    names = [path.relative_to(root).as_posix() for path in paths]
    modules = {_module(name) for name in names} | {path.replace("/", ".") for path in house.rooms}
    found: list[Complaint] = []
    sources: list[Source] = []
    for path, name in zip(paths, names, strict=True):
        text = path.read_text(encoding="utf-8")
        try:
            sources.append(Source(name, text, ast.parse(text)))
        except SyntaxError as error:
            found.append(Complaint(name, error.lineno or 1, "syntax", "", error.msg))
    bases = Bases(sources)
    for source in sources:
        found += check_imports(source, modules, house)
        found += complaints(source, bases)
    return found


def _files(root: Path) -> list[Path]:
    return sorted(path for package in PACKAGES for path in (root / package).rglob("*.py"))


def _module(path: str) -> str:
    """`testbed.faults` for `testbed/faults/__init__.py`."""
    return path.removesuffix(".py").removesuffix(f"/{INIT}").replace("/", ".")


def unused_rooms(root: Path) -> list[str]:
    """What a room says it may use, and no file of it does."""
    house, used = House(read_rooms(root)), set[tuple[str, str]]()
    names = [path.relative_to(root).as_posix() for path in _files(root)]
    modules = {_module(name) for name in names}
    for path, name in zip(_files(root), names, strict=True):
        source = Source(name, "", ast.parse(path.read_text(encoding="utf-8")))
        for item in _imports(source, modules):
            target = item.module.replace(".", "/")
            target = f"{target}/{INIT}" if target in house.rooms else target
            used |= {
                (room.path, use)
                for room in house.rooms.values()
                if room.uses and name.startswith(f"{room.path}/")
                for use in room.uses
                if target == use or target.startswith(f"{use}/")
            }
    return [
        f"{room.path}: {use}"
        for room in house.rooms.values()
        for use in room.uses or ()
        if (room.path, use) not in used
    ]


def crowded_folders(root: Path) -> list[str]:
    """The folders, also of tests, that have more files than one can look over."""
    found = []
    for package in (*PACKAGES, "tests"):
        for folder in [root / package, *(root / package).rglob("*/")]:
            name = folder.relative_to(root).as_posix()
            files = [f for f in folder.iterdir() if f.is_file() and f.suffix != ".pyc"]
            if len(files) > FILES_MAX and name not in CROWDED:
                found.append(f"{name}/ has {len(files)} files, {FILES_MAX} at most; make rooms")
    return sorted(found)


def check_imports(source: Source, modules: set[str], house: House) -> Iterator[Complaint]:
    """A module imports, at its top, what stands before it, and a dependency through its door."""
    path = source.path.removesuffix(".py")
    if unplaced := house.unplaced(path):
        text = f"{unplaced} has no place; give it one in the `{INIT}` of its folder"
        yield source.complain(1, "unlisted", source.path, text)
        return
    is_door = house.is_door(path)
    for item in _imports(source, modules):
        for rule, advice in _breaks(item, source, house, is_door=is_door):
            text = f"imports {item.module}: {advice}"
            yield source.complain(item.line, rule, item.module, text)
    if is_door or any(fnmatch(source.path, finder) for finder in FINDERS):
        return
    for node in source.nodes:
        match node:
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__" as name)
                | ast.Attribute(attr="import_module" as name)
            ):
                text = f"{name}: only a door imports by name; take it as an argument"
                yield source.complain(node.lineno, "late", name, text)


def _imports(source: Source, modules: set[str]) -> Iterator[Import]:
    """Every import of the file, at any depth, in its order; `from a import b` may mean `a.b`."""

    def walk(node: ast.AST, *, late: bool, types: bool) -> Iterator[Import]:
        if isinstance(node, ast.Import):
            for name in node.names:
                yield Import(name.name, node.lineno, late, types)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(source, node)
            for name in node.names:
                whole = f"{base}.{name.name}"
                yield Import(whole if whole in modules else base, node.lineno, late, types)
        else:
            late = late or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            guarded = node.body if isinstance(node, ast.If) and _asks_for_types(node) else []
            for child in ast.iter_child_nodes(node):
                yield from walk(child, late=late, types=types or child in guarded)

    yield from dict.fromkeys(walk(source.tree, late=False, types=False))


def _asks_for_types(node: ast.If) -> bool:
    return ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def _absolute(source: Source, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = source.path.removesuffix(".py").split("/")[: -node.level]
    return ".".join([*parts, node.module] if node.module else parts)


def _breaks(
    item: Import, source: Source, house: House, *, is_door: bool
) -> Iterator[tuple[str, str]]:
    """The rules that one import breaks, each with what to do instead."""
    top = item.module.partition(".")[0]
    if item.is_late and not item.is_for_types and not is_door:
        yield "late", "it is inside a function; import at the top, from what stands before"
    if top in PACKAGES:
        yield from _breaks_order(item, source, house)
    elif top in OUTSIDE:
        if not any(fnmatch(source.path, door) for door in OUTSIDE[top].doors.split()):
            yield "outside", OUTSIDE[top].advice
    elif source.package in BESIDE and top in OUTSIDE_ACTORS:
        yield "actor", OUTSIDE_ACTORS[top]
    elif top in DOORS:
        if not any(fnmatch(source.path, door) for door in DOORS[top].split()):
            yield "door", f"its door is {DOORS[top]}; go through that"
    elif top not in sys.stdlib_module_names:
        yield "door", "a dependency without a door; give it one in DOORS (tests/house/house.py)"


def _breaks_order(item: Import, source: Source, house: House) -> Iterator[tuple[str, str]]:
    target = item.module.replace(".", "/")
    if target in house.rooms:
        target = f"{target}/{INIT}"
    if house.unplaced(target):
        yield "unlisted", f"it has no place; give it one in the `{INIT}` of its folder"
    else:
        path = source.path.removesuffix(".py")
        yield from house.breaks(path, target, for_types=item.is_for_types)
