"""Work that is shared out among processes comes to what one would come to, in the same order."""

from __future__ import annotations

import os
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from testbed.child import Jobs
from testbed.search import sharing
from testbed.search.sharing import shared_out
from tests.each_row import each_row

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only there a process is forked")
HERE, TWO = os.getpid(), Jobs(2)


@pytest.fixture(autouse=True)
def forks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process is forked, whatever threads those have who run the tests."""
    monkeypatch.setattr(sharing, "can_fork", lambda: True)


def where(part: int) -> tuple[int, bool]:
    """A result, and whether it was made here; each third takes longer than the next ones."""
    time.sleep(0.02 * (part % 3 == 0))
    return part * part, os.getpid() == HERE


@each_row("jobs", [1, 2, 3, 20])
def test_results_come_in_order_whoever_makes_them(jobs: int) -> None:
    """All of them, once each; one process makes them itself."""
    results = list(shared_out(where, 10, Jobs(jobs)))
    assert [square for square, _ in results] == [part * part for part in range(10)]
    assert {is_here for _, is_here in results} == {jobs == 1}


def test_what_is_soon_done_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to a time; all of it where no process can be forked; and nothing is nothing."""
    parts = [is_here for _, is_here in shared_out(where, 10, Jobs(2, 0.03))]
    assert parts[0]
    assert not parts[-1]
    assert parts == sorted(parts, reverse=True)
    monkeypatch.setattr(sharing, "can_fork", lambda: False)
    assert all(is_here for _, is_here in shared_out(where, 10, TWO))
    assert list(shared_out(where, 0, TWO)) == []


def test_a_process_that_dies_changes_no_result(tmp_path: Path) -> None:
    """What it was at is done here, and others go on."""

    def work(part: int) -> tuple[int, bool]:
        if part in (2, 5) and os.getpid() != HERE:
            os.kill(os.getpid(), 9)
        return part, os.getpid() == HERE

    results = list(shared_out(work, 9, TWO))
    assert [part for part, _ in results] == list(range(9))
    assert [part for part, is_here in results if is_here] == [2, 5]


@each_row("error", [ZeroDivisionError, SystemExit])
def test_what_raises_raises_here_at_its_turn(error: type[BaseException]) -> None:
    """After all results before it."""

    def work(part: int) -> int:
        if part >= 4:
            raise error(f"of {part}")
        return part

    results: list[int] = []
    with pytest.raises(error, match="of 4"):
        results.extend(shared_out(work, 9, TWO))
    came = shared_out(work, 9, TWO)
    assert [next(came) for _ in range(4)] == [0, 1, 2, 3]
    with pytest.raises(error, match="of 4"):
        next(came)


def test_a_large_result_arrives_whole() -> None:
    """Larger than a pipe holds."""
    assert [len(text) for text in shared_out(lambda part: "x" * part * 300_000, 4, TWO)] == [
        0, 300_000, 600_000, 900_000,
    ]  # fmt: skip


def test_what_is_given_up_leaves_no_process() -> None:
    """It is closed in the middle."""
    pids: set[int] = set()
    with closing(shared_out(lambda _: os.getpid(), 50, TWO)) as shared:
        for _ in range(10):
            pids.add(next(shared))
    assert len(pids) == 2
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
