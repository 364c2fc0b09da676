"""Session: plays one World after another in one driver; nothing of one is left for the next."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from typing import Protocol

from testbed.errors import UnknownName
from testbed.turns.drivers import direct, trio
from testbed.turns.forgotten import noticing
from testbed.turns.garbage import collect_if_enough, kept_during_run
from testbed.turns.table import Table
from testbed.turns.watchdog import Watchdog

DRIVERS = ("trio", "direct")


class Playable(Protocol):
    """A World that is prepared."""

    table: Table

    def close(self) -> None:
        """Called when its Run has ended, or was given up: let go of what is outside."""

    def conclude(self) -> None:
        """Called when its Run has ended and is torn down; raises what ended it, if no verdict."""


def play_all(worlds: Iterable[Playable], *, driver: str = "trio") -> None:
    """Play prepared Worlds, one after another, in one session of a driver. Each is asked for when
    the one before has ended, so a generator may look at that verdict to decide what comes next."""
    if driver not in DRIVERS:
        raise UnknownName("driver", driver, DRIVERS)

    def tables() -> Generator[Table, None, None]:
        for world in worlds:
            noticed.table = world.table
            try:
                with watched(watchdog, world.table):
                    yield world.table
            finally:
                world.close()
            noticed.table = None
            collect_if_enough()
            world.conclude()

    with noticing() as noticed, Watchdog() as watchdog, closing(tables()) as every:
        if driver == "direct":
            for table in every:
                direct.play(table)
        else:
            trio.play_all(every)


@contextmanager
def watched(watchdog: Watchdog, table: Table) -> Iterator[None]:
    """Let the watchdog watch a Run, and collect no garbage during it."""
    with kept_during_run():
        watchdog.watch(table)
        try:
            yield
        finally:
            watchdog.watch(None)
