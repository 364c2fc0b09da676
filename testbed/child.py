"""child: how the testbed starts another Python process of its own."""

from __future__ import annotations

import os
import sys


def child_command(module: str) -> list[str]:
    """The command that runs a module of ours in another process, without its arguments.

    -P keeps the current folder from the front of its path. There, any file of the user's with the
    name of an installed module would be imported instead of it.
    """
    return [sys.executable, "-P", "-m", module]


def child_env(**more: str) -> dict[str, str]:
    """The environment of that process: it can import what this one can, in the same order.

    If this one looks in the current folder, the other one does so last. It moves to the front when
    a scenario of the user's own is looked for, as it did in this process.
    """
    folders = [folder for folder in sys.path if folder] + [os.getcwd()] * ("" in sys.path)
    return {**os.environ, "PYTHONPATH": os.pathsep.join(folders), **more}
