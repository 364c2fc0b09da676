"""Head: what decides at a Table, the play of a World. Driver: what carries the Table's tasks.
Waiter: what waits for real programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from testbed.turns.life import Role, Seat
from testbed.turns.trace import Record


class Waiter(Protocol):
    """Waits for what is outside the World: real programs and their connections. While it waits,
    nothing in the World moves."""

    wait_s: float
    """How long to wait at most; less than the watchdog lets a turn take."""

    def fileno(self) -> int:
        """The descriptor that is readable as soon as there is something to see."""

    def wait(self) -> None:
        """Sleep until the descriptor is readable or the time is over. Only for a driver that has
        no loop of its own."""


class Head(Protocol):
    """What sits at the head of a Table and decides.

    It is called while a task or a driver is on the stack, neither of which may see an error of the
    World. So no method of it raises: an error is kept in `table.failure` and ends the Run.
    """

    turns_max: int
    """How many turns the Run may have, and so how many tasks a life of it: each takes one to start.
    """

    def advance(self) -> Seat | Waiter | None:
        """Play turns until a task is to move, and return that one; None when the Run has ended and
        all is torn down. Called once by the driver, then each time a task has given up the turn.

        If the World must first wait for real programs, it returns the Waiter: the driver lets that
        wait, and calls again."""

    def pick(self, seat: Seat, label: str, alternatives: Sequence[object]) -> int:
        """Let the Chooser decide which of these it is. Called by `client.pick`, within a turn."""

    def recorded(self, record: Record) -> None:
        """Keep a Record. Called by `client.record`, within a turn."""

    def begin_again(self, role: Role, after_ms: int) -> None:
        """Offer another life of an actor, that much later. Called by `client.exit`."""


class Driver(Protocol):
    """What a Table may ask of its driver, if that is more than a loop."""

    def ask_to_stop(self, why: BaseException) -> None:
        """End the Run at its next turn, even if the driver is asleep. Called by the watchdog, in a
        signal handler."""

    def running(self) -> str:
        """The name of the task that runs now, for an error about a task that must not."""
