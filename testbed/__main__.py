"""`python -m testbed`, and the console script `testbed`."""

from __future__ import annotations

import gc
import sys

from testbed import cli


def main() -> int:
    """Run the command line; returns the exit code."""
    code = cli.main()
    # A long Run leaves a million objects behind. To collect them as the process ends would keep a
    # person waiting after Ctrl-C.
    gc.freeze()
    return code


if __name__ == "__main__":
    sys.exit(main())
