"""Acting: plain code of a task, called within a turn while the task itself stays parked.

What a Cache is told of goes to handlers, which cannot wait. So its reader need not be woken for it,
and to hand the turn over to a task costs more than most handlers do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from testbed.turns.life import Seat
from testbed.turns.table import Table

T = TypeVar("T")


def act_while_parked(table: Table, seat: Seat, fn: Callable[[T], None], value: T) -> bool:
    """Call `fn(value)` as that task would after the end of its wait. Returns whether it may wait
    again; if not, it is to move: with what was raised, or because its life is over."""
    life = seat.life
    role, marks = life.role, table.marks
    (marks.writes if role.shares_memory else marks.reads).append(role.memory)
    table.running = seat
    try:
        seat.context.run(fn, value)
    except BaseException as error:  # noqa: BLE001 - it is raised in the task itself
        seat.error = error
        return False
    finally:
        table.running = None
    return life.is_alive
