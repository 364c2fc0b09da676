"""Kernel: what Linux itself refuses this process from now on, whatever its code tries.

Two of its guards need no rights, and hold until the process ends:

- Landlock refuses all files but those below some folders, which may be read and not changed; it
  refuses TCP, and signals to other processes.
- A filter of system calls lets through what a check needs: memory, reading, its own clock. It
  refuses to start a process or a thread, to open a socket or a file for writing, to signal
  another process, to change a limit. Of `fcntl` and `ioctl` it lets through what Python does to
  its own files: others let the kernel signal whichever process one names.

The filter goes by the numbers of the system calls, which differ between machines: this has those of
x86-64. Where one of the guards cannot be had, nothing is done, and the other ones must do.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from collections.abc import Iterable

LANDLOCK, SYSTEM_CALLS = "Landlock", "a filter of system calls"
_NO_NEW_PRIVILEGES, _SET_FILTER, _BY_FILTER = 38, 22, 2
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_READ_FILE, _READ_FOLDER = 1 << 2, 1 << 3
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""By version of Landlock, how many rights over files it knows; the newer ones know no more."""
_TCP, _SCOPES = 0b11, 0b11
"""To bind and to connect; abstract sockets and signals."""
_X86_64 = 0xC000003E
_OPENAT, _SENDTO, _FCNTL, _IOCTL = 257, 44, 72, 16
"""The numbers of the calls that are let through only with some arguments."""
_SECOND, _THIRD, _FIFTH = 24, 32, (48, 52)
"""Where the filter finds an argument: the command of a control, the flags of an open or a control,
and both halves of the address of a send. A socket of a pair is given no address."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_SET_FLAGS, _SIGNALS = 4, 0o20000
"""The fcntl that sets the flags of a file, and the flag by which the kernel sends signals."""
_CONTROLS = {
    "F_DUPFD": 0, "F_GETFD": 1, "F_SETFD": 2, "F_GETFL": 3, "F_DUPFD_CLOEXEC": 1030,
}  # fmt: skip
_DEVICE_CONTROLS = {
    "TCGETS": 0x5401, "TCGETS2": 0x802C542A, "TIOCGWINSZ": 0x5413, "FIONREAD": 0x541B,
    "FIONBIO": 0x5421, "FIONCLEX": 0x5450, "FIOCLEX": 0x5451,
}  # fmt: skip
_ALLOWED = {
    "read": 0, "write": 1, "close": 3, "stat": 4, "fstat": 5, "lstat": 6, "poll": 7, "lseek": 8,
    "mmap": 9, "mprotect": 10, "munmap": 11, "brk": 12, "rt_sigaction": 13,
    "rt_sigprocmask": 14, "rt_sigreturn": 15, "pread64": 17, "readv": 19,
    "writev": 20, "access": 21, "select": 23, "sched_yield": 24, "mremap": 25, "madvise": 28,
    "dup": 32, "dup2": 33, "getitimer": 36, "setitimer": 38,
    "getpid": 39, "recvfrom": 45, "socketpair": 53, "setsockopt": 54, "exit": 60, "uname": 63,
    "getcwd": 79, "readlink": 89, "gettimeofday": 96, "getrlimit": 97, "getrusage": 98,
    "sysinfo": 99, "times": 100, "getuid": 102, "getgid": 104, "geteuid": 107, "getegid": 108,
    "getppid": 110, "sigaltstack": 131, "arch_prctl": 158, "gettid": 186, "time": 201,
    "futex": 202, "sched_getaffinity": 204, "getdents64": 217, "restart_syscall": 219,
    "clock_gettime": 228, "clock_getres": 229, "exit_group": 231,
    "epoll_wait": 232, "epoll_ctl": 233, "newfstatat": 262, "readlinkat": 267, "faccessat": 269,
    "pselect6": 270, "ppoll": 271, "set_robust_list": 273, "epoll_pwait": 281, "eventfd2": 290,
    "epoll_create1": 291, "dup3": 292, "pipe2": 293, "getrandom": 318, "membarrier": 324,
    "statx": 332, "rseq": 334, "faccessat2": 439,
}  # fmt: skip
_LOAD, _IF_SAME, _IF_BITS, _RETURN = 0x20, 0x15, 0x45, 0x06
_LET_THROUGH, _REFUSED = 0x7FFF0000, 0x00050000
_EPERM, _ENOSYS = 1, 38


def confine(readable: Iterable[str]) -> list[str]:
    """Let the kernel refuse all but reading below those folders; return the guards that are in
    force, in words. It cannot be undone."""
    if sys.platform != "linux":
        return []
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        return []
    kept = [LANDLOCK] if _shut_files(library, readable) else []
    # The last one: it refuses the calls that the other one is made with.
    if platform.machine() == "x86_64" and sys.maxsize > 1 << 32 and _filter_calls(library):
        kept.append(SYSTEM_CALLS)
    return kept


def _shut_files(library: ctypes.CDLL, readable: Iterable[str]) -> bool:
    version = library.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return False
    files = (1 << _RIGHTS.get(version, 16)) - 1
    fields = [files, _TCP, _SCOPES][: 3 if version >= 6 else 2 if version >= 4 else 1]
    asked = struct.pack(f"={len(fields)}Q", *fields)
    ruleset = library.syscall(_LANDLOCK_CREATE, asked, ctypes.c_size_t(len(asked)), 0)
    if ruleset < 0:
        return False
    try:
        for folder in readable:
            at = os.open(folder, os.O_PATH | os.O_CLOEXEC)
            rule = struct.pack("=Qi", _READ_FILE | _READ_FOLDER, at)
            is_added = library.syscall(_LANDLOCK_ADD, ruleset, 1, rule, 0) == 0
            os.close(at)
            if not is_added:
                return False
        return bool(library.syscall(_LANDLOCK_RESTRICT, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


def _filter_calls(library: ctypes.CDLL) -> bool:
    code = b"".join(struct.pack("=HBBI", *each) for each in _program())
    text = ctypes.create_string_buffer(code, len(code))
    # The kernel's `struct sock_fprog`: how many instructions, and where they are.
    program = struct.pack("@HP", len(code) // 8, ctypes.addressof(text))
    return bool(library.prctl(_SET_FILTER, _BY_FILTER, program, 0, 0) == 0)


Instruction = tuple[int, int, int, int]
"""What to do, how far to jump if so, how far if not, and a number."""
_REFUSE: Instruction = (_RETURN, 0, 0, _REFUSED | _EPERM)
_LET: Instruction = (_RETURN, 0, 0, _LET_THROUGH)


def _program() -> list[Instruction]:
    """The filter."""
    halves = [
        part for half in _FIFTH for part in ((_LOAD, 0, 0, half), (_IF_SAME, 1, 0, 0), _REFUSE)
    ]
    return [
        (_LOAD, 0, 0, 4),  # of which machine the call is
        (_IF_SAME, 1, 0, _X86_64),
        _REFUSE,
        (_LOAD, 0, 0, 0),  # its number
        *_if_same(_OPENAT, *_unless(_THIRD, _WRITING)),
        *_if_same(_SENDTO, *halves, _LET),
        *_if_same(
            _FCNTL,
            (_LOAD, 0, 0, _SECOND),
            *_if_same(_SET_FLAGS, *_unless(_THIRD, _SIGNALS)),
            *_one_of(_CONTROLS.values(), _EPERM),
        ),
        *_if_same(_IOCTL, (_LOAD, 0, 0, _SECOND), *_one_of(_DEVICE_CONTROLS.values(), _EPERM)),
        *_one_of(_ALLOWED.values(), _ENOSYS),
    ]


def _if_same(number: int, *then: Instruction) -> list[Instruction]:
    """What to do if that number was loaded; it has to end with an answer."""
    return [(_IF_SAME, 0, len(then), number), *then]


def _unless(place: int, bits: int) -> list[Instruction]:
    """Let it through unless that argument has one of the bits."""
    return [(_LOAD, 0, 0, place), (_IF_BITS, 0, 1, bits), _REFUSE, _LET]


def _one_of(numbers: Iterable[int], error: int) -> list[Instruction]:
    """Let it through if one of those numbers was loaded."""
    known = sorted(numbers)
    found = [(_IF_SAME, len(known) - nth, 0, each) for nth, each in enumerate(known)]
    return [*found, (_RETURN, 0, 0, _REFUSED | error), _LET]
