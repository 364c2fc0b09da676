"""What a program writes is heard line by line: once, in plain text, and not without end."""

from __future__ import annotations

from pathlib import Path

from testbed.attended.overheard import LINE_MAX, LINES_MAX, Overheard


def test_each_line_is_heard_once_when_it_has_ended(tmp_path: Path) -> None:
    """What a Run before has left in the same file is not."""
    output = tmp_path / "log"
    output.write_bytes(b"old\n")
    overheard = Overheard(output)
    with output.open("ab", buffering=0) as file:
        assert overheard.lines() == []
        file.write(b"one\n\n  two\nthr")
        assert overheard.lines() == ["one", "two"]
        file.write(b"ee\n")
        assert overheard.lines() == ["three"]
        assert overheard.lines() == []


def test_a_line_is_plain_and_not_too_long(tmp_path: Path) -> None:
    """No escape reaches a terminal."""
    output = tmp_path / "log"
    overheard = Overheard(output)
    output.write_bytes(b"\x1b[31mred\xff\n" + b"x" * 5000 + b"\n")
    red, long = overheard.lines()
    assert red == " [31mred\ufffd"
    assert len(long) == LINE_MAX
    assert long.endswith("…")


def test_one_that_never_stops_is_not_heard_for_ever(tmp_path: Path) -> None:
    """Its output has the rest."""
    output = tmp_path / "log"
    overheard = Overheard(output)
    output.write_bytes(b"again\n" * 10_000)
    assert len(overheard.lines()) == LINES_MAX
    assert overheard.lines() == []


def test_where_there_is_no_output_nothing_is_heard(tmp_path: Path) -> None:
    """It is not there yet."""
    assert Overheard(tmp_path / "log").lines() == []
