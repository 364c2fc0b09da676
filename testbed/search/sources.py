"""Sources: a digest of each module that a World is made of: the user's own, and what comes with us.

A Ledger keeps these digests: if the code has changed since, the Outcomes in it are not those that
the code would show now, and the search is not resumed.

From the modules of the scenario, and of all that it adds to a World, each `import` in the text is
followed, at the top of a file or within a function. Nothing is imported for that. It makes no
difference where the code lies: the user's package may be installed from a wheel, and so may the
actors and scenarios that come with the testbed. Left out are the testbed, which has one digest as a
whole, Python, and the libraries that the testbed needs itself.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from hashlib import sha256
from importlib.machinery import PathFinder
from pathlib import Path

from testbed.code.whose import INSTALLED, OWN, SHIPPED, library_of, whose

OURS = Path(__file__).resolve().parent.parent
OURS_NAME = OURS.name
NEEDED = frozenset({"jinja2", "msgspec", "networkx", "numpy"})
"""The libraries that the testbed needs, beside those that `whose` takes for a part of Python."""


def digests(roots: Iterable[str]) -> dict[str, str]:
    """Return a digest of the text of each of these modules, and of all that they import, but for
    the testbed, Python, and the libraries that the testbed needs."""
    found: dict[str, bytes] = {}
    waiting = sorted(set(roots), reverse=True)
    while waiting:
        name = waiting.pop()
        path = _file_of(name)
        if name in found or path is None or not _is_own(path):
            continue
        found[name] = path.read_bytes()
        waiting += _imported(found[name], name, is_package=path.name == "__init__.py")
    return {name: sha256(found[name]).hexdigest() for name in sorted(found)}


def digest_of_ours() -> str:
    """Return one digest of the whole testbed: of every file of its own, by its path."""
    whole = sha256()
    for file in sorted(OURS.rglob("*.py")):
        whole.update(f"{file.relative_to(OURS).as_posix()}\n{file.stat().st_size}\n".encode())
        whole.update(file.read_bytes())
    return whole.hexdigest()


def _file_of(module: str) -> Path | None:
    """The source file it was loaded from, or would be; None if it has none."""
    origin = getattr(sys.modules.get(module), "__file__", None)
    if origin is None:
        # Package by package: `importlib.util.find_spec` would import each package on the way, and
        # so run the user's code.
        inside, parts = None, module.split(".")
        for end in range(1, len(parts) + 1):
            spec = PathFinder.find_spec(".".join(parts[:end]), inside)
            # What is no package has no modules in it; the finder would look on the whole path.
            if spec is None or (end < len(parts) and spec.submodule_search_locations is None):
                return None
            origin, inside = spec.origin, spec.submodule_search_locations
    path = Path(origin or "nowhere").resolve()
    return path if path.suffix == ".py" and path.is_file() else None


def _is_own(path: Path) -> bool:
    kind = whose(str(path))
    is_library = kind == INSTALLED and library_of(str(path)) in NEEDED
    return kind in (OWN, SHIPPED, INSTALLED) and not is_library


def _imported(text: bytes, module: str, *, is_package: bool) -> Iterator[str]:
    """The names it may import, with their packages; some of them are no modules."""
    parent = module.split(".") if is_package else module.split(".")[:-1]
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = parent[: len(parent) - node.level + 1] if node.level else []
            start = ".".join([*above, *([node.module] if node.module else [])])
            names = [start, *(f"{start}.{alias.name}" for alias in node.names)]
        for name in names:
            parts = name.split(".")
            yield from (".".join(parts[:end]) for end in range(1, len(parts) + 1))
