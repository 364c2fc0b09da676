"""The direct driver: a bare loop over `coroutine.send`, no trio; the check for the other."""

from __future__ import annotations

from testbed.turns.life import Seat
from testbed.turns.table import Table


def play(table: Table) -> None:
    """Let one task after another move, until the Run has ended and every life is cleared away."""
    mover: Seat | None = table.advance()
    while mover is not None:
        seat, mover = mover, table.move(mover)
        if mover is seat:
            # It awaited what nobody here can answer; the Run is over, and it is told so.
            seat.error = table.failure
