"""A copy of the packages to which a test adds files, and what the testbed of that copy prints."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
NOT_NEEDED = shutil.ignore_patterns("*-pytest-*.pyc")
"""What Python has compiled comes along: else each process in the copy would compile it again."""


SOURCES = shutil.ignore_patterns("__pycache__")


def copy_with(folder: Path, files: Mapping[str, str], *, is_run: bool = True) -> None:
    """Put a copy of the packages into that folder, and these files with it; only the sources if
    nothing of it is run."""
    ignore = NOT_NEEDED if is_run else SOURCES
    for package in ("testbed", "actors", "scenarios"):
        shutil.copytree(ROOT / package, folder / package, ignore=ignore)
    for path, text in files.items():
        (folder / path).write_text(text)


def call_copy(folder: Path, *words: str) -> tuple[int, str]:
    """The exit code of that copy's `testbed`, and all that it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "testbed", *words],
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=300,
    )
    return done.returncode, done.stdout
