"""Worlds with real programs, for tests: the commands of the clients, and what they have written."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import sleep
from urllib.parse import urlsplit

import attrs

from testbed import Actor, Client
from tests.attended.programs import TINY_S, tries

CLIENTS = Path(__file__).parent / "clients"


@attrs.frozen
class Absent(Actor):
    """An actor in place of which a program stands."""

    async def run(self, client: Client) -> None:
        """Never called."""
        raise AssertionError


def client(script: str, *arguments: str) -> tuple[str, ...]:
    """The command of one of the clients here."""
    return sys.executable, str(CLIENTS / f"{script}.py"), *arguments


def written(folder: Path, name: str) -> list[str]:
    """The lines that a program has written."""
    return (folder / f"{name}.log").read_text(encoding="utf-8").splitlines()


def processes_in(folder: Path) -> dict[int, str]:
    """The processes of which the command or the environment names that folder; not this one."""
    found = {}
    for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))):
        with suppress(OSError):
            told = [Path(f"/proc/{pid}/{each}").read_bytes() for each in ("cmdline", "environ")]
            if pid != os.getpid() and any(bytes(folder) in each for each in told):
                found[pid] = told[0].replace(b"\0", b" ").decode()
    return found


def port_of(folder: Path) -> int:
    """The port at which the programs asked that had their kubeconfigs there."""
    path = next(folder.glob("*.kubeconfig"))
    server = json.loads(path.read_text(encoding="utf-8"))["clusters"][0]["cluster"]["server"]
    return urlsplit(server).port or 0


def is_open(port: int) -> bool:
    """Whether anything listens there."""
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0


def await_until(is_so: Callable[[], object], what: str) -> None:
    """Look again and again, until it is so."""
    for _ in tries(what):
        if is_so():
            return
        sleep(TINY_S)
