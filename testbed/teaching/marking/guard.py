"""Guard: what Python refuses an answer while it is played; with the first such try its check ends.

Before a file is opened, a process is started, and so on, Python tells a hook, whatever code asks
for it. The hook says in words what was tried, and the process ends. An exception would not do: the
answer could catch it, and try something cleverer. A hook cannot be taken away again.

Some things the testbed does itself all the time, such as to look at a frame or to make code from
text. They are refused if the answer does them: if the nearest frame that is not Python's own is of
its file. And what differs from process to process, such as `id()`, would make marks differ.

The hook keeps all it needs in its own variables, and uses no name that other code could replace.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

PACKAGES = ("testbed", "actors", "scenarios")
LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")
SITES = ("site-packages", "dist-packages")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

READS = ("open", "os.listdir", "os.scandir")
"""What is allowed below the folders that may be read."""
NEVER = {
    "os.remove": "remove a file", "os.rename": "rename a file", "os.rmdir": "remove a folder",
    "os.mkdir": "make a folder", "os.chmod": "change who may use a file",
    "os.chown": "change the owner of a file", "os.chflags": "change who may use a file",
    "os.link": "make a link", "os.symlink": "make a link", "os.truncate": "shorten a file",
    "os.utime": "change the time of a file", "os.setxattr": "change a file",
    "os.removexattr": "change a file", "os.lockf": "lock a file", "os.chdir": "go elsewhere",
    "os.fchdir": "go elsewhere", "os.putenv": "change the environment",
    "os.unsetenv": "change the environment", "os.kill": "kill a process",
    "os.killpg": "kill a process", "signal.pthread_kill": "kill a process",
    "builtins.input": "ask the user", "builtins.breakpoint": "stop in a debugger",
    "sys.addaudithook": "change the guard", "mmap.__new__": "map a file",
    "_thread.start_new_thread": "start a thread",
    "_thread.start_joinable_thread": "start a thread",
}  # fmt: skip
"""What no check needs, by its name."""
FAMILIES = {
    "shutil": "copy or remove files", "tempfile": "make a file", "resource": "change its limits",
    "subprocess": "start a process", "pty": "start a process", "os.fork": "start a process",
    "os.forkpty": "start a process", "os.exec": "start a process", "os.spawn": "start a process",
    "os.posix_spawn": "start a process", "os.system": "start a process",
    "os.startfile": "start a process", "socket": "open a socket", "ctypes": "run C code",
    "fcntl": "change a file", "msvcrt": "change a file", "winreg": "change the registry",
    "_winapi": "start a process", "syslog": "write to the log of the system",
    "sqlite3": "open a database", "webbrowser": "open a browser", "urllib": "open a socket",
    "http": "open a socket", "ftplib": "open a socket", "smtplib": "open a socket",
    "poplib": "open a socket", "imaplib": "open a socket", "telnetlib": "open a socket",
    "nntplib": "open a socket",
}  # fmt: skip
"""What no check needs, by the first part of its name."""
PAIRED = ("socket.bind", "socket.connect") if sys.platform == "win32" else ()
LOOKS = "look into the testbed"
OWN = {
    "gc.get_objects": LOOKS, "gc.get_referrers": LOOKS, "gc.get_referents": LOOKS,
    "sys._getframe": LOOKS, "sys._getframemodulename": LOOKS, "sys._current_frames": LOOKS,
    "sys._current_exceptions": LOOKS, "sys.settrace": LOOKS, "sys.setprofile": LOOKS,
    "sys.monitoring.register_callback": LOOKS, "object.__getattr__": LOOKS,
    "object.__setattr__": "change the testbed", "object.__delattr__": "change the testbed",
    "sys.excepthook": LOOKS, "sys.unraisablehook": LOOKS,
    "compile": "run code made from text", "exec": "run code made from text",
    "code.__new__": "run code made from text", "function.__new__": "run code made from text",
    "marshal.loads": "run code made from bytes", "marshal.load": "run code made from bytes",
    "marshal.dumps": LOOKS, "pickle.find_class": "run code made from bytes",
    "import": "import a module", "cpython.run_command": "start Python",
    "time.sleep": "sleep",
    "builtins.id": "use id(), which differs from process to process",
    # trio makes a pair of them for each Run, which on Windows have to meet on a port.
    "socket.__new__": "open a socket",
    **dict.fromkeys(PAIRED, "open a socket"),
}  # fmt: skip
"""What is refused only if the answer itself does it."""


UNTOLD = {
    "_thread.start_new_thread": (
        ("_thread", "start_new_thread"), ("_thread", "start_new"),
        ("threading", "_start_new_thread"),
    ) if sys.version_info < (3, 12) else (),
    "time.sleep": (
        ("time", "sleep"), ("signal", "pause"), ("signal", "sigwait"), ("signal", "sigwaitinfo"),
        ("signal", "sigtimedwait"), ("select", "select"), ("select", "poll"), ("select", "epoll"),
    ),
}  # fmt: skip
"""By what is refused, the functions of Python that do it without telling."""


class NotAllowed(PermissionError):
    """What the answer tried is refused."""


def readable_folders(*more: str) -> list[str]:
    """The folders that a check may read: Python, what is installed, the testbed, and those."""
    installed = [path for path in sys.path if set(SITES) & set(Path(path).parts)]
    ours = Path(__file__).resolve().parents[3]
    found = [
        sys.prefix, sys.base_prefix, sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"),
        *installed, *(str(ours / package) for package in PACKAGES), *LIBRARIES, *more,
    ]  # fmt: skip
    real = {os.path.realpath(folder) for folder in found if os.path.isdir(folder)}
    return sorted(real - {os.path.realpath(os.sep)})


def stand_guard(answer: str, folders: Iterable[str], caught: Callable[[str], NoReturn]) -> None:
    """From now on, refuse what is not allowed; some of it only to the code of that file. `caught`
    is told what was tried, and ends the process."""
    sys.addaudithook(_hook(answer, tuple(folders), caught))
    # Of some of it Python does not tell, or only a newer one.
    for event, places in UNTOLD.items():
        for name, function in places:
            module = sys.modules.get(name)
            if hasattr(module, function):
                setattr(module, function, _telling(event, getattr(module, function)))


def _telling(event: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which tells of each call of it first."""

    def told(*args: Any, **named: Any) -> Any:
        sys.audit(event)
        return function(*args, **named)

    return told


def _hook(
    answer: str, folders: tuple[str, ...], caught: Callable[[str], NoReturn]
) -> Callable[[str, tuple[Any, ...]], None]:
    frame_of, is_mine, may_read = sys._getframe, _asks_whose(answer), _asks_where(folders)
    never, families, own, reads = NEVER.copy(), FAMILIES.copy(), OWN.copy(), READS
    writing, refusal, kind_of, whole = WRITING, NotAllowed, type, int
    is_busy = is_chased = False

    def wrong(event: str, args: tuple[Any, ...], frame: FrameType) -> tuple[str, bool]:
        """What is refused, in words, and whether the answer has tried it; or empty."""
        nonlocal is_chased
        if event == "sys.settrace":
            # Once the watchdog has traced the answer, Python itself stops that, at any line of it.
            is_chased = is_chased or not is_mine(frame)
            if is_chased:
                return "", False
        if event in own:
            return (own[event], True) if is_mine(frame) else ("", False)
        if event not in reads:
            words = never.get(event) or families.get(event)
            words = words or families.get(event.partition(".")[0])
            return (words, True) if words else ("", False)
        flags = args[2] if event == "open" else 0
        if kind_of(flags) is whole and flags & writing:
            return "write a file", True
        if may_read(event, args[0]):
            return "", False
        # What the testbed itself may not read is no fault of the answer.
        what = "read a file of another" if event == "open" else "list a folder of another"
        return what, is_mine(frame)

    def hook(event: str, args: tuple[Any, ...]) -> None:
        nonlocal is_busy
        # The testbed makes its smallest objects so, a million in a check; no other one is so often.
        if event == "object.__setattr__" and args[1] == "__class__":
            return
        if is_busy:  # it was the hook itself
            return
        is_busy = True
        try:
            words, is_tried = wrong(event, args, frame_of(1))
            if is_tried:
                caught(words)
        finally:
            is_busy = False
        if words:
            raise refusal(f"an answer may not {words}")

    return hook


def _asks_where(folders: tuple[str, ...]) -> Callable[[str, object], bool]:
    """The function that says whether a file may be opened, or a folder listed, to read it."""
    real, sep, decoded, kind_of = os.path.realpath, os.sep, os.fsdecode, type
    listed = frozenset(real(path or os.curdir) for path in sys.path)
    below = tuple(folder + sep for folder in folders)

    def may_read(event: str, path: object) -> bool:
        if path is None and event != "open":
            path = "."
        if kind_of(path) is not str and kind_of(path) is not bytes:
            return False
        place = real(decoded(path))  # type: ignore[arg-type]
        return (event != "open" and place in listed) or (place + sep).startswith(below)

    return may_read


def _asks_whose(answer: str) -> Callable[[FrameType | None], bool]:
    """The function that says whether the nearest frame that is not Python's own is the answer's."""
    kinds = ("stdlib", "platstdlib")
    stdlib = tuple(os.path.realpath(sysconfig.get_path(kind)) + os.sep for kind in kinds)
    sites = tuple(os.sep + site + os.sep for site in SITES)
    own = _telling.__code__.co_filename

    def is_mine(frame: FrameType | None) -> bool:
        while frame is not None:
            name = frame.f_code.co_filename
            if name == answer:
                return True
            is_python = name[:8] == "<frozen " or name.startswith(stdlib) or name == own
            for site in sites:
                if site in name:
                    is_python = False
            if not is_python:
                return False
            frame = frame.f_back
        return False

    return is_mine
