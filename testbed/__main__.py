"""`python -m testbed`, and the console script `testbed`."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

from testbed import cli
from testbed.code.hidden import HOME


def main() -> int:
    """Run the command line; returns the exit code."""
    code = cli.main()
    # A long Run leaves a million objects behind. To collect them as the process ends would keep a
    # person waiting after Ctrl-C.
    gc.freeze()
    return code


def _as_the_script() -> None:
    """Look for modules where the console script does: `python -m` looks into the current folder
    first, where any folder of the user's may have the name of a package."""
    if not sys.flags.safe_path and sys.path and Path(sys.path[0] or ".").resolve() != HOME:
        del sys.path[0]


if __name__ == "__main__":
    _as_the_script()
    sys.exit(main())
