"""Pages of docs/: their blocks of code, and their commands, called and shown as a page has them."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import attrs

from tests.docs import preloaded

ROOT = Path(__file__).parent.parent.parent
CODES = {
    "Held": 0, "Violated": 1, "ScenarioError": 2, "ManifestRefused": 2, "Undecided": 3,
}  # fmt: skip
TAKE_NO_SIDE = ("compare", "demo", "explain", "keep", "mutants", "show", "sweep")
"""Commands whose exit code is not that of the last verdict that they print."""
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def page(name: str) -> str:
    """The text of that page of docs/."""
    return (ROOT / f"docs/{name}.md").read_text(encoding="utf-8")


def files(text: str) -> dict[str, str]:
    """The files that a page shows, by the names in their first lines."""
    named = re.compile(r"# ([\w/.]+\.(?:py|yaml))\n")
    return {
        first[1]: block
        for kind, block in BLOCK.findall(text)
        if kind != "console" and (first := named.match(block))
    }


def save(text: str, folder: Path) -> None:
    """Save these files, as a reader does."""
    for name, content in files(text).items():
        (folder / name).write_text(content, encoding="utf-8")


def shown(text: str) -> list[tuple[str, str]]:
    """Each command that a page shows, and what it is said to print."""
    return [each for kind, block in BLOCK.findall(text) if kind == "console"
            for each in commands(block)]  # fmt: skip


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block, and what it is said to print."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


@attrs.frozen
class Terminal:
    """A terminal in which a reader types commands."""

    testbed: subprocess.Popen[str]
    printed: Path

    def call(
        self,
        command: str,
        folder: Path,
        *,
        env: Mapping[str, str] | None = None,
        few: Sequence[str] = (),
    ) -> tuple[int, str]:
        """Type a command in that folder; its exit code, and what it prints in all."""
        program, *words = shlex.split(command)
        assert program == "testbed"
        asked = json.dumps([str(folder), words, env or {}, str(self.printed), few])
        assert self.testbed.stdin is not None
        assert self.testbed.stdout is not None
        print(asked, file=self.testbed.stdin, flush=True)
        code = int(self.testbed.stdout.readline())
        return code, self.printed.read_text(encoding="utf-8")

    def assert_prints(self, shown: Iterable[tuple[str, str]], folder: Path) -> None:
        """Type these commands, one after another: each prints what is shown, to the letter but for
        what is left out, and exits with the code of its verdict."""
        for command, output in shown:
            code, printed = self.call(command, folder)
            assert as_shown(output).fullmatch(printed), f"{command}\n{printed}"
            said = re.findall(rf"^({'|'.join(CODES)})\b", printed, re.MULTILINE)
            if said and command.split()[1] not in TAKE_NO_SIDE:
                assert code == CODES[said[-1]], f"{command}\n{printed}"


@contextmanager
def open_terminal(folder: Path) -> Iterator[Terminal]:
    """A terminal, for which `testbed` is loaded once."""
    words = [sys.executable, str(preloaded.__file__)]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, cwd=folder, text=True, stdin=pipe, stdout=pipe) as testbed:
        yield Terminal(testbed, folder / "printed")


def as_shown(output: str) -> re.Pattern[str]:
    """What is left out may be anything, across lines."""
    return re.compile(".*".join(map(re.escape, output.rstrip("\n").split("…"))) + r"\n?", re.DOTALL)
