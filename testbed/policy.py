"""Policy: a class of the user's own that replaces a part of a component.

The user names the file with the class (`--policy mine.py`), or passes the class in Python (`use`).
A switch then says which part it replaces. A race file or a trace only ever holds the name of the
class, and nothing is imported because of such a name.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, ClassVar, TypeVar

import attrs

from testbed.errors import HarnessError, ScenarioError, UnknownName
from testbed.switches import KIND, Kind

T = TypeVar("T")

BUILT_IN = "built_in"
"""The value of such a switch if nothing is replaced."""
SEE = "if it is one of your own, name its file as well: --policy FILE.py"
_LOADED: dict[str, ModuleType] = {}
"""By name, the modules that `load` has made of files."""
_OWN: dict[str, tuple[type, ModuleType | None]] = {}
"""By name, the classes passed to `use`, each with the module that it was in at that time."""


# -- the user's own -------------------------------------------------------------------------------


def use(*classes: type) -> None:
    """Let switches name these classes. A class without a `name` gets its class name as one."""
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


def let_go(*classes: type) -> None:
    """Let switches name these classes no more."""
    for each in classes:
        if own().get(each.__name__) is each:
            del _OWN[each.__name__]


def load(path: str | Path, run: Callable[[ModuleType, Path], None] | None = None) -> None:
    """Run that file, and `use` each class that it defines. `run` runs it, if Python itself is not
    to."""
    file = Path(path).resolve()
    if file.suffix != ".py" or not file.stem.isidentifier() or not file.is_file():
        raise ScenarioError(
            f"--policy {path}: expected a Python file.\n"
            "Next: name the file that your filter, score or other policy stands in."
        )
    module = _module(file, path, run)
    made = [each for each in vars(module).values() if isinstance(each, type)]
    mine = [each for each in made if each.__module__ == module.__name__]
    if not mine:
        raise ScenarioError(
            f"--policy {path}: no class stands in it.\nNext: write a filter there, or a score."
        )
    use(*mine)


def forget(name: str) -> None:
    """Let go of a module of that name, and of its classes, if `load` has made it."""
    module = _LOADED.pop(name, None)
    if module is not None and sys.modules.get(name) is module:
        let_go(*(each for each in own().values() if each.__module__ == name))
        del sys.modules[name]


def _module(
    file: Path, path: str | Path, run: Callable[[ModuleType, Path], None] | None
) -> ModuleType:
    """The module of that file, imported once."""
    # The module gets the plain name of the file, as an import would give it: a scenario beside the
    # file may import it too, and must get the same classes. So the name may not be that of another
    # module, whether that one is loaded yet or not.
    name, loaded = file.stem, sys.modules.get(file.stem)
    found = PathFinder.find_spec(name) if loaded is None else loaded.__spec__
    origin = getattr(loaded, "__file__", None) or (found.origin if found else None)
    is_another = origin is not None and Path(origin).resolve() != file
    if is_another or name in sys.stdlib_module_names:
        raise ScenarioError(
            f"--policy {path}: another module is called {name!r}.\n"
            "Next: give the file another name."
        )
    if loaded is not None:
        return loaded
    spec = spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = _LOADED[name] = module_from_spec(spec)
    try:
        if run is None:
            spec.loader.exec_module(module)
        else:
            run(module, file)
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
    """The user's own classes by name, without those whose module is no longer loaded."""
    return {
        name: each for name, (each, module) in _OWN.items()
        if sys.modules.get(each.__module__) is module
    }  # fmt: skip


def modules() -> list[str]:
    """The modules of these classes."""
    return list(dict.fromkeys(each.__module__ for each in own().values()))


def files() -> list[str]:
    """The files of these classes, relative to the current folder where they are inside it."""
    found = [getattr(sys.modules[name], "__file__", None) for name in modules()]
    here = Path.cwd()
    paths = [Path(file).resolve() for file in found if file is not None]
    return [os.path.relpath(p) if p.is_relative_to(here) else str(p) for p in paths]


def words() -> list[str]:
    """The command-line options that name all these files again, to be pasted."""
    return [word for file in files() for word in ("--policy", file)]


def catalogue(package: str, path: Iterable[str], base: type[T]) -> dict[str, type[T]]:
    """Each class below `base` in the files of a folder, by its `name`, in the order of the files.
    The files are imported."""
    found: dict[str, type[T]] = {}
    for file in sorted(info.name for info in iter_modules(path)):
        module = import_module(f"{package}.{file}")
        for each in vars(module).values():
            is_one = isinstance(each, type) and issubclass(each, base)
            if is_one and each.__module__ == module.__name__ and each.name:
                found.setdefault(each.name, each)
    return found


# -- switches that name a policy ------------------------------------------------------------------


@attrs.frozen
class Part(Kind):
    """A switch that names the class of one part of a component, or is `built_in`."""

    is_open: ClassVar[bool] = True
    what: str = "part"
    """The word for such a part: `filter`."""
    expected: str = "a class"
    """What the class has to be: `a subclass of Filter`."""
    needs: tuple[str, ...] = ()
    """The attributes that such a class has, and by which it is recognized."""
    built_in: tuple[str, ...] = ()
    """The names of those that come with the component."""
    takes: tuple[str, ...] = ()
    """The arguments that it is called with."""
    found: Callable[[], Iterable[str]] | None = None
    """Gives the names of others that come with the component, in files of a folder."""

    def parse(self, text: str) -> Any:
        if text != BUILT_IN:
            self.check(text)
        return text

    def check(self, name: str) -> None:
        """UnknownName or ScenarioError if no class of that name can be this part."""
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
            known = dict.fromkeys([*self.built_in, *self._found_names()])
            known.update(dict.fromkeys(n for n, cls in mine.items() if self._is_one(cls)))
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

    def _is_one(self, cls: type) -> bool:
        return all(hasattr(cls, name) for name in self.needs)

    def __str__(self) -> str:
        return f"{BUILT_IN}, or a {self.what} of your own"


@attrs.frozen
class Parts(Part):
    """A switch that names several: `+Mine` adds to the built-in ones, `-Theirs` removes one of
    them, and `Theirs,Mine` means just these."""

    def parse(self, text: str) -> Any:
        if text != BUILT_IN:
            for word in text.split(","):
                self.check(word.lstrip("+-") if word[:1] in ("+", "-") else word)
        return text

    def __str__(self) -> str:
        return f"{BUILT_IN}, +Mine, -Theirs or Theirs,Mine: {self.what}s, also of your own"


@attrs.frozen
class Chain(Part):
    """A switch that names one or several, of which each goes on with what the one before has left:
    `Theirs,Mine`. Unlike `Parts` it replaces what it is by default, and its order matters."""

    last: tuple[str, ...] = ()
    """The names of those that leave nothing to go on with."""

    def parse(self, text: str) -> Any:
        names = text.split(",")
        for place, name in enumerate(names):
            self.check(name)
            if name in names[:place]:
                self._refuse(text, f"{name!r} stands there twice", [*dict.fromkeys(names)])
            if name in self.last and place + 1 < len(names):
                self._refuse(text, f"nothing is left behind {name!r}", names[: place + 1])
        return text

    def _refuse(self, text: str, why: str, better: Iterable[str]) -> None:
        raise ScenarioError(
            f"the chain of {self.what}s {text}: {why}.\nNext: say {','.join(better)}."
        )

    def __str__(self) -> str:
        known = ", ".join([*self.built_in, *self._found_names()])
        return f"{known}, one of your own, or a chain such as Theirs,Mine"


def part(what: str, expected: str, needs: str, *built_in: str, takes: str = "") -> Any:
    """A switch that names one part; the arguments are the fields of `Part`, several words as one
    text."""
    kind = Part((), None, what, expected, tuple(needs.split()), built_in, tuple(takes.split()))
    return attrs.field(default=BUILT_IN, metadata={KIND: kind})


def parts(
    what: str,
    expected: str,
    needs: str,
    *built_in: str,
    found: Callable[[], Iterable[str]] | None = None,
) -> Any:
    """A switch that names several parts; `found` gives the names of those found in a folder."""
    kind = Parts((), None, what, expected, tuple(needs.split()), built_in, found=found)
    return attrs.field(default=BUILT_IN, metadata={KIND: kind})


def chain(
    usual: str,
    what: str,
    expected: str,
    needs: str,
    *,
    found: Callable[[], Iterable[str]],
    last: str,
) -> Any:
    """A switch that names a chain of parts, `usual` by default."""
    kind = Chain((), None, what, expected, tuple(needs.split()), found=found, last=(last,))
    return attrs.field(default=usual, metadata={KIND: kind})


def chosen(value: str, usual: Iterable[Any], others: Iterable[Any] = ()) -> tuple[Any, ...]:
    """The parts that the value of such a switch names.

    First come the component's own parts: the usual ones, then the others, each in the order given.
    New instances of the user's classes come last. Parts go by their `name`.
    """
    kept = {each.name: each for each in usual}
    known = {**{each.name: each for each in others}, **kept}
    order = {name: place for place, name in enumerate(dict.fromkeys([*kept, *known]))}
    if value != BUILT_IN:
        kept = kept if value[:1] in ("+", "-") else {}
        for word in value.split(","):
            sign, name = (word[0], word[1:]) if word[:1] in ("+", "-") else ("+", word)
            if sign == "-":
                kept.pop(name, None)
            else:
                kept[name] = known[name] if name in known else made(name)
    return tuple(kept[name] for name in sorted(kept, key=lambda n: order.get(n, len(order))))


def made(name: str) -> Any:
    """A new instance of the user's class of that name."""
    return own()[name]()


def in_place_of(actor: Any, name: str) -> Any:
    """A new instance of the user's actor class `name`, to run in place of `actor`: it takes over
    the name of that actor, and every other setting that it has a field for."""
    mine = own()[name]
    settings: Mapping[str, Any] = {
        field.alias: getattr(actor, field.name)
        for field in attrs.fields(mine)
        if field.init and hasattr(actor, field.name)
    }
    return mine(**settings)
