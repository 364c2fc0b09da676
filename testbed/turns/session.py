"""Session: plays World after World in one driver, with nothing of one left for the next."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

from testbed.errors import UnknownName
from testbed.turns.drivers import direct, trio
from testbed.turns.table import Table
from testbed.turns.watchdog import Watchdog

DRIVERS = ("trio", "direct")
YOUNG = 1
"""The generations of the collector in which all is that was made of late."""


class Playable(Protocol):
    """A World that is prepared."""

    table: Table

    def conclude(self) -> None:
        """Called when its Run has ended and all is torn down."""


def play_all(worlds: Iterable[Playable], *, driver: str = "trio") -> None:
    """Play prepared Worlds, one after another, in one session of a driver. The iterable is asked
    for the next one only when the last has ended, so it may look at its verdict and decide."""
    if driver not in DRIVERS:
        raise UnknownName("driver", driver, DRIVERS)

    def tables() -> Iterator[Table]:
        for world in worlds:
            with guarded(world.table):
                yield world.table
            world.conclude()

    if driver == "direct":
        for table in tables():
            direct.play(table)
    else:
        trio.play_all(tables())


@contextmanager
def guarded(table: Table) -> Iterator[None]:
    """No garbage collection in the middle of a Run, and a watchdog beside it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        with Watchdog(table):
            yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def collected_between() -> Iterator[None]:
    """Many Runs: what is there already is left alone by the collector, which works when it is
    called and never by itself. Only what is young is looked at first: a look at all there is costs
    as much as a hundred Runs, and what is old has been looked at before."""
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
