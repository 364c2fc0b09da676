"""Pages of docs/: their blocks of code, and their commands, called and shown as a page has them."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

PROGRESS = re.compile(r"^([\d,]+ runs? · [\d,]+/s · .*|[a-z][a-z ]*: [\d,]+ of [\d,]+)\n", re.M)
"""What a machine that is slow is told meanwhile, and another is not."""


BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block, and what it is said to print."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def call(command: str, folder: Path) -> tuple[int, str]:
    """Run it in that folder, as a reader would; its exit code, and what it prints in all, but for
    how far it is."""
    program, *words = shlex.split(command)
    assert program == "testbed"
    done = subprocess.run(
        [sys.executable, "-m", "testbed", *words],
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=300,
    )
    return done.returncode, PROGRESS.sub("", done.stdout)


def as_shown(output: str) -> re.Pattern[str]:
    """What is left out may be anything, across lines."""
    return re.compile(".*".join(map(re.escape, output.rstrip("\n").split("…"))) + r"\n?", re.DOTALL)
