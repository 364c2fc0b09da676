"""Called: one function of the user's, called as a program in a process of its own.

    python -m testbed.attended.called FILE.py:FUNCTION NAME

It is found as the command line finds a scenario. If it needs an argument, it gets the NAME of the
actor in place of which it stands. What it raises is printed without a line of the testbed.
"""

from __future__ import annotations

import inspect
import sys
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any

from testbed.child import child_command
from testbed.code.takes import wrong_count
from testbed.errors import HarnessError, ScenarioError
from testbed.world.users_code import import_first_from, in_file, standing_at

ADVICE = (
    "Next: write it as `def add_one(name):` at the top level of a file that can be imported, and "
    "let it find the cluster by the variable KUBECONFIG."
)


def command_calling(function: object) -> tuple[str, ...]:
    """The command that calls this function; ScenarioError if another process cannot find it."""
    name = getattr(function, "__qualname__", type(function).__name__)
    if wrong := _wrong_with(function, name):
        raise ScenarioError(f"{name} cannot be called in a process of its own: {wrong}.\n{ADVICE}")
    place = f"{inspect.getsourcefile(function)}:{name}"  # type: ignore[arg-type]
    return (*child_command("testbed.attended.called"), place, "{name}")


def _wrong_with(function: Any, name: str) -> str:
    """Why another process cannot find and call it; empty if it can."""
    if not inspect.isfunction(function):
        return f"it is no function, but a {type(function).__name__}"
    module = sys.modules.get(function.__module__)
    is_there = getattr(module, name, None) is function
    if not is_there or inspect.getsourcefile(function) is None:
        return "the file of its module has no such function at its top level"
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        return "to call it does nothing yet, since it has an `async` or a `yield`"
    return wrong_count(function, 0) and wrong_count(function, 1)


def call(named: str, name: str) -> None:
    """Import the function of that `FILE.py:FUNCTION` and call it."""
    # The output of what is killed is wanted, too.
    sys.stdout = open(1, "w", buffering=1, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.excepthook = _print_theirs
    folder, place = in_file(named)
    import_first_from(folder)
    function = standing_at(place)
    function(*([name] if wrong_count(function, 0) else []))


def _print_theirs(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Print what was raised, without the lines that lead to the user's function."""
    theirs, each = trace, trace
    while each is not None:
        if Path(each.tb_frame.f_code.co_filename) == Path(__file__):
            theirs = each.tb_next
        each = each.tb_next
    if isinstance(error, HarnessError):
        sys.stderr.write(f"{error}\n")
    else:
        traceback.print_exception(kind, error, theirs)


if __name__ == "__main__":
    call(*sys.argv[1:])
