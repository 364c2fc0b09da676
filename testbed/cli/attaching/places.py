"""Places: a new folder for each play with real programs. No earlier one is written over."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from testbed.errors import ScenarioError

ATTACHED = "attached"
"""Where the folders of plays go by default."""
TRACE = "trace.jsonl"


class Places:
    """The folders `1`, `2`, … in one folder, each with the trace of a play and its programs' logs;
    the first that is not there yet comes next."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._numbers = count(1)
        self._here: Path | None = None

    def next(self) -> Path:
        """Make the next folder, which is `here` from now on."""
        for number in self._numbers:
            path = self.folder / str(number)
            try:
                path.mkdir(parents=True)
            except FileExistsError:
                if not self.folder.is_dir():
                    raise self._refused("is no folder") from None
                continue
            except OSError as error:
                raise self._refused(f"cannot be written: {error.strerror}") from error
            self._here = path
            return path
        raise AssertionError("there is a next number")

    def here(self) -> Path:
        """The folder of this play."""
        return self.folder if self._here is None else self._here

    def _refused(self, why: str) -> ScenarioError:
        return ScenarioError(
            f"--out {self.folder}: {why}.\n"
            "Next: name a folder that you may write, on a disk with room."
        )
