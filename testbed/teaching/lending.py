"""Lending: what of Python and of the testbed the file of an answer is given, and how it is loaded.

An answer may keep nothing outside of `run`. So of each module it is lent only what that documents
and what keeps nothing: no dict, no module within, no function that sets an attribute of what it is
given, registers something or reaches an attribute by a text. A module is lent as a `Lent`, which
has these names alone and cannot change. All that the file itself sets goes through `settable`, by
whatever name it holds the thing: what it has made in `run` may change, no class, function or member
of an enum may.

This keeps those who try in good faith to what can be judged, and tells them the line. Whether an
answer keeps something all the same, wherever that may be, is found by playing each life of it alone
(`alone`).
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections import Counter, OrderedDict, UserDict, UserList, defaultdict, deque
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from testbed.client.actor import Actor
from testbed.code.files import read_bytes
from testbed.errors import ApiError, Cancelled, Crashed, ScenarioError

OURS = ("testbed", "testbed.errors", "testbed.objects")
PLAIN = (
    "__future__", "abc", "attrs", "bisect", "collections", "collections.abc", "contextlib", "copy",
    "dataclasses", "enum", "functools", "heapq", "itertools", "json", "math", "operator", "re",
    "string", "textwrap", "typing",
)  # fmt: skip
"""Parts of Python that look at nothing outside. The testbed itself imports all of them."""
HOLDERS = (dict, list, set, bytearray, deque, ModuleType)
"""What is never lent: what it holds can be changed, or leads elsewhere."""
PROGRAMS = (
    "Actor", "ApiError", "Cache", "Client", "Conflict", "Expired", "NotFound", "Operation",
    "Selector", "Unavailable",
)  # fmt: skip
"""What of `testbed` is for programs; the rest is for who assembles and plays Worlds."""
BY_TEXT = "it goes by a text"
SETS = "it sets attributes of what it is given"
COUNTS = "it keeps what was registered"
KEPT_BACK = {
    "abc.get_cache_token": COUNTS, "abc.update_abstractmethods": SETS,
    "attrs.make_class": BY_TEXT, "attrs.resolve_types": SETS, "contextlib.chdir": SETS,
    "contextlib.redirect_stderr": SETS, "contextlib.redirect_stdout": SETS,
    "dataclasses.fields": SETS, "dataclasses.make_dataclass": BY_TEXT, "enum.global_enum": SETS,
    "functools.singledispatch": COUNTS, "functools.singledispatchmethod": COUNTS,
    "functools.update_wrapper": SETS, "functools.wraps": SETS, "operator.attrgetter": BY_TEXT,
    "operator.methodcaller": BY_TEXT, "re.purge": COUNTS, "string.Formatter": BY_TEXT,
    "typing.ForwardRef": BY_TEXT, "typing.clear_overloads": COUNTS,
    "typing.evaluate_forward_ref": BY_TEXT, "typing.get_overloads": COUNTS,
    "typing.get_type_hints": BY_TEXT,
}  # fmt: skip
"""Names of Python that are documented and are not lent, each with the reason."""
NAMES = {
    **dict.fromkeys(("exec", "eval", "compile", "__import__"), "write the code itself"),
    **dict.fromkeys(
        ("getattr", "setattr", "delattr", "hasattr", "globals", "locals", "vars", "dir"),
        "name the attribute",
    ),
    **dict.fromkeys(("open", "input", "breakpoint"), "a program sees only what its Client shows"),
    **dict.fromkeys(("exit", "quit", "SystemExit", "KeyboardInterrupt"), "`return` from `run`"),
    **dict.fromkeys(("BaseException", "GeneratorExit"), "say ApiError: that is what may go wrong"),
    **dict.fromkeys(("id", "hash"), "compare the values; these differ from process to process"),
    "print": "say client.record('what', value=…), which traces and stories show",
}
"""Names of Python that an answer may not use, each with what to do instead."""
ASIDE = ("hash", "hasattr")
"""Those of them that code of Python which an answer's class inherits may need all the same."""
SETTABLE = (
    list, dict, set, bytearray, deque, defaultdict, Counter, OrderedDict, UserDict, UserList,
)  # fmt: skip
SETTABLE_NAME = "__settable__"


def lent_of(module: str, level: str) -> dict[str, Any]:
    """Return what of that module is lent, by name; `level` is the module of the level."""
    values = vars(sys.modules[module])
    if module == "testbed":
        names = list(PROGRAMS)
    elif module == level:
        names = [name for name in values if name[:1] != "_"]
    else:
        public = [name for name in values if name[:1] != "_"]
        names = [name for name in values.get("__all__", public) if name[:1] != "_"]
    found = {name: getattr(sys.modules[module], name, None) for name in names}
    return {name: value for name, value in found.items() if _may_lend(module, name, value, level)}


def _may_lend(module: str, name: str, value: Any, level: str) -> bool:
    if isinstance(value, HOLDERS) or value is None or f"{module}.{name}" in KEPT_BACK:
        return False
    if module == "testbed.errors" and isinstance(value, type):
        return issubclass(value, ApiError | Crashed | Cancelled)
    if module != level:
        return True
    # The level itself imports more than a program needs, such as World; and its recipe is no
    # program's. What is not of a class or a function of ours is a plain value.
    home = getattr(value, "__module__", "")
    if home == level:
        return not (callable(value) and value.__name__ == level.rpartition(".")[2])
    if home.partition(".")[0] == "testbed":
        return any(value is each for ours in OURS for each in lent_of(ours, level).values())
    return type(value).__module__.partition(".")[0] != "testbed"


class Lent:
    """A module as an answer is given it: some names, each for ever the same."""

    __slots__ = ("__name__", "_names")

    def __init__(self, name: str, names: Mapping[str, Any]) -> None:
        object.__setattr__(self, "__name__", name)
        object.__setattr__(self, "_names", names)

    def __getattr__(self, name: str) -> Any:
        try:
            return self._names[name]
        except KeyError:
            raise AttributeError(f"{self.__name__} has no {name!r} for an answer") from None

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{self.__name__} cannot be changed")

    __delattr__ = __setattr__  # type: ignore[assignment]


def importer(level: str) -> Callable[..., Any]:
    """Return what an answer to that level imports with, in place of Python's own."""
    lent = dict[str, Lent]()

    def named(module: str) -> Lent:
        if module not in lent:
            if module not in (*OURS, *PLAIN, level):
                raise ImportError(f"an answer may not import {module}")
            names = lent_of(module, level)
            # What stands within it and is lent on its own can be named through it.
            for other in (*OURS, *PLAIN, level):
                above, _, last = other.rpartition(".")
                if above == module:
                    names[last] = named(other)
            lent[module] = Lent(module, names)
        return lent[module]

    def lend(name: str, _: object = None, __: object = None, names: Any = (), at: int = 0) -> Any:
        if at:
            raise ImportError("an answer may not import a file beside it")
        if names:
            return named(name)
        found = named(name)
        top, _, rest = name.partition(".")
        for part in reversed(rest.split(".") if rest else ()):
            found = Lent(top, {part: found}) if top not in (*OURS, *PLAIN) else named(top)
        return found

    return lend


def settable(own: str) -> Callable[[Any], Any]:
    """Return what all that is set by the module of that name is passed through: it returns a thing
    that may change, and refuses another."""

    def may_set(of: Any) -> Any:
        kind = type(of)
        is_made = kind.__module__ == own and not issubclass(kind, type | Enum | Actor)
        if kind in SETTABLE or is_made or isinstance(of, BaseException):
            return of
        name = of.__name__ if isinstance(of, type) else kind.__name__
        raise ScenarioError(
            f"it sets something of {name}, and two programs, and two lives of one program, would "
            "share it.\nNext: keep it in a variable inside `run`."
        )

    return may_set


class _Guarded(ast.NodeTransformer):
    """Passes all that the code sets an attribute or an item of through `settable`."""

    def visit(self, node: ast.AST) -> ast.AST:
        """The node, guarded, with all that stands in it."""
        self.generic_visit(node)
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            guard = ast.copy_location(ast.Name(SETTABLE_NAME, ast.Load()), node.value)
            node.value = ast.copy_location(ast.Call(guard, [node.value], []), node.value)
        return node


def run_file(level: str) -> Callable[[ModuleType, Path], None]:
    """Return what runs the file of an answer to that level as a module."""

    def run(module: ModuleType, file: Path) -> None:
        given = {
            name: value
            for name, value in vars(builtins).items()
            if name not in NAMES or name in ASIDE
        }
        given["__import__"] = importer(level)
        given[SETTABLE_NAME] = settable(module.__name__)
        vars(module)["__builtins__"] = given
        tree = ast.parse(read_bytes(file), str(file))
        _Guarded().visit(tree)
        # The text was read before: nothing in it is run but what may stand there.
        exec(compile(tree, str(file), "exec", dont_inherit=True), vars(module))

    return run
