"""`testbed`, each time in a process of its own, which has imported already what comes along: to
import it anew takes longer than most commands do.

Each line that it reads is one command, and it answers with its exit code.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Mapping, Sequence

from testbed.__main__ import main
from testbed.cli import worth
from testbed.cli.commands import (
    check,
    compare,
    demo,
    explain,
    init,
    keep,
    manifest,
    replay,
    run,
    search,
    show,
    sweep,
)
from testbed.testing.worth import grounds
from testbed.world.scenario import known

LOADED = (check, compare, demo, explain, init, keep, manifest, replay, run, search, show, sweep)


def played(
    folder: str, words: Sequence[str], env: Mapping[str, str], printed: str, few: Sequence[str]
) -> int:
    """What a command comes to in that folder; all that it prints goes to that file. `mutants`
    asks in a few scenarios only, and in no mutant: all of them take minutes."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
    os.dup2(1, 2)
    os.chdir(folder)
    os.environ.update(env)
    sys.argv[1:] = words
    if few:
        vars(worth).update(
            grounds=lambda *given: [each for each in grounds(*given) if each.name in few],
            packages_with_mutants=list,
        )
    code = main()
    sys.stdout.flush()
    return code


def serve() -> None:
    """Play one command after another."""
    known()
    gc.freeze()
    for line in sys.stdin:
        child = os.fork()
        if not child:
            code = 1
            try:
                code = played(*json.loads(line))
            finally:
                os._exit(code)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    del sys.path[0]  # the folder of this file, in which any module might hide another
    serve()
