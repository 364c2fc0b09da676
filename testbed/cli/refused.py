"""Refused: tells what the operating system has refused a command, as trouble of its user.

A full disk, too few descriptors, a folder that is gone: no line of code is wrong, so nobody reports
it. A command that knows which option is to blame says so itself; whatever else the system refuses
ends here.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

MAKE_ROOM = "make room on that disk, or write to another"
WITH_LESS = "allow more, as with `ulimit`, or ask for less, as with --jobs 1"
NAME_ANOTHER = "name another file, in a folder where you may read and write"
NEXT = {
    errno.ENOSPC: MAKE_ROOM, errno.EDQUOT: MAKE_ROOM, errno.EFBIG: MAKE_ROOM,
    errno.EIO: "look at that disk",
    errno.EMFILE: WITH_LESS, errno.ENFILE: WITH_LESS, errno.ENOMEM: WITH_LESS,
    errno.EAGAIN: WITH_LESS,
    errno.EACCES: NAME_ANOTHER, errno.EPERM: NAME_ANOTHER, errno.EROFS: NAME_ANOTHER,
    errno.ENOENT: NAME_ANOTHER, errno.ENOTDIR: NAME_ANOTHER, errno.EISDIR: NAME_ANOTHER,
    errno.EEXIST: NAME_ANOTHER, errno.ELOOP: NAME_ANOTHER, errno.ENAMETOOLONG: NAME_ANOTHER,
    errno.ENXIO: NAME_ANOTHER, errno.EINVAL: NAME_ANOTHER,
}  # fmt: skip
"""What to do about it, by the number of the error. One with another number is a bug of ours."""
OF_A_PATH = (errno.EINVAL, errno.ENOENT, errno.EEXIST)
"""These are trouble of a user's only if they name a path."""


def refused_by_system(error: BaseException) -> str:
    """What the system has refused, and what to do next; empty if that is not what has happened."""
    for each in _within(error):
        if isinstance(each, MemoryError):
            return f"there is no memory left.\nNext: {WITH_LESS}."
        if not isinstance(each, OSError):
            continue
        if isinstance(each, FileNotFoundError) and _is_nowhere():
            return "the current folder is gone.\nNext: go to another one, and run it there."
        if each.errno in NEXT and (each.filename is not None or each.errno not in OF_A_PATH):
            where = "" if each.filename is None else f"{each.filename}: "
            return f"{where}{each.strerror}.\nNext: {NEXT[each.errno]}."
    return ""


def _within(error: BaseException) -> Iterator[BaseException]:
    """The error, and those that it comes of or is a group of."""
    yield error
    parts = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    for part in (*parts, error.__cause__):
        if part is not None:
            yield from _within(part)


def _is_nowhere() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False
