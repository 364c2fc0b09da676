"""chooser_kinds: finds the Choosers in `testbed/choosers/` by their names.

The class in `choosers/urw.py` is URW: it is named like its file, in any case. It has a short name
if it can be made without arguments, or from a `seed` alone. That is read from the sources, so to
list the Choosers imports none of them; each is imported when it is made.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

from testbed.chooser import Chooser
from testbed.errors import UnknownName

FOLDER = Path(__file__).parent.parent / "choosers"


def known() -> list[str]:
    """The short names of all Choosers, in order."""
    return sorted(_seeded(FOLDER))


def seeded() -> list[str]:
    """The names of the Choosers that draw from a seed, in order."""
    return sorted(name for name, takes_seed in _seeded(FOLDER).items() if takes_seed)


def chooser_of(name: str, seed: int = 0) -> Chooser:
    """A new Chooser of that name; UnknownName if there is none."""
    kinds = _seeded(FOLDER)
    if name not in kinds:
        see = "--seed 1 for random choices, or name one of your own as FILE.py:Class"
        raise UnknownName("chooser", name, kinds, see=see)
    module = import_module(f"testbed.choosers.{name}")
    kind: Callable[..., Chooser] = next(
        value for key, value in vars(module).items() if _is_named_as(key, name)
    )
    return kind(seed=seed) if kinds[name] else kind()


@cache
def _seeded(folder: Path) -> Mapping[str, bool]:
    """By name, whether the Chooser takes a seed; those that need other arguments are left out. Read
    once, since it takes as long as many Runs."""
    kinds = {}
    for path in sorted(folder.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
        for node in classes:
            if _is_named_as(node.name, path.stem):
                needs, takes = _parameters(node)
                if not needs - {"seed"}:
                    kinds[path.stem] = "seed" in takes
    return kinds


def _is_named_as(name: str, stem: str) -> bool:
    return name.lower() == stem.replace("_", "")


def _parameters(node: ast.ClassDef) -> tuple[set[str], set[str]]:
    """The parameters that its constructor requires, and all that it takes. Without an `__init__` of
    its own a Sampler takes a seed, and any other Chooser nothing."""
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and item.name == "__init__":
            given = item.args
            takes = [arg.arg for arg in (*given.posonlyargs, *given.args)][1:]
            needs = set(takes[: len(takes) - len(given.defaults)])
            only = zip(given.kwonlyargs, given.kw_defaults, strict=True)
            needs |= {arg.arg for arg, default in only if default is None}
            return needs, {*takes, *(arg.arg for arg in given.kwonlyargs)}
    is_sampler = any(ast.unparse(base) == "Sampler" for base in node.bases)
    return set(), {"seed"} if is_sampler else set()
