"""Policy: a part of a component that a user replaces by a class of his own, by its name.

The class stands in a file that he names himself (`--policy mine.py`), or is handed over in Python
(`use`); a switch then says where it is to serve. What a race file or a trace says is a name and no
more: nothing is ever imported for that.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib.machinery import PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import attrs

from testbed.errors import HarnessError, ScenarioError, UnknownName
from testbed.switches import KIND, Kind

BUILT_IN = "built_in"
"""What such a switch says if nothing is replaced."""
SEE = "if it is one of your own, name its file as well: --policy FILE.py"
_OWN: dict[str, tuple[type, ModuleType | None]] = {}
"""By name, what was handed over, and the module that it then stood in."""


# -- the user's own -------------------------------------------------------------------------------


def use(*classes: type) -> None:
    """Let switches name these classes. One that has no `name` is called by its own."""
    for each in classes:
        before = own().get(each.__name__)
        if before is not None and before.__module__ != each.__module__:
            raise ScenarioError(
                f"two policies are called {each.__name__!r}: one of {before.__module__}, one of "
                f"{each.__module__}.\nNext: give one of them another name."
            )
        if not getattr(each, "name", ""):
            each.name = each.__name__  # type: ignore[attr-defined]
        _OWN[each.__name__] = (each, sys.modules.get(each.__module__))


def load(path: str | Path) -> None:
    """Run that file, and use each class that stands in it."""
    file = Path(path).resolve()
    if file.suffix != ".py" or not file.stem.isidentifier() or not file.is_file():
        raise ScenarioError(
            f"--policy {path}: expected a Python file.\n"
            "Next: name the file that your filter, score or other policy stands in."
        )
    module = _module(file, path)
    made = [each for each in vars(module).values() if isinstance(each, type)]
    mine = [each for each in made if each.__module__ == module.__name__]
    if not mine:
        raise ScenarioError(
            f"--policy {path}: no class stands in it.\nNext: write a filter there, or a score."
        )
    use(*mine)


def _module(file: Path, path: str | Path) -> ModuleType:
    """What stands in that file, run once."""
    name, there = file.stem, sys.modules.get(file.stem)
    found = PathFinder.find_spec(name) if there is None else there.__spec__
    origin = getattr(there, "__file__", None) or (found.origin if found else None)
    is_another = origin is not None and Path(origin).resolve() != file
    if is_another or name in sys.stdlib_module_names:
        raise ScenarioError(
            f"--policy {path}: another module is called {name!r}.\n"
            "Next: give the file another name."
        )
    if there is not None:
        return there
    spec = spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        if isinstance(error, HarnessError):
            raise
        raise ScenarioError(
            f"--policy {path}: it cannot be imported: {type(error).__name__}: {error}.\n"
            "Next: mend it, and run again."
        ) from error
    return module


def own() -> dict[str, type]:
    """The user's own classes, by name; but for those whose module is no longer loaded."""
    return {
        name: each for name, (each, there) in _OWN.items()
        if sys.modules.get(each.__module__) is there
    }  # fmt: skip


def modules() -> list[str]:
    """The modules they stand in."""
    return list(dict.fromkeys(each.__module__ for each in own().values()))


def files() -> list[str]:
    """The files they stand in, told from the current folder where they lie in it."""
    found = [getattr(sys.modules[name], "__file__", None) for name in modules()]
    here = Path.cwd()
    paths = [Path(file).resolve() for file in found if file is not None]
    return [os.path.relpath(p) if p.is_relative_to(here) else str(p) for p in paths]


def words() -> list[str]:
    """The options that name them all again, to be pasted."""
    return [word for file in files() for word in ("--policy", file)]


# -- switches that name a policy ------------------------------------------------------------------


@attrs.frozen
class Part(Kind):
    """The name of a class that serves as one part of a component, or `built_in`."""

    is_open: ClassVar[bool] = True
    what: str = "part"
    """What people call it: filter."""
    expected: str = "a class"
    """What it has to be: `a subclass of Filter`."""
    needs: tuple[str, ...] = ()
    """What that has, by which it is known."""
    built_in: tuple[str, ...] = ()
    """Those that come with the component."""
    takes: tuple[str, ...] = ()
    """What it is made with."""
    found: Callable[[], Iterable[str]] | None = None
    """Gives the names of others that come with the component, in files of a folder."""

    def parse(self, text: str) -> Any:
        if text != BUILT_IN:
            self.check(text)
        return text

    def check(self, name: str) -> None:
        """UnknownName, ScenarioError if nothing of that name can serve."""
        mine = own()
        is_built_in = name in self.built_in or name in self._found_names()
        if is_built_in and name in mine:
            raise ScenarioError(
                f"{self.what} {name!r} is built in, and one of {mine[name].__module__} is called "
                "so, too.\nNext: give yours another name."
            )
        if is_built_in:
            return
        if name not in mine:
            there = dict.fromkeys([*self.built_in, *self._found_names()])
            known = [*there, *(n for n, made in mine.items() if self._is_one(made))]
            raise UnknownName(self.what, name, known, see=SEE)
        if not self._is_one(mine[name]):
            raise ScenarioError(
                f"{name} of {mine[name].__module__} is no {self.what}: expected {self.expected}.\n"
                f"Next: write it as one, or name another {self.what}."
            )
        try:
            inspect.signature(mine[name]).bind(**dict.fromkeys(self.takes))
        except TypeError as error:
            raise ScenarioError(
                f"{name} of {mine[name].__module__} cannot be made: {error}.\n"
                f"Next: let it take {' and '.join(self.takes) or 'nothing'}, or give defaults."
            ) from error

    def _found_names(self) -> Iterable[str]:
        return () if self.found is None else self.found()

    def _is_one(self, made: type) -> bool:
        return all(hasattr(made, name) for name in self.needs)

    def __str__(self) -> str:
        return f"{BUILT_IN}, or a {self.what} of your own"


@attrs.frozen
class Parts(Part):
    """Several of them: `+Mine` beside those that are built in, `-Theirs` without that one, or
    `Theirs,Mine` and no other."""

    def parse(self, text: str) -> Any:
        if text != BUILT_IN:
            for word in text.split(","):
                self.check(word.lstrip("+-") if word[:1] in ("+", "-") else word)
        return text

    def __str__(self) -> str:
        return f"{BUILT_IN}, +Mine, -Theirs or Theirs,Mine: {self.what}s, also of your own"


def part(what: str, expected: str, needs: str, *built_in: str, takes: str = "") -> Any:
    """A switch that names one part: what that is called, what it has to be, what that has, which
    are built in, and what one is made with."""
    kind = Part((), None, what, expected, tuple(needs.split()), built_in, tuple(takes.split()))
    return attrs.field(default=BUILT_IN, metadata={KIND: kind})


def parts(
    what: str,
    expected: str,
    needs: str,
    *built_in: str,
    found: Callable[[], Iterable[str]] | None = None,
) -> Any:
    """A switch that names several; `found` gives the names of those found in a folder."""
    kind = Parts((), None, what, expected, tuple(needs.split()), built_in, found=found)
    return attrs.field(default=BUILT_IN, metadata={KIND: kind})


def chosen(said: str, usual: Iterable[Any], others: Iterable[Any] = ()) -> tuple[Any, ...]:
    """The parts that such a switch names: those that come with the component by their `name`, the
    usual ones first, in the order in which they stand; and the user's own, made anew, behind."""
    kept = {each.name: each for each in usual}
    there = {**{each.name: each for each in others}, **kept}
    order = {name: place for place, name in enumerate(dict.fromkeys([*kept, *there]))}
    if said != BUILT_IN:
        kept = kept if said[:1] in ("+", "-") else {}
        for word in said.split(","):
            sign, name = (word[0], word[1:]) if word[:1] in ("+", "-") else ("+", word)
            if sign == "-":
                kept.pop(name, None)
            else:
                kept[name] = there[name] if name in there else made(name)
    return tuple(kept[name] for name in sorted(kept, key=lambda n: order.get(n, len(order))))


def made(name: str) -> Any:
    """A new one of the user's own class of that name."""
    return own()[name]()


def in_place_of(actor: Any, name: str) -> Any:
    """The user's own actor of that name, with the name of the one that it stands in for and such
    other settings of it as it has itself."""
    mine = own()[name]
    settings: Mapping[str, Any] = {
        field.alias: getattr(actor, field.name)
        for field in attrs.fields(mine)
        if field.init and hasattr(actor, field.name)
    }
    return mine(**settings)
