"""`python -m testbed`, and the console script `testbed`."""

from __future__ import annotations

import gc
import sys

from testbed import cli


def main() -> int:
    """Run the command line; the exit code."""
    code = cli.main()
    # A long Run leaves a million objects behind. To take them apart before the process ends would
    # take longer than a person waits after Ctrl-C.
    gc.freeze()
    return code


if __name__ == "__main__":
    sys.exit(main())
