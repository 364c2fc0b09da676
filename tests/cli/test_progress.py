"""How far a command has come: silent at first, one line on a terminal, a line now and then else."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pytest

from testbed.cli.progress import COLUMNS, Progress, counting


@pytest.fixture(autouse=True)
def timed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here it is looked at."""
    monkeypatch.delenv("TESTBED_PROGRESS")


class Terminal(io.StringIO):
    """What a person looks at."""

    def isatty(self) -> bool:
        """It is one."""
        return True


def told(stream: io.StringIO, times: Sequence[float]) -> str:
    """What is written if a Run is over at each of these times, and then all is."""
    progress = Progress(iter([0.0, *times]).__next__, stream)
    for done in range(1, len(times) + 1):
        progress.say(lambda done=done: f"runs: {10 // done}")  # type: ignore[misc]
    progress.clear()
    return stream.getvalue()


def row(written: str) -> str:
    """What a person sees in the end, if the terminal has one row: it is as wide as may be."""
    shown = [" "] * COLUMNS
    column = 0
    for character in written:
        if character == "\r":
            column = 0
            continue
        assert column < COLUMNS - 1, "it goes on in the next row"
        shown[column] = character
        column += 1
    return "".join(shown).rstrip()


def test_a_terminal_has_one_line_that_is_gone_in_the_end() -> None:
    """Nothing in the first two seconds, then at most five times a second; what was longer is
    overwritten, and in the end all of it."""
    said = told(Terminal(), [1.9, 2.0, 2.1, 2.3])
    assert said.split() == ["runs:", "5", "runs:", "2"]
    assert row(said) == ""
    assert told(Terminal(), [1.0, 1.9]) == ""


def test_a_shorter_line_leaves_nothing_of_a_longer_one() -> None:
    """It is filled up with blanks."""
    stream = Terminal()
    progress = Progress(iter([0.0, 2.0, 2.3]).__next__, stream)
    for said in ("runs: 10", "runs: 5"):
        progress.say(said.__str__)
        assert row(stream.getvalue()) == said


def test_ctrl_c_leaves_nothing_of_a_line() -> None:
    """Nor of what the terminal shows of it, however long the line is, and however often."""
    for length in (5, 60, 300):
        stream = Terminal()
        progress = Progress(iter([0.0, 2.0, 2.3]).__next__, stream)
        progress.say(lambda length=length: "x" * length)  # type: ignore[misc]
        stream.write("^C")
        progress.say(lambda: "shrinking")
        stream.write("^C^C")
        progress.clear()
        assert row(stream.getvalue()) == ""
        assert stream.getvalue().endswith("\r")
        progress.clear()
        assert row(stream.getvalue()) == ""


def test_a_line_that_was_interrupted_is_wiped_too() -> None:
    """Ctrl-C may come while it is written."""

    class Cut(Terminal):
        def flush(self) -> None:
            if self.getvalue() == self.getvalue().rstrip("\r"):
                raise KeyboardInterrupt

    stream = Cut()
    progress = Progress(iter([0.0, 2.0]).__next__, stream)
    with pytest.raises(KeyboardInterrupt):
        progress.say(lambda: "runs: 5")
    progress.clear()
    assert row(stream.getvalue()) == ""


def test_a_log_has_a_line_now_and_then() -> None:
    """Every five seconds, and nothing is taken back."""
    assert told(io.StringIO(), [1.9, 2.1, 3.0, 7.2]) == "runs: 5\nruns: 2\n"


def test_a_line_that_is_not_shown_is_not_made() -> None:
    """A search is asked for its figures only when somebody is to read them."""

    def never() -> str:
        raise AssertionError("asked for")

    Progress(lambda: 0.0, Terminal()).say(never)


def test_a_count_is_wiped_whatever_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many of so many; and an error finds the line empty."""
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr("testbed.cli.progress.SILENT_S", -1.0)

    def stopped() -> None:
        with counting("runs") as on_run:
            on_run(2, 1000)
            raise KeyError

    with pytest.raises(KeyError):
        stopped()
    assert stream.getvalue().startswith("\rruns: 2 of 1,000 ")
    assert row(stream.getvalue()) == ""


def test_it_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then what a command prints is the same, however long it takes."""
    monkeypatch.setenv("TESTBED_PROGRESS", "off")
    assert told(Terminal(), [100.0, 1000.0]) == ""
