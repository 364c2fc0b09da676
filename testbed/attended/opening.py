"""Opening the door for one Run: a port, a kubeconfig for each program, and the Doorman."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from testbed.attended.doorman import Doorman
from testbed.attended.http.listener import Listener
from testbed.attended.troupe import Troupe
from testbed.attended.wall_times import WallTimes


@contextmanager
def attended(
    commands: Mapping[str, tuple[str, ...]], folder: Path, times: WallTimes | None = None
) -> Iterator[Doorman]:
    """Give a Doorman for these programs, by the actors in place of which they stand. Whatever
    happens, no program and no connection is left afterwards."""
    troupe = Troupe(commands, folder)
    with Listener(knows=troupe.knows) as listener:
        troupe.speak_to(listener.address)
        doorman = Doorman(troupe, listener, times)
        try:
            yield doorman
        finally:
            doorman.close()
