"""Overheard: what a program has written since it was last listened to, line by line."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

LINE_MAX = 200
"""No more of a line is told; its output has all of it."""
LINES_MAX = 300
"""No more lines of one program are told in one Run."""
BYTES_MAX = 1 << 16
"""No more is read at once."""


class Overheard:
    """The output of one program, as it grows."""

    def __init__(self, output: Path) -> None:
        self._output = output
        self._read = self._told = 0
        self._rest = b""
        """A line that has begun."""
        with suppress(OSError):
            self._read = output.stat().st_size  # of a Run before

    def lines(self) -> list[str]:
        """The lines that have ended since this was last asked."""
        if self._told >= LINES_MAX:
            return []
        try:
            if self._output.stat().st_size == self._read:
                return []
            with self._output.open("rb") as file:
                file.seek(self._read)
                data = file.read(BYTES_MAX)
        except OSError:
            return []
        self._read += len(data)
        *ended, self._rest = (self._rest + data).split(b"\n")
        self._rest = self._rest[: 4 * LINE_MAX]
        texts = [_cut(line.decode(errors="replace").strip()) for line in ended]
        texts = [text for text in texts if text][: LINES_MAX - self._told]
        self._told += len(texts)
        return texts


def _cut(line: str) -> str:
    # What a terminal would obey is no part of what was said.
    plain = "".join(each if each.isprintable() else " " for each in line)
    return plain if len(plain) <= LINE_MAX else f"{plain[: LINE_MAX - 1]}…"
