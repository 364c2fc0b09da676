"""The user's code: what a `FILE.py:function` and a `module:name` stand for, imported."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from testbed.code.hidden import check_shown
from testbed.code.whose import readers_frame
from testbed.errors import HarnessError, ScenarioError, UnknownName

PACKAGE = "scenarios"
"""The package of the scenarios with short names."""
LEVELS = f"{PACKAGE}.levels"
"""The room of the levels of `testbed learn`, which `testbed list` does not show."""
OWN_LEVELS = "TESTBED_LEVELS"
"""The environment variable that names a folder with levels of the user's own."""
FILE = re.compile(r"(?P<file>.*\.py)(:(?P<function>.*))?")


def in_file(name: str) -> tuple[str, str]:
    """The folder and the `mine:race` that `shop/mine.py:race` stands for; no folder if the name is
    not that of a file. In a package it is the folder around that, and `package.mine:race`."""
    match = FILE.fullmatch(name)
    if match is None:
        return "", name
    file = match["file"]
    if not Path(file).is_file():
        raise ScenarioError(
            f"{file}: there is no such file.\n"
            "Next: name a Python file and a function in it, as in shop/mine.py:race."
        )
    if not match["function"]:
        raise ScenarioError(
            f"{file}: which function or class of it is meant?\n"
            f"Next: name that, too, as in {file}:race."
        )
    folder, stem = Path(os.path.abspath(file)).parent, Path(file).stem
    parts = [] if stem == "__init__" else [stem]
    while (folder / "__init__.py").is_file():
        folder, parts = folder.parent, [folder.name, *parts]
    if not parts or not all(part.isidentifier() for part in parts):
        raise ScenarioError(
            f"{file}: {'.'.join(parts)!r} is no name of a module, so nothing can import it.\n"
            "Next: name the file with letters, digits and underscores."
        )
    shown = str(folder) if os.path.isabs(file) else os.path.relpath(folder)
    return shown, f"{'.'.join(parts)}:{match['function']}"


def import_first_from(*folders: str) -> None:
    """Let imports look into these folders first, then into the current one, then elsewhere."""
    for place in ("", *(os.path.abspath(folder) for folder in reversed(folders))):
        if place in sys.path:
            sys.path.remove(place)
        sys.path.insert(0, place)


def standing_at(name: str) -> Any:
    """The function or class at a `module:name` of the user's own, imported from the current folder
    or from what is installed."""
    module, attribute = imported(name), name.partition(":")[2]
    if attribute not in vars(module):
        here = [n for n, value in vars(module).items() if _is_of(value, module.__name__)]
        see = "name one of these, or write it there"
        raise UnknownName(f"function or class of {module.__name__}", attribute, here, see=see)
    return vars(module)[attribute]


def imported(name: str) -> ModuleType:
    """The module of a `module:name`. What is wrong with it is told with the line to mend."""
    module_name = name.partition(":")[0]
    if "" not in sys.path and module_name.partition(".")[0] != PACKAGE:
        sys.path.insert(0, "")
    try:
        return importlib.import_module(module_name)
    except HarnessError:
        raise
    except (Exception, SystemExit) as error:
        raise ScenarioError(
            f"{name}: the module {module_name!r} cannot be imported: "
            f"{type(error).__name__}: {error}{_next_of_import(module_name, error)}."
        ) from error


def our_scenarios() -> ModuleType:
    """The package of the scenarios with short names; PackageHidden if a folder of the user's stands
    in its place."""
    package = imported(PACKAGE)
    check_shown(package)
    return package


def levels_package() -> ModuleType:
    """The package of the levels, which also finds those in the user's own folder; ScenarioError if
    there is no such folder."""
    package = imported(LEVELS)
    if own := os.environ.get(OWN_LEVELS):
        folder = os.path.abspath(own)
        if not os.path.isdir(folder):
            raise ScenarioError(
                f"{OWN_LEVELS}={own}: there is no such folder.\n"
                "Next: name the folder that your levels stand in, one file each."
            )
        if folder not in package.__path__:
            package.__path__.append(folder)
    return package


def _next_of_import(module_name: str, error: BaseException) -> str:
    """Where its import failed, and what to do: it was not found, or a line of it is wrong."""
    if isinstance(error, ModuleNotFoundError) and f"{module_name}.".startswith(f"{error.name}."):
        return ".\nNext: run from the folder that holds it, or install it"
    place = readers_frame(traceback.extract_tb(error.__traceback__))
    if place is None or isinstance(error, SyntaxError):
        return ".\nNext: mend it, or name another module"
    of_names = "; docs/api.md and docs/objects.md say where each name is"
    see = of_names if isinstance(error, ImportError) else ""
    return f" ({place.filename}, line {place.lineno}).\nNext: mend that line{see}"


def _is_of(value: object, module_name: str) -> bool:
    is_made = inspect.isfunction(value) or inspect.isclass(value)
    return is_made and value.__module__ == module_name
