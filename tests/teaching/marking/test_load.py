"""Load: how busy the machine is decides no mark."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from testbed.cli import main
from testbed.teaching.marking import marking
from testbed.teaching.marking.booth import Booth, time_used
from tests.teaching.marking.classroom import sixty
from tests.teaching.marking.test_guards import UNREAD

LOOPS = 6
SPINS = "while True: pass"


@contextmanager
def busy(loops: int) -> Iterator[None]:
    """During the body, as many other processes use all that they get of the machine."""
    asked = [sys.executable, "-c", SPINS]
    spinning = [subprocess.Popen(asked) for _ in range(loops)]
    try:
        yield
    finally:
        for each in spinning:
            each.kill()
            each.wait()


def _graded(folder: Path, to: Path) -> dict[str, bytes]:
    """What the command writes for that class: the sheet and the race files."""
    asked = ["grade", str(folder), "--csv", str(to / "m.csv"), "--races", str(to / "races")]
    to.mkdir()
    assert main([*asked, "--jobs", "2", "--seconds", "5"]) == 0
    return {str(each.relative_to(to)): each.read_bytes() for each in to.rglob("*.*")}


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: there no answer needs the wall")
def test_sixty_answers_are_marked_alike_idle_and_beside_six_busy_loops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sheet and the race files byte for byte, also of answers that loop, eat memory, or hold a
    lock: right ones, those that are handed out, and those that mean no good. Their text is not
    looked at, so each comes as far as it can."""
    monkeypatch.setattr(marking, "Booth", partial(Booth, module=UNREAD))
    for student, (level, text) in sixty().items():
        (tmp_path / "class" / student).mkdir(parents=True)
        file = tmp_path / "class" / student / f"level_{level}.py"
        file.write_text(text, encoding="utf-8")
    idle = _graded(tmp_path / "class", tmp_path / "idle")
    with busy(LOOPS):
        loaded = _graded(tmp_path / "class", tmp_path / "loaded")
    assert idle.keys() == loaded.keys()
    assert [name for name in idle if idle[name] != loaded[name]] == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: its /proc tells who sleeps")
@pytest.mark.parametrize(("text", "sleeps"), [(SPINS, False), ("input()", True)])
def test_only_processes_that_sleep_are_given_up(text: str, sleeps: bool) -> None:
    """One that is ready to run waits for the machine, and is waited for; one that sleeps is known
    by the time that it does not use."""
    asked = [sys.executable, "-c", text]
    other = subprocess.Popen(asked, stdin=subprocess.PIPE, start_new_session=True)
    try:
        while (time_used(other.pid) is not None) is not sleeps:
            continue
    finally:
        other.kill()
        other.communicate()
