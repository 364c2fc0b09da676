"""The direct driver: a bare loop over `coroutine.send`, without trio. It checks the other one."""

from __future__ import annotations

from testbed.turns.life import Seat
from testbed.turns.table import Table


def play(table: Table) -> None:
    """Let one task after another move, until the Run has ended and every life is torn down."""
    mover = table.head.advance()
    while mover is not None:
        if not isinstance(mover, Seat):
            table.waits += 1
            mover.wait()
            mover = table.head.advance()
            continue
        seat, mover = mover, table.move(mover)
        if mover is seat:
            # It awaited something that no driver of ours can answer: raise the error of that in it.
            seat.error = table.failure
