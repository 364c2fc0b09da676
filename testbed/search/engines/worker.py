"""worker: one process that plays Jobs, told on standard input and answered on standard output.

A line is one JSON object. In: `{"task": …}` first, then `{"learn": …}` and `{"job": …}`. Out, for
each Job: its Outcome, or `{"failed": run}` if it raised; whoever asked plays that Run himself then,
and sees it raised. It ends when its input does: it never outlives the search.
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
from testbed.turns.session import collected_between


def serve(asked: IO[bytes], answers: IO[bytes]) -> None:
    """Answer until nobody asks any more."""
    lines = iter(asked.readline, b"")
    task = next(lines, None)
    if task is None:
        return
    player = Player(SearchTask.of(decode(task)["task"]))
    with collected_between():
        for answer in _answers(player, lines):
            answers.write(answer + b"\n")
            answers.flush()


def _answers(player: Player, lines: Iterator[bytes]) -> Iterator[bytes]:
    for line in lines:
        match decode(line):
            case {"learn": learned}:
                player.learn(learned)
            case {"job": data}:
                job = PlannedRun.of(data)
                try:
                    yield player.play(job).line()
                except Exception:  # noqa: BLE001 (whatever it is, whoever asked will meet it)
                    yield encode({"failed": job.run})


def main() -> None:
    """Keep standard output for answers: what a scenario prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with suppress(BrokenPipeError):
        serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
