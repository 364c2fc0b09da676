"""Which public names, and which of their parameters, the programs of drawn Worlds use.

A name is used if a file of drawn Worlds calls or reads it; what the testbed does with its own names
does not count.
"""

from __future__ import annotations

import ast
import functools
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = str(Path(__file__).parent)
OPERATORS = (
    "__eq__",
    "__hash__",
    "__bool__",
    "__str__",
    "__repr__",
    "__lt__",
    "__len__",
    "__await__",
)
"""Methods that Python calls for a program, which wrote an operator."""


class Spy:
    """Keeps the names that are used while it watches."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.used: set[str] = set()
        """`Client.get`, and for each parameter that was given `Client.get(at)`."""
        self._patch = patch

    def watch(self, kind: type, title_of: str = "") -> None:
        """Keep what is used of this class and of what it inherits, as if of `title_of`."""
        for name in names_of(kind):
            owner = next((base for base in kind.__mro__ if name in vars(base)), kind)
            held = vars(owner).get(name)
            title = f"{title_of or kind.__name__}.{name}"
            if inspect.isfunction(held):
                self._patch.setattr(kind, name, self._called(title, held))
            elif isinstance(held, classmethod | staticmethod):
                continue
            else:
                self._patch.setattr(kind, name, _Read(self, title, name, held), raising=False)

    def watch_function(self, module: Any, name: str) -> None:
        """Keep the use of one function of a module."""
        self._patch.setattr(module, name, self._called(name, getattr(module, name)))

    def _called(self, title: str, fn: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(fn)

        @functools.wraps(fn)
        def called(*given: Any, **named: Any) -> Any:
            if is_drawn():
                self.used.add(title)
                bound = signature.bind_partial(*given, **named).arguments
                self.used.update(f"{title}({name})" for name in bound if name != "self")
            return fn(*given, **named)

        return called


class _Read:
    """Stands in the place of an attribute: a property, a slot, or one that instances have."""

    def __init__(self, spy: Spy, title: str, name: str, held: Any) -> None:
        self._spy = spy
        self._title = title
        self._name = name
        self._held = held

    def __get__(self, instance: Any, owner: type) -> Any:
        if is_drawn():
            self._spy.used.add(self._title)
        if hasattr(self._held, "__get__"):
            return self._held.__get__(instance, owner)
        if instance is not None and self._name in getattr(instance, "__dict__", ()):
            return instance.__dict__[self._name]
        if self._held is None and instance is not None:
            raise AttributeError(self._name)
        return self._held

    def __set__(self, instance: Any, value: Any) -> None:
        if hasattr(self._held, "__set__"):
            self._held.__set__(instance, value)
        else:
            instance.__dict__[self._name] = value


def is_drawn() -> bool:
    """Whether the caller of the caller stands in a file of drawn Worlds."""
    return sys._getframe(2).f_code.co_filename.startswith(HERE)


def names_of(kind: type) -> list[str]:
    """The public names of a class: what it has, what its instances get when they are made, and the
    operators that it defines; its constructor if it has parameters."""
    found = {name for name in dir(kind) if not name.startswith("_")}
    for base in kind.__mro__[:-1]:
        found |= set(_given_to_instances(base))
        found |= {name for name in OPERATORS if inspect.isfunction(vars(base).get(name))}
    if parameters_of(inspect.getattr_static(kind, "__init__")):
        found.add("__init__")
    return sorted(found)


def _given_to_instances(kind: type) -> Iterator[str]:
    """The public attributes that the constructor sets."""
    made = vars(kind).get("__init__")
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(made)))  # type: ignore[arg-type]
    except (OSError, TypeError):
        return
    for node in ast.walk(tree):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        for target in targets:
            match target:
                case ast.Attribute(value=ast.Name(id="self"), attr=name) if name[0] != "_":
                    yield name


def parameters_of(fn: Any) -> list[str]:
    """The parameters of a function, without the object itself."""
    try:
        names = list(inspect.signature(fn).parameters.values())
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return [each.name for each in names if each.name != "self" and each.kind not in kinds]


def wanted(kind: type) -> set[str]:
    """All that is to be used of a class: its names, and the parameters of its functions."""
    found = set()
    for name in names_of(kind):
        title = f"{kind.__name__}.{name}"
        found.add(title)
        held = inspect.getattr_static(kind, name, None)
        if inspect.isfunction(held) and (name == "__init__" or not name.startswith("__")):
            found |= {f"{title}({each})" for each in parameters_of(held)}
    return found
