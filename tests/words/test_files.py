"""Files: what a user has named is opened in one place, which never waits."""

from __future__ import annotations

import ast
import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from testbed.code.files import (
    CONTINUED,
    NEW,
    open_out,
    read_bytes,
    read_end,
    read_text,
    write_bytes,
)

ROOT = Path(__file__).parents[2] / "testbed"


def a_socket(path: Path) -> None:
    """Leave a socket at that path."""
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


NO_FILES: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "a pipe": (os.mkfifo, "it is a pipe, and no regular file", "nobody reads"),
    "a socket": (a_socket, "it is a socket, and no regular file", "or a socket"),
    "a device": (lambda path: path.symlink_to("/dev/zero"), "it is a device, and no reg", ""),
    "a folder": (os.mkdir, "Is a directory", "Is a directory"),
    "nothing": (lambda path: path.symlink_to("none/none"), "No such file", "No such file"),
}
"""What makes it, and why it is not read, and not written if it is not."""


@pytest.mark.parametrize("name", NO_FILES)
def test_what_is_no_file_is_refused_at_once(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In words; a test that waits here never ends."""
    make, unread, unwritten = NO_FILES[name]
    monkeypatch.chdir(tmp_path)
    make(Path("it"))
    for read in (read_bytes, read_text, lambda path: read_end(path, 9)):
        with pytest.raises(OSError, match=unread):
            read("it")
    if unwritten:
        with pytest.raises(OSError, match=unwritten):
            write_bytes("it", b"a")


def test_a_file_is_read_and_written(tmp_path: Path) -> None:
    """Whole or to a limit or its end; replaced, continued, or new."""
    file = tmp_path / "it"
    write_bytes(file, b"ab\r\nc", NEW)
    with pytest.raises(FileExistsError):
        write_bytes(file, b"", NEW)
    assert (read_bytes(file, 3), read_end(file, 2), read_text(file)) == (b"ab\r", b"\nc", "ab\nc")
    write_bytes(file, b"d", CONTINUED)
    assert read_end(file, 99) == b"ab\r\ncd"
    write_bytes(file, b"e")
    assert read_bytes(file) == b"e"


def test_a_pipe_that_somebody_reads_is_written_to(tmp_path: Path) -> None:
    """More than it holds: whoever writes waits for its reader then, as ever."""
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reader, True)
    got = bytearray()

    def take() -> None:
        while data := os.read(reader, 1 << 16):
            got.extend(data)

    with open_out(tmp_path / "pipe") as file:
        taking = threading.Thread(target=take)
        taking.start()
        file.write(bytes(1 << 20))
    taking.join()
    os.close(reader)
    assert bytes(got) == bytes(1 << 20)


OPENS = ("open", "read_text", "read_bytes", "write_text", "write_bytes")
OURS = {
    "attended/called.py": "our own standard output",
    "attended/keeper.py": "/proc",
    "attended/overheard.py": "our own log, of which the size is asked first",
    "checks/certificate/lines.py": "it uses no file of ours, and asks for itself",
    "cli/attaching/attended.py": "a new folder of ours",
    "cli/benches/door.py": "a new folder of ours",
    "cli/benches/knocking.py": "our own kubeconfig",
    "cli/benches/life.py": "/proc",
    "cli/explained.py": "a new file of ours",
    "cli/jobs.py": "/sys",
    "cli/output.py": "a stream that is open",
    "cli/playing.py": "a new folder of ours",
    "code/files.py": "the place",
    "page/page.py": "our own templates",
    "search/sources.py": "modules that were imported",
    "teaching/marking/booth.py": "/proc",
    "teaching/marking/limits.py": "/proc",
    "teaching/marking/sitting.py": "a new folder of ours",
    "testing/attending.py": "a new folder of ours",
    "world/chooser_kinds.py": "our own code",
}
"""The files that open others by themselves, and what these are: nobody else names them."""


def test_what_a_user_names_is_opened_there_alone() -> None:
    """Any other file of ours that opens one goes through it, so a pipe keeps none waiting."""
    found = set()
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and _opens(node):
                found.add(path.relative_to(ROOT).as_posix())
    assert found == {*OURS}, "use testbed.code.files, or say in OURS what is opened"


def _opens(call: ast.Call) -> bool:
    """Whether it opens a file by Python's own means."""
    if isinstance(call.func, ast.Name):
        return call.func.id == "open"
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in OPENS:
        return False
    modes = [each.value for each in call.args if isinstance(each, ast.Constant)]
    return call.func.attr != "open" or any(mode in ("rb", "wb", "ab", "r", "w") for mode in modes)
