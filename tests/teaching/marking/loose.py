"""Loose: what a sitting would be without any guard: it leaves a process behind that holds on.

A Booth starts it as a module, in place of the usual one, to show that nothing of it outlives the
mark.
"""

from __future__ import annotations

import os
import signal
import sys
import time


def main() -> None:
    """Start a process that does not end by itself, tell its number, and end."""
    sys.stdin.buffer.read()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
    sys.stdout.write("+no seal\n")


if __name__ == "__main__":
    main()
