"""The checker as a program: `python -m testbed.checks.certificate FILE`."""

from __future__ import annotations

import sys

from testbed.checks.certificate import main

if __name__ == "__main__":
    usage = "Next: python -m testbed.checks.certificate FILE"
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else usage)
