"""What the operating system refuses is trouble of the user's: told in a line, never as our bug."""

from __future__ import annotations

import ast
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from testbed.cli import main
from testbed.cli.refused import refused_by_system

ROOT = Path(__file__).parents[2]
Before = Callable[[], object]


def called(
    *words: str, out: str = os.devnull, before: Before | None = None, **env: str
) -> tuple[int, str]:
    """The exit code of a command in a process of its own, and what it has told."""
    with open(out, "w", encoding="utf-8") as file:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "testbed", *words], stdout=file, stderr=subprocess.PIPE,
            text=True, preexec_fn=before, env={**os.environ, **env}, check=False,
        )  # fmt: skip
    return done.returncode, done.stderr


def gone(path: Path) -> None:
    """Remove the folder that this process is in."""
    path.mkdir()
    os.chdir(path)
    path.rmdir()


FEW = partial(resource.setrlimit, resource.RLIMIT_NOFILE, (12, 12))


@pytest.mark.parametrize("words", ["list", "list --json", "run lost_update", "--help"])
def test_a_full_disk_is_told(words: str) -> None:
    """Where standard output goes; whatever the verdict would have been."""
    code, told = called(*words.split(), out="/dev/full")
    assert code == 2
    assert told.startswith("SystemRefused: ")
    assert "No space left on device.\nNext: make room" in told
    assert told.count("\n") == 2


def test_a_closed_output_is_told_before_anything_is_done() -> None:
    """Else the first file that is opened would get its number, and be printed into."""
    code, told = called("run", "lost_update", before=partial(os.close, 1))
    assert (code, told.partition("\n")[0]) == (2, "SystemRefused: standard output is closed.")


@pytest.mark.parametrize("before", [None, partial(os.close, 2)])
def test_what_cannot_be_told_changes_no_exit_code(before: Before | None) -> None:
    """Standard error may be full or closed."""
    words = [sys.executable, "-P", "-m", "testbed", "run", "none"]
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(words, stderr=full, preexec_fn=before, check=False)
    assert done.returncode == 2


def test_too_few_descriptors_are_told() -> None:
    """Before a World is played, or when processes are to share the work."""
    code, told = called("search", "double_bind", "--jobs", "4", "--runs", "9", before=FEW)
    assert (code, told) == (
        2, "SystemRefused: Too many open files.\n"
        "Next: allow more, as with `ulimit`, or ask for less, as with --jobs 1.\n",
    )  # fmt: skip


@pytest.mark.parametrize("words", ["run lost_update", "sweep lost_update --fault crash --jobs 2"])
def test_a_folder_that_is_gone_is_told(words: str, tmp_path: Path) -> None:
    """Whoever first needs it."""
    code, told = called(*words.split(), before=partial(gone, tmp_path / "gone"))
    assert code == 2
    assert told.endswith("SystemRefused: the current folder is gone.\n"
                         "Next: go to another one, and run it there.\n")  # fmt: skip


def test_a_home_that_cannot_be_written_is_told() -> None:
    """`testbed learn` keeps there what is passed."""
    code, told = called("learn", "1", "--guess", "1", HOME="/dev/null/none")
    assert code == 2
    assert told.startswith("ScenarioError: /dev/null/none/.local/state/testbed/learn.json: ")
    assert "Next: name " in told


@pytest.mark.parametrize(
    "words",
    ["check .", "replay it.race.yaml", "replay it.jsonl", "certify it.jsonl", "explain it.jsonl",
     "run lost_update --trace it.jsonl", "manifest it.yaml", "learn 1 --progress it.jsonl",
     "search lost_update --ledger it.jsonl"],
)  # fmt: skip
def test_a_pipe_is_no_file(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is refused wherever a file is named or found; what waits for it here never ends."""
    monkeypatch.chdir(tmp_path)
    for name in ("it.race.yaml", "it.jsonl", "it.yaml"):
        os.mkfifo(name)
    assert main(words.split()) == 2
    told = "".join(capsys.readouterr())
    assert "it is a pipe" in told or "it is no regular file" in told


def test_only_what_the_system_refuses_is_told_so() -> None:
    """A wrong number of a descriptor, or a file that nobody names, is a bug of ours."""
    assert not refused_by_system(OSError(9, "Bad file descriptor"))
    assert not refused_by_system(FileNotFoundError(2, "No such file or directory"))
    assert not refused_by_system(ValueError("none"))
    wrapped = RuntimeError("x")
    wrapped.__cause__ = ExceptionGroup("y", [OSError(24, "Too many open files")])
    assert refused_by_system(wrapped).startswith("Too many open files.\nNext: allow more")
    assert refused_by_system(MemoryError()).startswith("there is no memory left.\n")


def test_all_that_is_printed_goes_through_one_place() -> None:
    """There it is made printable, and there it is told if it cannot be printed."""
    for path in sorted((ROOT / "testbed" / "cli").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in ("echo", "secho"):
                assert path.name == "output.py", f"{path}:{node.lineno}: use say or tell"
