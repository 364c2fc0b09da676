"""The folder in which a search writes race files. It overwrites only what it wrote itself."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path

from testbed import policy
from testbed.cli.races import ENDINGS
from testbed.code.files import open_out, read_bytes, write_bytes
from testbed.errors import ScenarioError
from testbed.races.race import Race
from testbed.races.trust import line_for, trust_in, words_for
from testbed.search.finding import Finding
from testbed.search.planned_run import Data, PlannedRun
from testbed.search.player import Player
from testbed.world.scenario import Scenario

FOLDER = "races"
"""Where race files go by default."""


class Races:
    """The race files of one search. Each is written as soon as its Finding is made."""

    def __init__(
        self,
        folder: str,
        recipe: Scenario,
        folders: Sequence[str] = (),
        attached: Sequence[str] = (),
    ) -> None:
        self.folders = folders
        """Where the scenario was found, if it is the user's own."""
        self.attached = attached
        """The options that name the real programs it was searched with; empty if there are none."""
        self.folder = Path(folder)
        self.recipe = recipe
        self.unwritten: dict[str, ScenarioError] = {}
        """By the name of a Finding: why it has no file."""
        self.pages: dict[str, Path | str] = {}
        """By the name of a Finding: its page, or why it has none; only if pages were asked for."""
        self._paths: dict[str, Path] = {}
        """By the name of a Finding: its file."""
        self._written: dict[Path, bytes] = {}
        """By file: what this search has written."""

    def check(self) -> None:
        """Raise ScenarioError if no file could be written there: better now than after the Runs."""
        try:
            os.lstat(self.folder)
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:
            raise ScenarioError(
                f"--out {self.folder}: {error.strerror}.\nNext: name a folder, such as --out races"
            ) from error
        places = (self.folder, *self.folder.absolute().parents)
        there = next(place for place in places if os.path.lexists(place))
        if not there.is_dir():
            raise ScenarioError(
                f"--out {self.folder}: {there} is a file; expected a folder.\n"
                f"Next: --out {there.with_suffix('')}-races"
            )
        if not os.access(there, os.W_OK | os.X_OK):
            raise ScenarioError(
                f"--out {self.folder}: nothing may be written to {there}.\n"
                "Next: name another folder, such as --out races"
            )

    def path(self, finding: Finding) -> str:
        """`races/double_bind-no_node_is_overcommitted.race.yaml`, or with a number if that file
        is there already and has another content."""
        return str(self._paths.get(finding.name) or self._free(finding))

    def kept(self, finding: Finding) -> str:
        """The file that has the name of this Finding and is not of this search; empty if none."""
        first = next(self._names(finding))
        return "" if self.path(finding) == str(first) else str(first)

    def _names(self, finding: Finding) -> Iterator[Path]:
        stem = f"{self.recipe.name.rpartition(':')[2]}-{finding.name}"
        yield self.folder / f"{stem}{ENDINGS[0]}"
        stem = f"{self.recipe.name.rpartition(':')[2]}-{finding.invariant}"
        for number in count(2):
            yield self.folder / f"{stem}-{number}{ENDINGS[0]}"

    def _free(self, finding: Finding) -> Path:
        """The first name that no other Finding has, and no file with another content: a person may
        have edited that file."""
        others = [path for name, path in self._paths.items() if name != finding.name]
        text = finding.race.encode()
        return next(
            path
            for path in self._names(finding)
            if path not in others and _bytes(path) in (None, text, self._written.get(path))
        )

    def write(self, finding: Finding) -> None:
        """Write the file whole, or not at all; it replaces the earlier file of the same Finding."""
        # A Finding is written before it is shrunk, and again after it, perhaps under another name.
        before, path = self._paths.get(finding.name), self._free(finding)
        text = finding.race.encode()
        half = path.with_name(path.name + ".new")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_bytes(half, text)
            half.replace(path)
            if before is not None and before != path and _bytes(before) == self._written[before]:
                before.unlink()
        except OSError as error:
            self.unwritten[finding.name] = ScenarioError(
                f"--out {self.folder}: {path.name} cannot be written: {error.strerror}.\n"
                "Next: name a folder you may write, on a disk with room."
            )
        finally:
            with suppress(OSError):
                half.unlink(missing_ok=True)
        self._paths[finding.name], self._written[path] = path, text

    def again(self, finding: Finding) -> str:
        """The command to paste that plays the race of this Finding."""
        trust = trust_in(self.recipe.name, self.folders)
        command = "attach" if self.attached else "replay"
        return line_for(command, self.path(finding), trust, *self.attached)

    def undecided(self, planned: PlannedRun, learned: Data, player: Player) -> str:
        """Record an undecided Run of the search; returns the command to paste that replays it, or
        nothing if it cannot be written or comes out otherwise."""
        path = self.folder / f"{self.recipe.name.rpartition(':')[2]}-undecided.jsonl"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with open_out(path) as file:
                verdict = player.record(planned, learned, file)
        except OSError:
            return ""
        if verdict.outcome != "undecided":
            path.unlink()
            return ""
        return line_for("replay", str(path), trust_in(self.recipe.name, self.folders))

    def calm(self, race: Race) -> str:
        """The command that plays the calm run with the switches of that race."""
        words = ["testbed", "run", *words_for(self.recipe.name, self.folders)]
        for name, value in race.switches.items():
            words += ["--switch", f"{name}={value}"]
        words += policy.words()
        return shlex.join(words)


def _bytes(path: Path) -> bytes | None:
    """The content of a file; None if there is none. A file that cannot be read is not ours."""
    try:
        return read_bytes(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return b"?"
