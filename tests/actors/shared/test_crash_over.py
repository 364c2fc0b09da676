"""CrashOver: it strikes while a certain request of its target is under way, and else never."""

from __future__ import annotations

from actors.shared.crash_over import CrashOver
from testbed.choosers.calm import Calm
from testbed.client.client import Client
from testbed.faults.crash import Crash
from testbed.turns.pending import Alternatives, Options
from testbed.world.fault_kinds import as_named
from testbed.world.world import World
from tests.shared.stage import note, world_of


async def lists_and_creates(client: Client) -> None:
    """Two requests, one after the other."""
    await client.list(type(note()))
    await client.create(note())


async def lists(client: Client) -> None:
    """One request."""
    await client.list(type(note()))


def struck(fault: CrashOver) -> tuple[int, list[bool]]:
    """How often it strikes if it may, and whether the note was there each time."""
    world: World = world_of(alpha=lists_and_creates, beta=lists)
    world.allow(fault)
    found: list[bool] = []

    class Struck(Calm):
        def choose(self, options: Options | Alternatives) -> int:
            if not isinstance(options, Options) or not options.faults:
                return 0
            found.append(world.store.peek("notes/default/n") is not None)
            return options.ready

    return world.run(Struck(), driver="direct").faults, found


def test_a_race_file_has_a_plain_crash() -> None:
    """For the file says what it struck, and when."""
    fault = CrashOver("alpha", over="create notes/*", is_served=True, restart_after_ms=5)
    assert as_named(fault) == Crash("alpha", restart_after_ms=5)
