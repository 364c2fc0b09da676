"""Attendance: brings what real programs do into a Run: their requests, their end, the time.

A Run with real programs is *attended*. Each program stands in place of an actor, and has no code
here. What it sends joins the Run between two turns, as a Step of its own, and is then an Operation
like any other: a Chooser may hold it, a fault may strike it. `Doorman` (attended/) attends to
living programs; `Tape` replays what has joined, without them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Protocol

import attrs

from testbed.client.actor import Actor
from testbed.turns.head import Waiter
from testbed.world.gate import Gate


@attrs.frozen
class Standing:
    """What an Attendance may ask of the World between two turns."""

    step: int
    """The number of the last Step."""
    turns: int
    """How many turns were played."""
    now_ms: int
    next_due_ms: int | None
    """When the earliest Option is due; None if there is none."""
    is_over: bool
    """Whether the Run ends here in any case: by a breach, a limit or an error."""
    is_rest: bool
    """Whether nothing can change any more but by what is held."""
    has_held: bool
    """Whether an Option is held back."""
    in_flight: frozenset[str]
    """The actors of which a request, an answer or a delivery may happen now."""
    acts_ms: int | None = None
    """When the Chooser would do something though no Option is due then."""
    until_ms: int | None = None
    """The time up to which the Run is played: what programs do later is no part of it."""

    @property
    def is_due(self) -> bool:
        """Whether an Option is due by now."""
        return self.next_due_ms is not None and self.next_due_ms <= self.now_ms


class Attendance(Protocol):
    """Brings what real programs do into one Run. The Play calls it between two turns."""

    names: Collection[str]
    """The actors in place of which programs stand."""
    guests: Collection[str] = ()
    """Programs in place of which no actor stands in the scenario: each becomes an actor of the
    World, and is there from the beginning. Nobody here knows whether a guest comes, or goes on; so
    a World with guests has no rest and no limits, and ends when the Attendance says so."""

    @property
    def starting(self) -> Collection[str]:
        """Those of them that start just now: they have not come to rest since."""
        return ()

    @property
    def note(self) -> str:
        """What a reader of the verdict should know of how it went; empty if nothing."""
        return ""

    def program(self, actor: Actor) -> Actor:
        """What stands in place of that actor. Called when the World is assembled."""

    def begin(self, gate: Gate) -> None:
        """Called when the Run begins."""

    def attend(self, look: Callable[[], Standing]) -> Waiter | None:
        """Bring what has arrived into the Run. Returns None if the World may go on; or the Waiter
        that waits until this is to be asked again."""

    def close(self) -> None:
        """Called when the Run has ended and is torn down, or has failed."""
