"""Session: plays one World after another in one driver; nothing of one is left for the next."""

from __future__ import annotations

import gc
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from typing import Protocol

from testbed.errors import UnknownName
from testbed.turns.drivers import direct, trio
from testbed.turns.forgotten import noticing
from testbed.turns.table import Table
from testbed.turns.watchdog import Watchdog

DRIVERS = ("trio", "direct")
YOUNG = 1
"""Python's collector has generations; those up to this one hold what was made recently."""


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
            world.conclude()

    with noticing() as noticed, Watchdog() as watchdog, closing(tables()) as every:
        if driver == "direct":
            for table in every:
                direct.play(table)
        else:
            trio.play_all(every)


# A collection in the middle of a Run could run code of an actor, such as a finalizer, at a moment
# that no Chooser has chosen.
@contextmanager
def watched(watchdog: Watchdog, table: Table) -> Iterator[None]:
    """Let the watchdog watch a Run, and collect no garbage during it."""
    was_enabled = gc.isenabled()
    gc.disable()
    watchdog.watch(table)
    try:
        yield
    finally:
        watchdog.watch(None)
        if was_enabled:
            gc.enable()


@contextmanager
def collected_between() -> Iterator[None]:
    """Let garbage be collected only when `gc.collect` is called, and freeze the objects that exist
    already: for many Runs. Before the freeze only young objects are collected, because to look at
    all of them costs as much as a hundred Runs."""
    was_enabled = gc.isenabled()
    gc.collect(YOUNG)
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if was_enabled:
            gc.enable()
