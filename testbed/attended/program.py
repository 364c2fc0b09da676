"""Program: a real program in a World, as the actor that it stands in place of. It has no code here.

Its main task only says when a life begins, and waits; what the program asks joins the Run as tasks
of that life. Where the life ends, by a crash, the program is killed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from testbed.client.actor import Actor
from testbed.client.client import Client


@attrs.frozen
class Program(Actor):
    """What stands in a World for a real program."""

    rank: int = 0  # type: ignore[misc]
    """That of the actor in place of which it stands."""
    begin: Callable[[str], None] = attrs.field(default=lambda _: None, eq=False)
    """Starts the real program of that name; nothing if the Run is replayed from its tape."""

    async def run(self, client: Client) -> None:
        """Start it, and wait for ever."""
        self.begin(self.name)
        await client.queue("calls", idle=True).get()


def standing_for(actor: Actor, begin: Callable[[str], Any]) -> Program:
    """The Program that stands in place of that actor."""
    return Program(actor.name, actor.rank, begin)
