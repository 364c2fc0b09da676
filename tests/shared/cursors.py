"""Cursors that read more than one Change a turn."""

from __future__ import annotations

from testbed.store.watch import Cursor


def catch_up(cursor: Cursor) -> None:
    """Read all there is, as a World does with one `feed` after another."""
    while cursor.advance():
        pass
