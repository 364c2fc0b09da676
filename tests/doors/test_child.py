"""Other processes: each is started so that no file of the current folder hides a module."""

from __future__ import annotations

import ast
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from testbed.child import can_fork, child_command, child_env, forked, spawned
from tests.each_row import each_row

ROOT = Path(__file__).parent.parent.parent
STARTS = {"Popen", "run", "call", "check_call", "check_output", "getoutput", "getstatusoutput"}
OTHER_STARTS = {
    "os": {"system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp", "startfile"},
    "pty": {"spawn", "fork"},
    "runpy": {"run_module", "run_path"},
}
DOOR = "child_command"
THEIRS = {"keeper.py"}
"""What starts a command of the user's own, which is no Python of ours."""
FORKS = ("sitting.py", "os.fork")
"""A process that has run no code of an answer forks one for each part of its check, which gets none
of the pipes of a Child."""


def starts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Each start of another process that does not go through `child_command`: its line, and how."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        home = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
        name = node.func.attr
        if home == "subprocess" and name in STARTS and DOOR not in ast.unparse(node):
            yield node.lineno, f"subprocess.{name}"
        elif name in OTHER_STARTS.get(home, ()) or (
            home == "os" and name.startswith(("exec", "spawn"))
        ):
            yield node.lineno, f"{home}.{name}"


def hidden(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Each import by which such a start could go under another name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names = {alias.name for alias in node.names}
            if node.module == "subprocess" or names & OTHER_STARTS.get(str(node.module), set()):
                yield node.lineno, f"from {node.module} import"
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname and alias.name in ("subprocess", *OTHER_STARTS):
                    yield node.lineno, f"import {alias.name} as {alias.asname}"


def test_every_process_is_started_through_the_door() -> None:
    """Of all files that a user runs; and there are some."""
    found, through = [], 0
    for package in ("testbed", "actors", "scenarios"):
        for path in sorted((ROOT / package).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            tree = ast.parse(text)
            if path.name not in THEIRS:
                each_start = [(path.name, *each) for each in (*starts(tree), *hidden(tree))]
                found += [each for each in each_start if (each[0], each[2]) != FORKS]
            through += text.count(f"{DOOR}(") - (path.name == "child.py")
    assert not found, "start it with child_command and child_env, see testbed/child.py"
    assert through >= 2


def test_only_the_door_forks() -> None:
    """Under whatever name: what a fork must let go of stands there alone. The guard of an answer
    names it, to refuse it."""
    found = [
        path.name
        for package in ("testbed", "actors", "scenarios")
        for path in sorted((ROOT / package).rglob("*.py"))
        if re.search(r"""["']fork["']|os\.fork""", path.read_text(encoding="utf-8"))
    ]
    assert found == ["child.py", "guard.py", FORKS[0]]


@each_row(
    "code",
    [
        "import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'testbed'])",
        "import subprocess\nsubprocess.Popen(['python3', '-m', 'testbed'])",
        "import os\nos.system('python -m testbed')",
        "import os\nos.execv('python', ['-m'])",
        "from subprocess import run",
        "import subprocess as sub",
    ],
)
def test_another_start_is_found(code: str) -> None:
    """However it is written."""
    tree = ast.parse(code)
    assert [*starts(tree), *hidden(tree)]


def test_a_child_imports_what_its_parent_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the same order, and the current folder last; what is given beside goes along."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    assert child_command("testbed")[1:] == ["-P", "-m", "testbed"]
    code = "import json, os, sys; print(json.dumps([sys.path, os.environ['WORD']]))"
    done = subprocess.run(
        [*child_command("testbed")[:2], "-c", code],
        env=child_env(WORD="a"), capture_output=True, text=True, check=True,
    )  # fmt: skip
    path, word = json.loads(done.stdout)
    ours = [folder for folder in sys.path if folder]
    places = [path.index(folder) for folder in dict.fromkeys(ours)]
    assert places == sorted(places)
    assert path.index(str(tmp_path)) > 0
    assert all(path.index(str(tmp_path)) > path.index(each) for each in ours if "lib" in each)
    assert word == "a"


needs_fork = pytest.mark.skipif(sys.platform != "linux", reason="only there a process is forked")


@needs_fork
def test_a_fork_answers_in_a_session_of_its_own(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """What it prints goes to standard error; what was buffered before is written once."""

    def serve(asked: IO[bytes], answers: IO[bytes]) -> None:
        sys.stdout.write("printed\n")
        answers.write(f"{os.getsid(0) == os.getpid()} {sys.argv}\n".encode() + asked.readline())

    sys.stdout.write("before\n")
    child = forked(serve, "worker")
    child.send(b"asked\n")
    assert child.receive() == b"True ['worker']\nasked\n"
    assert child.receive() == b""
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert child.is_gone()
    assert child.end() == 0
    assert capfd.readouterr() == ("before\n", "printed\n")


@needs_fork
def test_no_fork_holds_the_pipes_of_another() -> None:
    """So each ends with its own, whatever others do; and one that is killed says so."""

    def serve(asked: IO[bytes], answers: IO[bytes]) -> None:
        answers.write(b"up")
        answers.flush()
        asked.read()

    children = [forked(serve, "worker") for _ in range(3)]
    assert [child.receive() for child in children] == [b"up"] * 3
    assert not any(child.is_gone() for child in children)
    held = [f"/proc/{one.pid}/fd" for one in children]
    pipes = {os.readlink(f"/proc/self/fd/{end}") for one in children for end in (one.to, one.out)}
    for folder in held:
        theirs = [os.readlink(f"{folder}/{end}") for end in os.listdir(folder)]
        assert len(pipes & set(theirs)) <= 2
    assert [child.end() for child in children] == [-9, -9, -9]


@needs_fork
def test_a_fork_that_fails_shows_why_and_does_nothing_of_its_parent(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Neither `finally` nor the tests that come next."""

    def serve(_: IO[bytes], __: IO[bytes]) -> None:
        raise ZeroDivisionError("of its own")

    try:
        child = forked(serve, "worker")
        assert child.receive() == b""
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert child.end() == 1
    finally:
        sys.stdout.write("once\n")
    out, err = capfd.readouterr()
    assert out == "once\n"
    assert err.endswith("ZeroDivisionError: of its own\n")


@needs_fork
def test_where_no_more_processes_may_be_nothing_is_left_of_the_attempt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The pipes are closed, and Ctrl-C is heard as before."""

    def refuse() -> int:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr("testbed.child._fork", refuse)
    open_before = sorted(os.listdir("/proc/self/fd"))
    blocked_before = signal.pthread_sigmask(signal.SIG_BLOCK, set())
    with pytest.raises(BlockingIOError, match="no more processes"):
        forked(lambda *_: None, "worker")
    assert sorted(os.listdir("/proc/self/fd")) == open_before
    assert signal.pthread_sigmask(signal.SIG_BLOCK, set()) == blocked_before


def test_one_that_was_spawned_says_that_it_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where Python has no `waitid`, as on macOS before 3.13."""
    monkeypatch.delattr("os.waitid", raising=False)
    child = spawned("testbed.search.engines.worker")
    assert not child.is_gone()
    os.kill(child.pid, signal.SIGKILL)
    while not child.is_gone():
        time.sleep(0.01)
    assert child.end() == -signal.SIGKILL


def test_what_has_other_threads_is_not_forked() -> None:
    """What they hold would stay locked."""
    over = threading.Event()
    other = threading.Thread(target=over.wait)
    other.start()
    try:
        assert not can_fork()
    finally:
        over.set()
        other.join()


@needs_fork
def test_what_a_child_has_spent_is_its_own_processor_time() -> None:
    """Waiting spends none, whatever else the machine does."""

    def serve(asked: IO[bytes], answers: IO[bytes]) -> None:
        begun_s = time.process_time()
        while time.process_time() - begun_s < 0.2:
            pass
        answers.write(b"done")
        answers.flush()
        asked.read()

    child = forked(serve, __file__)
    try:
        assert child.receive() == b"done"
        spent_s = child.spent_s()
        time.sleep(0.3)
        assert 0.2 <= spent_s <= child.spent_s() < spent_s + 0.1
    finally:
        child.end()
