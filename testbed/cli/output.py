"""Output: prints what a command says: to standard output what was asked for, to standard error what
else is to be known. All goes through here, so that no file and no program can steer a terminal.
"""

from __future__ import annotations

import os
import sys

import click

from testbed.code.printable import printable
from testbed.errors import SystemRefused


def say(text: str = "") -> None:
    """Print a line. If the reader has closed the pipe, as in `| head -1`, that is no error, and the
    exit code stays the same; if there is no room for it, that is one."""
    _print(printable(text) + "\n")


def say_bytes(data: bytes) -> None:
    """Print the content of a file as it is, with the same line ends on each system."""
    _print(data)


def tell(text: str) -> None:
    """Print a line to standard error. What cannot be told there changes no result."""
    try:
        click.echo(printable(text), err=True)
    except OSError:
        _let_go_of(2)


def let_go_of_output() -> None:
    """Send standard output to nowhere, since its reader has closed the pipe. Python flushes it at
    exit, which would fail otherwise."""
    _let_go_of(1)


def take_streams() -> None:
    """Open what is closed of the three streams, so that no file that is opened gets its number;
    SystemRefused if it is standard output."""
    had_output = sys.stdout is not None
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it gets the lowest number that is free: this one
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if not had_output:
        raise SystemRefused("standard output is closed.\nNext: send it to a file, or to /dev/null.")


def _print(content: str | bytes) -> None:
    try:
        click.echo(content, nl=False)
    except BrokenPipeError:
        let_go_of_output()
    except OSError as error:
        let_go_of_output()
        raise SystemRefused(
            f"standard output cannot be written: {error.strerror}.\n"
            "Next: make room there, or send it elsewhere."
        ) from error


def _let_go_of(number: int) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), number)
