"""worker: a process that reads PlannedRuns, and writes Outcomes.

Each line is one JSON object. In: `{"learn": …}` and `{"job": …}`, one for each PlannedRun; before
them `{"task": …}`, if the process has begun from nothing and not as a fork of the search. Out, for
each PlannedRun: its Outcome, or `{"failed": run}` if it raised. Then the search plays that Run
itself, so that the error is raised there. The worker ends when its input ends, so it never outlives
the search.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import IO

from testbed.objects.codec import decode, encode
from testbed.search.planned_run import PlannedRun, SearchTask
from testbed.search.player import Player
from testbed.turns.garbage import collected_between


def serve(asked: IO[bytes], answers: IO[bytes]) -> None:
    """Read the task, then answer line by line until `asked` ends."""
    if task := asked.readline():
        play(Player(SearchTask.of(decode(task)["task"])), asked, answers)


def play(player: Player, asked: IO[bytes], answers: IO[bytes]) -> None:
    """Answer line by line until `asked` ends; each answer is sent at once, so that it is known
    which Run is played now."""
    with collected_between():
        for answer in _answers(player, iter(asked.readline, b"")):
            answers.write(answer + b"\n")
            answers.flush()


def _answers(player: Player, lines: Iterator[bytes]) -> Iterator[bytes]:
    for line in lines:
        match decode(line):
            case {"learn": learned}:
                player.learn(learned)
            case {"job": data}:
                planned = PlannedRun.of(data)
                try:
                    yield player.play(planned).line()
                except (Exception, SystemExit):  # noqa: BLE001 - the search will meet it, too
                    yield encode({"failed": planned.run})


def main() -> None:
    """Serve on the standard streams; what a scenario prints goes to standard error instead."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with suppress(BrokenPipeError):
        serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
