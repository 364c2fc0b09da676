"""A served World in a process of its own, as real clients find it."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs

from testbed.child import child_command, child_env

WITHIN_S = 120


@attrs.frozen
class Served:
    """Where a guest asks."""

    address: str
    kubeconfig: str


@contextmanager
def serving(*words: str | Path) -> Iterator[Served]:
    """`testbed serve` with these words, until the end of the block; then it must end in order."""
    command = [*child_command("testbed"), "serve", *map(str, words), "--json"]
    with subprocess.Popen(command, env=child_env(), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            opened = json.loads(process.stdout.readline())
            yield Served(opened["address"], opened["kubeconfigs"]["guest"])
        finally:
            process.send_signal(signal.SIGINT)
            said, _ = process.communicate(timeout=WITHIN_S)
    assert process.returncode == 130
    assert json.loads(said)["violations"] == []
