"""What a hostile answer may do: nothing to others. Each is played for good, beside neighbours."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from testbed.cli import main
from testbed.errors import HarnessBug
from testbed.teaching.checking import KEEPS
from testbed.teaching.ladder import level_of
from testbed.teaching.marking import marking
from testbed.teaching.marking.booth import Booth
from testbed.teaching.marking.limits import LIMITED as WORDS
from testbed.teaching.marking.limits import BoothLimits
from testbed.teaching.marking.mark import AnswerMark
from testbed.teaching.marking.marking import marked
from testbed.teaching.marking.seal import opened, sealer
from testbed.teaching.marking.submissions import submissions
from tests.teaching.marking.hostile import HOSTILE, Hostile
from tests.teaching.marking.keepers import KEEPERS

LIMITS = BoothLimits(memory_mb=128, turn_s=1.0, idle_s=3.0)
UNREAD = "tests.teaching.marking.unread"
BOX = "\n\n\nclass Box:\n    lives = 0\n\n\nHELD = Box()"
"""What two programs share, and no search sees that they do."""
USUAL = (
    "writes", "reads_another", "forks", "looks_at_frames", "patches", "leaves", "forges", "loops",
    "eats_memory", "prints_below",
)  # fmt: skip
"""Those that each run of the tests plays, one of each way to be found out; `-m long` plays all."""
RIGHT = '''
"""Counts as it should."""

from scenarios.levels.lost_count import Clerk
from testbed import Client, Conflict, Unavailable
from testbed.objects import Note


class MyClerk(Clerk):
    async def run(self, client: Client) -> None:
        left = self.deliveries
        while left:
            try:
                note = await client.get(Note, self.stock)
                more = str(int(note.data["count"]) + left)
                await client.update(note.saying(count=more))
                left = 0
            except (Conflict, Unavailable):
                continue
'''
Marks = Mapping[str, AnswerMark]
X86_64 = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64",
    reason="needs Linux on x86-64: the filter knows its calls alone",
)


def _marks(root: Path, names: tuple[str, ...]) -> Marks:
    """The marks of a class: these, among them a right one and a careless one."""
    canary, answers = root / "beside" / "canary", root / "answers"
    canary.parent.mkdir(parents=True)
    canary.write_text("alive")
    careless = answers / "a_careless" / "level_1.py"
    texts = {name: HOSTILE[name].text(str(canary), str(careless)) for name in names}
    texts |= {"a_careless": level_of(1).starter(), "m_right": RIGHT}
    for name, text in texts.items():
        (answers / name).mkdir(parents=True)
        (answers / name / "level_1.py").write_text(text)
    before = _listing(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(marking, "Booth", partial(Booth, module=UNREAD))
        marks = [*marked(submissions(answers, [1]), seed=0, limits=LIMITS, jobs=2)]
    assert _listing(root) == before, "a file was changed"
    assert canary.read_text() == "alive"
    return {mark.student: mark for mark in marks}


def _listing(root: Path) -> list[tuple[str, int, int, int]]:
    found = [(path, path.stat()) for path in sorted(root.rglob("*"))]
    return [(str(path), how.st_mode, how.st_size, how.st_mtime_ns) for path, how in found]


def _assert_told(marks: Marks) -> None:
    """Each row says what its answer tried, and the neighbours are marked as ever."""
    for name in sorted(set(marks) & set(HOSTILE)):
        hostile, mark = HOSTILE[name], marks[name]
        said = (mark.mark, mark.reason[: len(hostile.reason)])
        assert said == (hostile.mark, hostile.reason), name
    assert (marks["m_right"].mark, marks["m_right"].runs) == ("passed", 115)
    assert marks["a_careless"].mark == "refused"
    assert marks["a_careless"].race.startswith("scenario: lost_count")


def test_a_hostile_answer_costs_itself_only_and_its_row_says_what_it_tried(tmp_path: Path) -> None:
    """Its mark and the reason, whichever way it went about it; before, after and beside it the
    others get theirs."""
    _assert_told(_marks(tmp_path, USUAL))


@pytest.mark.long
def test_each_hostile_answer_is_found_out(tmp_path: Path) -> None:
    """All of them, also those that try the same in another way."""
    _assert_told(_marks(tmp_path, tuple(name for name in HOSTILE if name != "loops_in_c")))


def _told(body: str, limits: BoothLimits = LIMITS) -> dict[str, Any]:
    """What is told of a hostile answer with that body."""
    told = Booth(limits, module=UNREAD).mark(1, Hostile(body, "", "").text().encode(), 0)
    return {name: told[name] for name in ("mark", "reason")}


def test_a_loop_that_no_python_code_sees_comes_to_the_end_of_its_processor_time() -> None:
    """C code takes no exception from the watchdog; the limit of the system ends the process."""
    spent = "it used more than 1 s of processor time"
    told = _told(HOSTILE["loops_in_c"].body, BoothLimits(seconds=1))
    assert told == {"mark": "failed", "reason": spent}


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: its /proc tells who sleeps")
def test_an_answer_that_waits_for_ever_is_not_decided() -> None:
    """It uses no processor time, so no limit strikes: that is no mark. One that is ready to run
    waits for the machine, and is waited for."""
    body = "lock = modules['_thread'].allocate_lock()\nlock.acquire()\nlock.acquire()"
    assert _told(body, BoothLimits(idle_s=1)) == {
        "mark": "not decided",
        "reason": "it could not be decided on this machine: it waits for something that does not "
        "come",
    }


def test_the_reason_of_a_mark_comes_of_what_happened_and_not_of_a_text() -> None:
    """An error that is called so is no lack of memory; one of the testbed's own kind that an answer
    raises is the answer's; more tasks than can ever start are refused."""
    assert _told("raise LookupError('MemoryError')")["reason"].startswith(
        "alpha/main died of LookupError: MemoryError at level_1.py:"
    )
    told = _told("raise modules['testbed.errors'].HarnessBug('it has passed with honours')")
    said = "MyClerk raises HarnessBug, which is for the testbed alone"
    assert told == {"mark": "refused", "reason": said}
    told = _told("async def f(): pass\nfor n in range(10**6): client.spawn(f't{n}', f)")
    assert told["mark"] == "refused"
    assert "alpha has 600 tasks and spawns t599: expected no more" in told["reason"]


def test_a_lock_that_programs_share_does_not_pass() -> None:
    """All its Runs hold, but a clerk that is played in a process of its own goes on otherwise."""
    told = Booth(LIMITS, module=UNREAD).mark(1, KEEPERS["a dict of json"].text.encode(), 0)
    assert (told["mark"], told["runs"]) == ("refused", 85)
    assert told["reason"].startswith(f"{KEEPS}: beta, played without the others, goes on otherwise")


def test_no_part_of_a_check_finds_what_another_has_left() -> None:
    """An answer that would die after 200 lives in one process passes: no trial has so many, though
    all together have."""
    text = RIGHT.replace("\n\n\nclass", BOX + "\n\n\nclass", 1).replace(
        "        left = self.deliveries\n",
        "        left = self.deliveries\n        HELD.lives += 1\n"
        "        if HELD.lives > 200: raise LookupError\n",
    )
    told = Booth(LIMITS, module=UNREAD).mark(1, text.encode(), 0)
    assert (told["mark"], told["runs"]) == ("passed", 115)


def test_an_answer_finds_no_environment_and_no_other_folder() -> None:
    """Of what its parent has, it sees where Python is. What it raises shows what it saw."""
    os.environ["TOKEN_OF_THE_LECTURER"] = "secret"
    body = "raise LookupError(sorted(os.environ), os.listdir('.'), sys.stdin.read())"
    told = _told(body)
    del os.environ["TOKEN_OF_THE_LECTURER"]
    seen = re.findall(r"'(\w[\w.]*)'", told["reason"])
    allowed = {"LC_CTYPE", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "level_1.py"}
    assert {name for name in seen if not name.startswith(("PYTHON", "OMP", "OPENBLAS"))} <= allowed
    assert "level_1.py" in seen


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: its /proc tells who lives")
def test_nothing_that_an_answer_starts_outlives_its_mark() -> None:
    """Here it may fork, as no guard is up: its child holds the pipes, and is killed with it."""
    booth = Booth(BoothLimits(idle_s=1), module="tests.teaching.marking.loose")
    told = booth.mark(1, b"", 0)
    assert told["mark"] == "not decided"
    assert booth.last_pid is not None
    for _ in range(50):
        if not _is_at_work(booth.last_pid):
            return
        time.sleep(0.1)
    pytest.fail("it still runs")


def _is_at_work(group: int) -> bool:
    """Whether a process of that group lives: one that was killed counts no more, though it has to
    wait until the system has taken note of it."""
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = entry.read_text(errors="replace").rpartition(")")[2].split()
            if int(fields[2]) == group and fields[0] != "Z":
                return True
    return False


def test_a_process_that_does_not_begin_is_no_mark_but_a_bug_of_ours() -> None:
    """It ends before the answer had its turn: that costs no student a mark."""
    with pytest.raises(HarnessBug, match=r"does not begin: .*No module named"):
        Booth(LIMITS, module="tests.teaching.marking.not_there").mark(1, b"", 0)


LIMITED = """
    import resource
    from testbed.teaching.marking.limits import BoothLimits, impose
    kept = impose(BoothLimits(seconds=7, memory_mb=100))
    bytearray(50_000_000)
    try:
        bytearray(200_000_000)
    except MemoryError:
        kept.append("MemoryError")
    names = "CPU FSIZE NOFILE NPROC CORE".split()
    print(kept, [resource.getrlimit(getattr(resource, "RLIMIT_" + name)) for name in names])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: others lack some limits")
def test_the_limits_are_those_of_the_system() -> None:
    """Each is set, and cannot be lifted again; memory counts from what the testbed has."""
    asked = [sys.executable, "-c", dedent(LIMITED)]
    printed = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert printed.strip() == str([*WORDS, "MemoryError"]) + (
        " [(7, 8), (1048576, 1048576), (64, 64), (0, 0), (0, 0)]"
    )


TRIED = """
    import os, signal, socket, subprocess, sys, threading
    from testbed.teaching.marking.kernel import confine
    from testbed.teaching.marking.guard import readable_folders
    canary = sys.argv[1]
    kept = confine(readable_folders())
    if len(kept) < 2:
        sys.exit("needs Landlock and seccomp: this kernel does not have both")
    for what in (
        lambda: open(canary), lambda: open(canary, "w"), lambda: os.remove(canary),
        lambda: os.rename(canary, canary + "x"), lambda: os.chmod(canary, 0),
        lambda: os.utime(canary), lambda: os.truncate(canary, 0), lambda: os.symlink("a", canary),
        lambda: os.mkdir(canary + "d"), lambda: os.listdir(os.path.dirname(canary)),
        lambda: os.fork(), lambda: subprocess.run(["true"]), lambda: os.execv("/bin/true", ["t"]),
        lambda: socket.socket(), lambda: os.kill(os.getppid(), 0), lambda: os.setsid(),
        lambda: os.posix_spawn("/bin/true", ["true"], {}), lambda: os.chdir("/"),
        lambda: socket.socketpair()[0].sendto(b"", "/dev/log"),
        lambda: threading.Thread(target=print).start(),
        lambda: __import__("resource").setrlimit(0, (9, 9)),
    ):
        try:
            what()
        except (OSError, RuntimeError):
            continue
        sys.exit("it was let through: line " + str(what.__code__.co_firstlineno))
    open(os.__file__).read()
    a, b = socket.socketpair()
    a.send(b"x")
    assert b.recv(1) == b"x"
"""


@X86_64
def test_the_kernel_refuses_what_the_guard_of_python_would_not_see(tmp_path: Path) -> None:
    """Without that guard: no file, process, thread, socket, signal. What a check needs still
    works."""
    canary = tmp_path / "canary"
    canary.write_text("alive")
    asked = [sys.executable, "-c", dedent(TRIED), str(canary)]
    ended = subprocess.run(asked, capture_output=True, text=True, check=False)
    _skip_if_lacking(ended.stderr)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert canary.read_text() == "alive"
    assert [path.name for path in tmp_path.iterdir()] == ["canary"]


def _skip_if_lacking(told: str) -> None:
    """Skip the test if the kernel lacks what it is about."""
    if told.startswith("needs "):
        pytest.skip(told.strip())


SIGNALS = """
    import ctypes, fcntl, os, sys, termios
    from testbed.teaching.marking import kernel
    pid, (a, b) = int(sys.argv[1]), os.pipe()
    library, number = ctypes.CDLL(None, use_errno=True), pid.to_bytes(4, sys.byteorder)
    assert library.prctl(kernel._NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
    if not kernel._filter_calls(library):
        sys.exit("needs seccomp: this kernel does not have it")
    for what in (
        lambda: fcntl.fcntl(a, fcntl.F_SETOWN, pid),
        lambda: fcntl.fcntl(a, 15, bytes(4) + number),  # F_SETOWN_EX
        lambda: fcntl.fcntl(a, 10, 9),  # F_SETSIG, to SIGKILL
        lambda: fcntl.fcntl(a, fcntl.F_SETFL, os.O_NONBLOCK | fcntl.FASYNC),
        lambda: fcntl.fcntl(a, fcntl.F_NOTIFY, 1), lambda: fcntl.fcntl(a, fcntl.F_SETLEASE, 0),
        lambda: fcntl.ioctl(a, 0x8901, number),  # FIOSETOWN
        lambda: fcntl.ioctl(a, 0x8902, number),  # SIOCSPGRP
        lambda: fcntl.ioctl(a, termios.FIOASYNC, number),
        lambda: fcntl.ioctl(0, termios.TIOCSTI, b"x"),
    ):
        try:
            what()
        except PermissionError:
            continue
        except OSError as error:
            sys.exit(f"line {what.__code__.co_firstlineno}: the kernel itself says {error}")
        os.write(b, b"x")
        sys.exit(f"it was let through: line {what.__code__.co_firstlineno}")
    fcntl.fcntl(a, fcntl.F_SETFL, fcntl.fcntl(a, fcntl.F_GETFL) | os.O_NONBLOCK)
    os.set_blocking(a, True)
    os.set_inheritable(a, True)
    fcntl.fcntl(a, fcntl.F_SETFD, fcntl.fcntl(a, fcntl.F_GETFD))
    os.close(fcntl.fcntl(a, fcntl.F_DUPFD_CLOEXEC, 3))
    os.isatty(a)
"""


@X86_64
def test_the_filter_alone_lets_no_file_signal_another_process() -> None:
    """The kernel can be told to signal a process when a file is ready. What Python does to its own
    files still works."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        asked = [sys.executable, "-c", dedent(SIGNALS), str(other.pid)]
        ended = subprocess.run(asked, capture_output=True, text=True, check=False)
        assert other.stdin is not None
        other.stdin.write(b"\n")
    _skip_if_lacking(ended.stderr)
    assert (ended.returncode, ended.stderr, other.returncode) == (0, "", 0)


@pytest.mark.skipif(os.name != "posix", reason="needs sh: the Python in between is a script of it")
def test_an_answer_that_cannot_be_played_here_costs_the_others_no_mark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first process does not begin: its row says so, the sheet is whole, and the command ends
    as with a bug of ours."""
    for name in ("ada", "ben"):
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "level_1.py").write_text("x = 1")
    python = tmp_path / "python"
    python.write_text(
        f"#!/bin/sh\nmkdir '{tmp_path}/once' 2>/dev/null && {{ echo no Python >&2; exit 1; }}\n"
        f"exec '{sys.executable}' \"$@\"\n"
    )
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    asked = ["grade", str(tmp_path / "class"), "--level", "1", "--jobs", "1", "--csv", "-"]
    assert main(asked) == 4
    told = capsys.readouterr()
    rows = [line.split(",") for line in told.out.splitlines()[1:]]
    assert [row[:3] for row in rows] == [["ada", "1", "not decided"], ["ben", "1", "failed"]]
    assert rows[0][3].startswith("it could not be played here: the process in which an answer is")
    assert rows[0][3].endswith("no Python")
    assert rows[1][3].startswith("level_1.py: no class stands in it")
    assert "1 answer could not be played here. That is our fault" in told.err
    assert main(asked) == 0


def test_a_result_that_is_not_signed_or_has_more_beside_it_is_not_believed() -> None:
    """Only the whole message with its signature counts, under that key."""
    key = b"k" * 32
    sealed = sealer(key)(b'{"mark":"passed"}')
    assert opened(key, sealed) == b'{"mark":"passed"}'
    for forged in (
        b'{"mark":"passed"}', sealed + b"\n", b"x" + sealed, sealed[:-1], b"",
        sealed.replace(b"passed", b"failed"), sealer(b"j" * 32)(b'{"mark":"passed"}'),
    ):  # fmt: skip
        assert opened(key, forged) is None
