"""Trust: which code a file may make the testbed run; code that only a file names is never imported.

A race file or a trace names a scenario, and a scenario is code. The file may come from elsewhere,
such as from a bug report. To import a module runs it, so if its name were enough, a file could run
any module on the machine, or one that was put beside it. So a scenario is run only if

- it is installed with the testbed (`lost_update`, `scenarios.basics.lost_update:lost_update`),
- it lies in a folder that the user has named with `--scenario-path`, or
- the user has named the scenario itself with `--scenario`.

Everything that reads such a file asks here before it imports anything.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from importlib.machinery import PathFinder
from itertools import chain
from pathlib import Path

import attrs

from testbed.errors import HarnessError, ScenarioError, UnknownName
from testbed.policy import words
from testbed.world.scenario import Scenario, find
from testbed.world.users_code import LEVELS, OWN_LEVELS, PACKAGE, import_first_from, in_file

NAME = re.compile(r"\w+(\.\w+)*(:\w+)?")
INSTALLED = Path(__file__).resolve().parent.parent.parent / PACKAGE
"""The folder of the scenarios that come with the testbed; none of the user's own is in it."""


@attrs.frozen
class Trust:
    """The code that the user trusts in addition to what is installed."""

    scenario: str | None = None
    """The user's own scenario, by name: `--scenario`."""
    folders: tuple[str, ...] = ()
    """The folders of the user's own scenarios: `--scenario-path`."""
    file: str = ""
    """The same scenario as `FILE.py:function`, if the user has named it so."""

    @property
    def words(self) -> list[str]:
        """The command-line options that say so, to be pasted."""
        own = ["--scenario", self.file or self.scenario] if self.scenario is not None else []
        return own + [word for folder in self.folders for word in ("--scenario-path", folder)]

    def naming(self, scenario: str) -> Trust:
        """Return the trust that is needed for a file that names this scenario.

        A scenario of the user's own is found in the folders, or it must be named.
        """
        is_own = ":" in scenario and not is_installed(scenario)
        if own_file := by_file(scenario, self.folders):
            return Trust(scenario, (), own_file)
        is_named = is_own and (not self.folders or self.scenario is not None)
        file = self.file if is_named and scenario == self.scenario else ""
        return attrs.evolve(self, scenario=scenario if is_named else None, file=file)


def by_file(scenario: str, folders: Iterable[str]) -> str:
    """Return the scenario as `FILE.py:function`, as people name it on the command line, if it is
    the user's own and lies in one of these folders; else an empty string."""
    if ":" not in scenario or is_installed(scenario):
        return ""
    for folder in folders:
        file = _file_in(folder, scenario)
        if file is None:
            continue
        here = Path.cwd().resolve()
        shown = str(file.relative_to(here) if file.is_relative_to(here) else file)
        named = f"{shown}:{scenario.partition(':')[2]}"
        place, module = in_file(named)
        if module == scenario and Path(place).resolve() == Path(folder).resolve():
            return named
    return ""


def words_for(scenario: str, folders: Iterable[str]) -> list[str]:
    """Return the words that name a scenario on the command line: by its file if that will do."""
    folders = tuple(folders)
    if named := by_file(scenario, folders):
        return [named]
    return [scenario, *(word for folder in folders for word in ("--scenario-path", folder))]


def trust_in(scenario: str, folders: Iterable[str] = ()) -> Trust:
    """Return the trust that it takes to run that scenario again: its folders, or its name."""
    return Trust(None, tuple(folders)).naming(scenario)


def trust_named(scenario: str | None, folders: Iterable[str] = ()) -> Trust:
    """Return the trust in a scenario that the user has named, also by its file, and in folders."""
    name = None if scenario is None else in_file(scenario)[1]
    file = scenario if scenario is not None and name != scenario else ""
    return Trust(name, folders_of(folders), file)


def line_for(command: str, path: str, trust: Trust, *more: str) -> str:
    """Return the line to paste that runs a command on a file, with the trust that it needs."""
    return shlex.join(["testbed", command, path, *trust.words, *words(), *more])


def line_naming(command: str, path: str, scenario: str) -> str:
    """Return the line to paste that runs a command on a file and names the scenario in it: by its
    own file if that lies here or beside the file, by its module if that can be imported, else by
    its file, of which only the folder is left for the user to fill in."""
    module, _, function = scenario.partition(":")
    trust = trust_in(scenario)
    if trust.scenario is not None and NAME.fullmatch(scenario):
        named = by_file(scenario, (".", str(Path(path).parent)))
        if not named and _origin(module.partition(".")[0]) is None:
            named = f"FOLDER/{module.replace('.', '/')}.py:{function}"
        trust = attrs.evolve(trust, file=named)
    return line_for(command, path, trust)


@attrs.frozen
class Named:
    """A scenario that a file names."""

    name: str
    where: str
    """The file and the line."""
    says: str
    """What the file says about it, up to its name: `race.jsonl was recorded from`."""
    again: str
    """The line to paste that names it, too."""
    refusal: type[HarnessError]
    """The error that is raised if it is no name of a scenario at all."""
    advice: str = "if you trust that code, name it: "
    """What to do to have it run; `again` follows."""


def allowed(named: Named, trust: Trust) -> Scenario:
    """Return that scenario if its code may be run; otherwise raise, with nothing imported.

    1. A name must look like one, before anything is asked of the import system.
    2. If the user has named a scenario, it must be this one; then it is imported.
    3. An installed one is imported, unless another folder of that name stands before it.
    4. One in a folder that the user has named is imported from there, and only from there.
    5. Anything else is refused, with the line that would allow it.
    """
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
        return find(trust.file or name)
    if is_installed(name):
        _check_shadow()
        return find(name)
    for folder in trust.folders:
        if ":" in name and (file := _file_in(folder, name)) is not None:
            return _from(folder, file, name)
    if ":" not in name:
        see = "testbed list, or name one of your own as --scenario FILE.py:function"
        known = [file.stem for file in _installed() if not file.stem.startswith("_")]
        raise named.refusal(f"{named.where}: {UnknownName('scenario', name, known, see=see)}")
    searched = f" and does not lie in {', '.join(trust.folders)}" if trust.folders else ""
    raise ScenarioError(
        f"{named.says} {name}, which is not one of `testbed list`{searched}.\n"
        f"Next: {named.advice}{named.again}"
    )


def is_installed(name: str) -> bool:
    """Whether it comes with the testbed, by its short name or as `scenarios.module:function`, of
    which the module may stand in a room of `scenarios`, or be one."""
    module, _, function = name.partition(":")
    package, *parts = module.split(".")
    if function:
        place = INSTALLED.joinpath(*parts)
        is_there = place.with_suffix(".py").is_file() or (place / "__init__.py").is_file()
        is_level = module in [f"{LEVELS}.{file.stem}" for file in _own_levels()]
        return package == PACKAGE and 0 < len(parts) <= 2 and (is_there or is_level)
    return not parts and any(file.stem == module for file in _installed())


def _installed() -> Iterator[Path]:
    """The files of the scenarios that come with the testbed, in `scenarios` and in its rooms; and
    of the levels in the user's own folder, which the user has named."""
    return chain(INSTALLED.glob("*.py"), INSTALLED.glob("*/*.py"), _own_levels())


def _own_levels() -> Iterator[Path]:
    own = os.environ.get(OWN_LEVELS)
    return Path(own).glob("*.py") if own else iter(())


def _check_shadow() -> None:
    """Refuse if `scenarios` means another folder, such as one in the current folder.

    Otherwise the name of an installed scenario would run a file that only lies where the user is.
    """
    found = _origin(PACKAGE)
    if found is not None and found.parent != INSTALLED:
        raise ScenarioError(
            f"{found.parent} stands before {INSTALLED}, and would be run in its place.\n"
            "Next: call it from another folder, or name your own scenario with --scenario."
        )


def _origin(module: str) -> Path | None:
    """Return the file that an import of it would run, or has run; None if there is none."""
    if module in sys.modules:
        origin = getattr(sys.modules[module], "__file__", None)
    else:
        spec = PathFinder.find_spec(module)
        origin = spec.origin if spec is not None else None
    return None if origin is None else Path(origin).resolve()


def _file_in(folder: str, name: str) -> Path | None:
    """Return the file of that module in that folder; None if there is none, or it lies outside."""
    root = Path(folder).resolve()
    stem = root.joinpath(*name.partition(":")[0].split("."))
    for file in (stem.with_name(f"{stem.name}.py"), stem / "__init__.py"):
        if file.is_file() and file.resolve().is_relative_to(root):
            return file.resolve()
    return None


def _from(folder: str, file: Path, name: str) -> Scenario:
    """Return the scenario in that file, with its folder before all others in `sys.path`."""
    # A module in the current folder must not stand before the one that the user trusts.
    root = str(Path(folder).resolve())
    import_first_from(root)
    module = name.partition(":")[0]
    top = module.partition(".")[0]
    # A module of that name may have been imported before, from elsewhere. Then `find` would take
    # that one, so the origin is checked. A submodule not imported yet cannot be looked up without
    # importing its package; it is found in the package, and where that is was checked.
    for part, expected in ((top, root), (module, file)):
        found = _origin(part) if part == top or part in sys.modules else None
        if found is not None and not found.is_relative_to(expected):
            raise ScenarioError(
                f"{name} in {folder}: another module {part!r} comes first, {found}.\n"
                "Next: give the folder's module another name."
            )
    return find(name)


def folders_of(given: Iterable[str]) -> tuple[str, ...]:
    """Return the folders that were given; raise if one of them is no folder."""
    folders = tuple(given)
    for folder in folders:
        if not Path(folder).is_dir():
            raise ScenarioError(
                f"--scenario-path {folder}: expected a folder.\n"
                "Next: give the folder that holds the module of your scenario."
            )
    return folders
