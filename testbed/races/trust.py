"""Allowed: whose code a file may make the testbed run; what a file alone names is never imported.

A file from elsewhere names a scenario, and a scenario is code. It is run if it is installed with
the testbed (`lost_update`, `scenarios.lost_update:lost_update`); if it lies in a folder that the
user has named; or if the user has named it himself. Everything that reads such a file asks here.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable
from importlib.machinery import PathFinder
from pathlib import Path

import attrs

from testbed.errors import HarnessError, ScenarioError, UnknownName
from testbed.policy import words
from testbed.world.scenario import PACKAGE, Scenario, find

NAME = re.compile(r"\w+(\.\w+)*(:\w+)?")
INSTALLED = Path(__file__).resolve().parent.parent.parent / PACKAGE
"""Where the scenarios stand that come with this testbed, and nothing of the user's."""


@attrs.frozen
class Trust:
    """What the user has vouched for, beside what is installed."""

    scenario: str | None = None
    """One of his own, by name: `--scenario`."""
    folders: tuple[str, ...] = ()
    """Where his own are: `--scenario-path`."""

    @property
    def words(self) -> list[str]:
        """The options that say so, to be pasted."""
        own = ["--scenario", self.scenario] if self.scenario is not None else []
        return own + [word for folder in self.folders for word in ("--scenario-path", folder)]

    def naming(self, scenario: str) -> Trust:
        """The same for what names that scenario: one's own is found in the folders, or named."""
        is_own = ":" in scenario and not is_installed(scenario)
        is_named = is_own and (not self.folders or self.scenario is not None)
        return attrs.evolve(self, scenario=scenario if is_named else None)


def trust_in(scenario: str, folders: Iterable[str] = ()) -> Trust:
    """What it takes to run that one again: where it was found, or its name if it is one's own."""
    return Trust(None, tuple(folders)).naming(scenario)


def line_for(command: str, path: str, trust: Trust, *more: str) -> str:
    """The line to paste that does this to that file, and may run what the file names."""
    return shlex.join(["testbed", command, path, *trust.words, *words(), *more])


@attrs.frozen
class Named:
    """A scenario that a file names."""

    name: str
    where: str
    """The file, and the line."""
    says: str
    """What the file says of it, up to its name: `race.jsonl was recorded from`."""
    again: str
    """The line to paste that names it as well."""
    refusal: type[HarnessError]
    """What is raised if that is no name at all."""
    advice: str = "if you trust that code, name it: "
    """What to do to have it run: this, then that line."""


def allowed(named: Named, trust: Trust) -> Scenario:
    """That scenario, if its code may be run; otherwise an error, and nothing was imported."""
    name = named.name
    if not NAME.fullmatch(name):
        raise named.refusal(
            f"{named.where}: {name!r} is no name of a scenario: expected one such as "
            "lost_update, or module:function.\n"
            "Next: record one with `testbed run SCENARIO --trace FILE`."
        )
    if trust.scenario is not None and trust.scenario != name:
        raise ScenarioError(
            f"--scenario {trust.scenario}: {named.says} {name}.\nNext: {named.again}"
        )
    if trust.scenario == name and ":" in name:
        return find(name)
    if is_installed(name):
        _check_shadow()
        return find(name)
    for folder in trust.folders:
        if ":" in name and (file := _file_in(folder, name)) is not None:
            return _from(folder, file, name)
    if ":" not in name:
        see = "testbed list, or name one of your own as module:function"
        known = [file.stem for file in INSTALLED.glob("[a-z]*.py")]
        raise named.refusal(f"{named.where}: {UnknownName('scenario', name, known, see=see)}")
    searched = f" and does not lie in {', '.join(trust.folders)}" if trust.folders else ""
    raise ScenarioError(
        f"{named.says} {name}, which is not one of `testbed list`{searched}.\n"
        f"Next: {named.advice}{named.again}"
    )


def is_installed(name: str) -> bool:
    """Whether it is one of those that come with the testbed, by its short name or its place."""
    module, _, function = name.partition(":")
    package, _, short = module.rpartition(".")
    if function:
        return package == PACKAGE and (INSTALLED / f"{short}.py").is_file()
    return not package and (INSTALLED / f"{module}.py").is_file()


def _check_shadow() -> None:
    """Another folder of that name, such as one in the current folder, is not what is meant."""
    found = _origin(PACKAGE)
    if found is not None and found.parent != INSTALLED:
        raise ScenarioError(
            f"{found.parent} stands before {INSTALLED}, and would be run in its place.\n"
            "Next: call it from another folder, or name your own scenario with --scenario."
        )


def _origin(module: str) -> Path | None:
    """The file that importing it would run, or has run; None if there is none."""
    if module in sys.modules:
        origin = getattr(sys.modules[module], "__file__", None)
    else:
        spec = PathFinder.find_spec(module)
        origin = spec.origin if spec is not None else None
    return None if origin is None else Path(origin).resolve()


def _file_in(folder: str, name: str) -> Path | None:
    """The file in that folder that a module of that name is; links that lead out are not in it."""
    root = Path(folder).resolve()
    stem = root.joinpath(*name.partition(":")[0].split("."))
    for file in (stem.with_name(f"{stem.name}.py"), stem / "__init__.py"):
        if file.is_file() and file.resolve().is_relative_to(root):
            return file.resolve()
    return None


def _from(folder: str, file: Path, name: str) -> Scenario:
    """The scenario in that file. Its folder comes before all others, also the current one."""
    root = str(Path(folder).resolve())
    for place in ("", root):
        if place in sys.path:
            sys.path.remove(place)
        sys.path.insert(0, place)
    module = name.partition(":")[0]
    top = module.partition(".")[0]
    for part, expected in ((top, root), (module, file)):
        found = _origin(part) if part == top or part in sys.modules else None
        if found is not None and not found.is_relative_to(expected):
            raise ScenarioError(
                f"{name} in {folder}: another module {part!r} comes first, {found}.\n"
                "Next: give the folder's module another name."
            )
    return find(name)


def folders_of(given: Iterable[str]) -> tuple[str, ...]:
    """The folders that were given, each of which is one."""
    folders = tuple(given)
    for folder in folders:
        if not Path(folder).is_dir():
            raise ScenarioError(
                f"--scenario-path {folder}: expected a folder.\n"
                "Next: give the folder that holds the module of your scenario."
            )
    return folders
