"""Rooms: what each folder's `__init__` says of it, read once, and held to by `house.py`.

A room is a folder. Its docstring ends in two lines that a program can read, too:

    May use: objects, switches.
    In order: change, store, watch.

A file imports what stands before it in the order of its own room. What stands outside the room it
imports only if the room may use it; and rooms, too, stand in the order of the folder above them.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import attrs

EVERYTHING = "all that stands before it"
NOTHING = ("nothing", "nothing beside it")
"""The second still has what the room above may use; the first is for what trusts nobody."""
SIBLINGS = "siblings"
"""In an order: every file that it does not name. None of them imports another."""
INIT = "__init__"


@attrs.frozen
class Room:
    """One folder, as its `__init__` tells of it."""

    path: str
    uses: tuple[str, ...] | None = ()
    """Paths of what it may use outside of itself; None: anything that stands before it."""
    order: tuple[str, ...] = ()
    doors: tuple[str, ...] = ()
    """The last of the order: they may import late, inside a function."""

    def rank(self, entry: str) -> int | None:
        """Where a file or folder of this room stands; None if it has no place."""
        if entry in self.order:
            return self.order.index(entry)
        if entry == INIT:
            return len(self.order)
        return self.order.index(SIBLINGS) if SIBLINGS in self.order else None

    def are_siblings(self, one: str, other: str) -> bool:
        """Whether neither of these may import the other."""
        return one != other and self.rank(one) == self.rank(other)

    def may_use(self, path: str) -> bool:
        """Whether the room's own line lets it use the file at that path, without `.py`."""
        return self.uses is None or any(
            path == use or path.startswith(f"{use}/") for use in self.uses
        )


TOP = Room("", order=("testbed", "actors", "scenarios"))
"""The tree itself: the testbed knows no actor and no scenario by name."""


def read_rooms(root: Path) -> dict[str, Room]:
    """Every room under `root` by its path, `TOP` under the empty one."""
    rooms = {"": TOP}
    for package in TOP.order:
        for file in sorted((root / package).rglob(f"{INIT}.py")):
            path = file.parent.relative_to(root).as_posix()
            docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
            rooms[path] = room_of(path, docstring, root)
    return rooms


def room_of(path: str, docstring: str, root: Path) -> Room:
    """The room at `path`, by what its docstring says."""
    uses = _list(docstring, "May use")
    doors = _list(docstring, "Doors, in order")
    order = _list(docstring, "In order")
    if _said(docstring, "Siblings"):
        order = (SIBLINGS,)
    resolved = None if uses == (EVERYTHING,) else tuple(_path(path, use, root) for use in uses)
    return Room(path, resolved, (*order, *doors), doors)


def _said(docstring: str, label: str) -> str:
    """What follows that label, up to the full stop that ends its line."""
    found = re.search(rf"^{label}: (.+?)\.$", docstring, re.MULTILINE | re.DOTALL)
    return " ".join(found[1].split()) if found else ""


def _list(docstring: str, label: str) -> tuple[str, ...]:
    said = _said(docstring, label)
    names = (name.removeprefix("then ") for name in re.split(r"[,;] ", said) if name)
    return tuple(name for name in names if name not in NOTHING)


def _path(room: str, use: str, root: Path) -> str:
    """`testbed/store` for `store`, said in a room of testbed; a whole name is one from the top."""
    folder = room.rpartition("/")[0]
    beside = f"{folder}/{use}" if folder else use
    is_beside = (root / beside).is_dir() or (root / f"{beside}.py").exists()
    return beside if is_beside else use.replace(".", "/")
