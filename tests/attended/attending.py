"""Worlds with real programs, for tests: the commands of the clients, and what they have written."""

from __future__ import annotations

import sys
from pathlib import Path

import attrs

from testbed import Actor, Client

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
