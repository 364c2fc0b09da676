"""The line in which the modules stand, and who may import whom: `test_house.py` holds a tree to it.

Nothing is imported: every file is parsed, and each breach is a Complaint with its file and line,
the rule, and what to do. `manners.py` has the rules for a file by itself; `docs/house.md` tells
both to people.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import attrs
from manners import Bases, Complaint, Source, complaints

# Each module of `testbed` imports only what stands before it. `faults/*` are siblings, which never
# import each other; their folder's `__init__` stands right behind them.
ORDER = """
    words    errors version spoken counted objects/meta objects/quantity objects/calendar
             objects/plain objects/form objects/labels objects/condition objects/affinity
             objects/reference objects/note objects/pod objects/node objects/policy objects/priority
             objects/quota objects/charge objects/workload objects/lease objects/namespace
             objects/event objects/config objects/binding objects/kinds objects/codec
             objects/__init__ switches policy budget change option document scalar documents
    ground   life pending txn store selector delivery watch endpoint store_endpoint trace
    table    turns drivers/* waits stream request wire audit client cache actor
    rules    fault settings faults/* fault_kinds invariant likeness moment invariants/*
    world    judge ending watchdog session chooser pattern race racefile chance learned profiler
             sampler asides classes certificate tree in_force assembly world lapping choosers/*
             chooser_kinds scenario choosing allowed manifest
    search   racing reason shrink window sweep expecting rewriting healing job bounds player engine
             engines/* coverage finding sources ledger portfolio effort search
    telling  causality knowledge matter tale diagram mermaid explain necessity growth parting
             failing run seeking mutant
    doors    __init__ strategies pytest_plugin checks/* benches/load benches/cycles benches/*
             cli/show cli/own cli/playing cli/progress cli/raised cli/races cli/live cli/junit
             cli/folder cli/found cli/searched cli/* __main__
"""
# These stand behind all of it, siblings within: the testbed knows none of them by name.
BESIDE = ("actors", "scenarios")
# What actors share stands before them.
SHARED = ("actors/leader", "actors/recorder", "actors/verbs", "actors/workqueue")
PACKAGES = ("testbed", *BESIDE)
# All that an actor may know of the testbed; the ground is for those that are Endpoints, and what
# a claim is and what it looks at for those that judge one.
FACADES = (
    "testbed", "testbed.objects", "testbed.objects.*", "testbed.errors",
    "testbed.change", "testbed.delivery",
    "testbed.endpoint", "testbed.option", "testbed.selector", "testbed.store_endpoint",
    "testbed.invariant", "testbed.invariants.*", "testbed.mutant", "testbed.trace",
    "testbed.policy", "testbed.switches", "testbed.watch",
)  # fmt: skip

# One door for each dependency; Hypothesis draws in one, and is asked to draw in another.
DOORS = {
    "attrs": "*",
    "click": "testbed/cli/*",
    "hypothesis": "testbed/choosers/drawn.py testbed/strategies.py",
    "msgspec": "testbed/objects/codec.py",
    "networkx": "testbed/causality.py",
    "numpy": "actors/scheduler/*",
    "pytest": "testbed/pytest_plugin.py",
    "sortedcontainers": "testbed/store.py",
    "trio": "testbed/drivers/trio.py",
    "yaml": "testbed/document.py testbed/documents.py",
}

# What would let something outside the World decide.
OUTSIDE = {
    "asyncio": "only the World lets tasks move",
    "datetime": "time is virtual, in whole milliseconds; ask the Client or the World",
    "multiprocessing": "only the World lets tasks move",
    "secrets": "chance is a `pick`",
    "signal": "only the watchdog reaches into a World",
    "threading": "only the World lets tasks move",
    "time": "time is virtual; ask the Client or the World",
    "uuid": "a name is a function of who gave it and how many it gave before",
}
# What an actor, and the scenario that starts it, may not reach either.
OUTSIDE_ACTORS = {
    "os": "an actor sees what its Client shows it",
    "random": "chance is `client.pick`",
    "trio": "every await is the Client's",
}


@attrs.frozen
class Exempt:
    """A breach that is meant: where, of which rule, about what, and why."""

    where: str
    rule: str
    what: str
    why: str


EXEMPT = (
    Exempt("testbed/benches/*", "outside", "time", "a bench measures the wall"),
    Exempt("testbed/cli/progress.py", "outside", "time", "how far a command is, after two seconds"),
    Exempt("testbed/cli/live.py", "outside", "time", "a search may be given so many seconds"),
    Exempt("testbed/engines/processes.py", "outside", "time", "it ends a worker that hangs"),
    Exempt("testbed/drivers/trio.py", "outside", "time", "how fast bare trio is, for a bench"),
    Exempt("testbed/chooser_kinds.py", "late", "import_module", "choosers are found by names"),
    Exempt("testbed/fault_kinds.py", "late", "import_module", "faults are found by their words"),
    Exempt("testbed/scenario.py", "late", "import_module", "scenarios are found by their names"),
    Exempt("testbed/watchdog.py", "outside", "signal", "it ends a turn that does not end itself"),
    Exempt("testbed/watchdog.py", "outside", "threading", "only the main thread gets signals"),
    Exempt("testbed/objects/calendar.py", "outside", "datetime", "a calendar; it reads no clock"),
    Exempt(
        "actors/scheduler/bustle.py",
        "sibling",
        "actors.apiserver.server",
        "a scheduler is judged in a whole cluster",
    ),
    Exempt("testbed/likeness.py", "outside", "id", "it finds again what it has met; none is kept"),
)


@attrs.frozen
class Place:
    """Where a module stands in the line."""

    rank: int
    unit: str = ""
    """Which of the siblings of that rank it is, or belongs to."""
    is_door: bool = False


@attrs.frozen
class Import:
    """One module that a file imports."""

    module: str
    line: int
    is_late: bool
    """Inside a function: it happens when that is called."""
    is_for_types: bool
    """Under TYPE_CHECKING: it never happens."""


class Line:
    """The line in which the modules stand, as ORDER writes it."""

    def __init__(self, order: str = ORDER) -> None:
        self.files: dict[str, Place] = {}
        """By path, without `.py`."""
        self.folders: dict[str, Place] = {}
        """By path; each of siblings."""
        tier = ""
        for row in order.strip("\n").splitlines():
            names = row.split()
            if row[4] != " ":
                tier, *names = names
            for name in names:
                self._add(f"testbed/{name}", is_door=tier == "doors")
        for name in SHARED:
            self._add(name, is_door=False)
        for package in BESIDE:
            self._add(f"{package}/*", is_door=False)

    def _add(self, name: str, *, is_door: bool) -> None:
        rank = len(self.files) + len(self.folders)
        if name.endswith("/*"):
            folder = name.removesuffix("/*")
            self.folders[folder] = Place(rank, is_door=is_door)
            self.files[f"{folder}/__init__"] = Place(rank + 1, is_door=is_door)
        else:
            self.files[name] = Place(rank, is_door=is_door)

    def place(self, name: str) -> Place | None:
        """Where this path, without `.py`, stands; None if the line does not know it."""
        if name in self.files:
            return self.files[name]
        for folder, place in self.folders.items():
            if name.startswith(f"{folder}/"):
                return attrs.evolve(place, unit=name.removeprefix(f"{folder}/").partition("/")[0])
        return None

    def absent(self, root: Path) -> list[str]:
        """What stands in the line and not in the tree."""
        return [f"{name}.py" for name in self.files if not (root / f"{name}.py").exists()]


def inspect(root: Path) -> list[Complaint]:
    """Every breach of a rule of the house under `root`, but for those that are EXEMPT."""
    return [c for c in inspect_strictly(root) if not any(_is_meant(c, e) for e in EXEMPT)]


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


@cache
def inspect_strictly(root: Path) -> list[Complaint]:
    """Every breach of a rule of the house under `root`."""
    line = Line()
    paths = sorted(path for package in PACKAGES for path in (root / package).rglob("*.py"))
    names = [path.relative_to(root).as_posix() for path in paths]
    modules = {_module(name) for name in (*names, *line.files)}
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
        found += check_imports(source, modules, line)
        found += complaints(source, bases)
    return found


def _module(path: str) -> str:
    """`testbed.faults` for `testbed/faults/__init__.py`."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def check_imports(source: Source, modules: set[str], line: Line) -> Iterator[Complaint]:
    """A module imports, at its top, what stands before it, and a dependency through its door."""
    place = line.place(source.path.removesuffix(".py"))
    if place is None:
        text = "it has no place in the line; give it one in ORDER (tests/house.py, docs/house.md)"
        yield source.complain(1, "unlisted", source.path, text)
        return
    for item in _imports(source, modules):
        for rule, advice in _breaks(item, source, place, line):
            text = f"imports {item.module}: {advice}"
            yield source.complain(item.line, rule, item.module, text)
    for node in ast.walk(source.tree):
        match node:
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__" as name)
                | ast.Attribute(attr="import_module" as name)
            ) if not place.is_door:
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


def _breaks(item: Import, source: Source, place: Place, line: Line) -> Iterator[tuple[str, str]]:
    """The rules that one import breaks, each with what to do instead."""
    top = item.module.partition(".")[0]
    if item.is_late and not item.is_for_types and not place.is_door:
        yield "late", "it is inside a function; import at the top, from what stands before"
    if top in PACKAGES:
        yield from _breaks_order(item, place, line)
        known = any(fnmatch(item.module, facade) for facade in FACADES)
        if source.package == "actors" and top == "testbed" and not known:
            yield "actor", f"an actor knows only {', '.join(FACADES)} of it"
    elif top in OUTSIDE:
        yield "outside", OUTSIDE[top]
    elif source.package in BESIDE and top in OUTSIDE_ACTORS:
        yield "actor", OUTSIDE_ACTORS[top]
    elif top in DOORS:
        if not any(fnmatch(source.path, door) for door in DOORS[top].split()):
            yield "door", f"its door is {DOORS[top]}; go through that"
    elif top not in sys.stdlib_module_names:
        yield "door", "a dependency without a door; give it one in DOORS (tests/house.py)"


def _breaks_order(item: Import, place: Place, line: Line) -> Iterator[tuple[str, str]]:
    path = item.module.replace(".", "/")
    target = line.place(path if path in line.files else f"{path}/__init__")
    if target is None:
        yield "unlisted", "it has no place in the line; see ORDER (tests/house.py)"
    elif target.rank == place.rank and target.unit != place.unit:
        yield "sibling", "siblings stand apart; move what both need before their folder"
    elif target.rank > place.rank and item.is_for_types:
        yield "type", "it stands later; a Protocol, or a type said here, needs no forward look"
    elif target.rank > place.rank:
        yield "order", "it stands later; move what is needed of it before this module"
