"""WorkloadStream: keeps a cluster changing by a script of commands, some of which are picked."""

from __future__ import annotations

from typing import ClassVar

import attrs

from actors.shared.settings import at_least
from actors.users.commands import Command
from testbed import Actor, Client


@attrs.frozen
class Cue:
    """A time, and what is done then."""

    at_ms: int = attrs.field(validator=at_least(0))
    """Milliseconds after the start."""
    among: tuple[Command, ...]
    """The Chooser picks one of these commands; the dullest comes first."""

    @classmethod
    def of(cls, at_ms: int, *among: Command) -> Cue:
        """The same, with the commands one by one."""
        return cls(at_ms, among)


@attrs.frozen
class WorkloadStream(Actor):
    """Gives each command at its time after the start, in a task of its own, and is done.

    So one that takes long, as a drain does, keeps no other from its time. A later life begins the
    script again: see `commands` for why that does no harm.
    """

    rank: ClassVar[int] = 0

    cues: tuple[Cue, ...] = ()
    """In the order of time."""

    async def run(self, client: Client) -> None:
        began_ms = client.elapsed()
        for number, cue in enumerate(self.cues, 1):
            if (left_ms := began_ms + cue.at_ms - client.elapsed()) > 0:
                await client.sleep(left_ms, f"cue {number}")
            title = client.pick(f"cue {number}", [command.title for command in cue.among])
            command = next(each for each in cue.among if each.title == title)
            client.record("commanded", what=title)
            client.spawn(f"command-{number}", command.give, client)
