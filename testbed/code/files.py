"""Files: opens what a user has named, and never waits for it.

The path of a file may lead to something else: a pipe that nobody writes to, a socket, a device
without an end. To open or to read one of these can take for ever. So all that reads or writes a
file of a user's goes through here, and what is no regular file is refused by an OSError in words.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import IO

REPLACED, NEW, CONTINUED = "wb", "xb", "ab"
"""How a file is written: what was there is lost, or nothing may be there, or it is added to."""
KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
"""What a path may lead to besides a file and a folder."""
AT_ONCE: int = getattr(os, "O_NONBLOCK", 0)
"""To open a pipe without waiting for its other end; 0 on a system that has no such thing."""


def read_bytes(path: str | Path, most: int = -1) -> bytes:
    """Return the bytes of a regular file, `most` of them at most; an OSError says why it cannot.

    A file may grow while it is read, so who has a limit asks for one byte more than that.
    """
    with _opened(path) as file:
        return file.read(most)


def read_end(path: str | Path, most: int) -> bytes:
    """Return the last bytes of a regular file, `most` of them at most."""
    with _opened(path) as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - most))
        return file.read()


def read_text(path: str | Path) -> str:
    """Return the text of a regular file in UTF-8, each of its lines ended by one `\\n`."""
    return read_bytes(path).decode("utf-8").replace("\r\n", "\n")


def open_out(path: str | Path, how: str = REPLACED) -> IO[bytes]:
    """Open a file to be written; an OSError says why it cannot be. A pipe is written to if somebody
    reads it already."""
    return open(path, how, opener=write_at_once)


def write_bytes(path: str | Path, data: bytes, how: str = REPLACED) -> None:
    """Write these bytes to a file; an OSError says why it cannot."""
    with open_out(path, how) as file:
        file.write(data)


def check_regular(path: str | Path) -> None:
    """Raise an OSError unless there is a regular file."""
    _check_mode(os.stat(path).st_mode, path)


def write_at_once(path: str, flags: int) -> int:
    """Open a file for `open(…, opener=write_at_once)`, which then never waits for a reader."""
    try:
        number = os.open(path, flags | AT_ONCE, 0o666)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise _refused("it is a pipe that nobody reads, or a socket", path) from None
        raise
    if AT_ONCE:
        os.set_blocking(number, True)
    return number


def _opened(path: str | Path) -> IO[bytes]:
    # Asked before it is opened, for to open a device may already do something; and once more
    # after that, for it may have become another thing in between.
    check_regular(path)
    file = open(path, "rb", opener=_read_at_once)  # noqa: SIM115
    try:
        _check_mode(os.fstat(file.fileno()).st_mode, path)
    except OSError:
        file.close()
        raise
    return file


def _read_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | AT_ONCE)


def _check_mode(mode: int, path: str | Path) -> None:
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    what = next((word for is_one, word in KINDS if is_one(mode)), "something else")
    raise _refused(f"it is {what}, and no regular file", path)


def _refused(why: str, path: str | Path) -> OSError:
    return OSError(errno.EINVAL, why, str(path))
