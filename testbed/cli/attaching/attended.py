"""Attended: what a search needs that plays with real programs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from testbed.cli.attaching.places import TRACE, Places
from testbed.cli.attaching.programs import Programs
from testbed.errors import ScenarioError
from testbed.search.planned_run import SearchTask
from testbed.search.player import Player


@contextmanager
def attended_player(task: SearchTask, programs: Programs, folder: str) -> Iterator[Player]:
    """Give what plays its Runs. The programs' output is kept, beside its trace, of each Run that
    leads to a race; that of the others is not."""
    from testbed.search.attended_player import AttendedPlayer

    places = Places(Path(folder, task.scenario.rpartition(":")[2]))
    with TemporaryDirectory() as scratch:
        here = Path(scratch, "run")

        def emptied() -> Path:
            shutil.rmtree(here, ignore_errors=True)
            return here

        def keep(lines: Sequence[bytes]) -> None:
            place = places.next()
            (place / TRACE).write_bytes(b"".join(lines))
            for log in here.glob("*.log"):
                shutil.copy(log, place)

        yield AttendedPlayer(
            task, lambda recipe: programs.cast(recipe, task.switches, emptied), keep
        )


def check_attended(effort: str, chooser: str | None, jobs: int, ledger: object) -> None:
    """Refuse what a search with real programs cannot do."""
    for is_asked, words, why in (
        (effort == "complete", "--effort complete", "there is always one more way they may do it"),
        (chooser in ("bounded", "complete"), f"--chooser {chooser}", "no Run goes on from another"),
        (jobs > 1, f"--jobs {jobs}", "programs that share the machine disturb each other"),
        (bool(ledger), "--ledger", "a Run cannot be taken up again"),
    ):
        if is_asked:
            raise ScenarioError(
                f"{words}: not with real programs: {why}.\nNext: leave it out, or leave out --as."
            )
