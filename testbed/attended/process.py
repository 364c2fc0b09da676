"""Process: one real program while it runs: started, killed, stopped, continued; its output."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from testbed.attended.keeper import descendants
from testbed.attended.threads import is_at_work
from testbed.child import child_command, child_env
from testbed.code.files import CONTINUED, open_out, read_end
from testbed.errors import ScenarioError

LAST_BYTES = 4096
END_S = 5.0
"""How long a keeper may take to kill what it keeps."""


class RealProcess:
    """A program that was started by its command, below a keeper of ours."""

    def __init__(
        self, name: str, command: tuple[str, ...], output: Path, env: Mapping[str, str]
    ) -> None:
        self.name = name
        self.command = command
        self.output = output
        """Where it writes, both its standard output and its errors."""
        self._is_stopped = False
        try:
            with open_out(output, CONTINUED) as file:
                self._keeper = subprocess.Popen(
                    [*child_command("testbed.attended.keeper"), *command],
                    stdin=subprocess.PIPE, stdout=file, stderr=file,
                    start_new_session=True,
                    env=child_env(**env),
                )  # fmt: skip
        except OSError as error:
            raise ScenarioError(
                f"{name}: its output cannot be kept in {output}: {error.strerror}.\n"
                "Next: name another folder by --out."
            ) from error

    @property
    def is_at_work(self) -> bool:
        """Whether any thread of it can run now, or it has not begun yet."""
        return is_at_work(self._keeper.pid)

    @property
    def exit_code(self) -> int | None:
        """The code with which it has ended by itself; None while it runs."""
        return self._keeper.poll()

    def stop(self, is_stopped: bool) -> None:
        """Stop it, or let it go on."""
        if is_stopped != self._is_stopped:
            self._is_stopped = is_stopped
            self._signal(signal.SIGSTOP if is_stopped else signal.SIGCONT)

    def kill(self) -> None:
        """Kill it and all that it has started, and wait until they are gone."""
        self._signal(signal.SIGKILL)
        assert self._keeper.stdin is not None
        with suppress(OSError):
            self._keeper.stdin.close()
        try:
            self._keeper.wait(END_S)
        except subprocess.TimeoutExpired:
            self._keeper.kill()
            self._keeper.wait()
        if self._keeper.returncode < 0:
            # The keeper itself was killed: what has stayed in its group is found all the same.
            with suppress(ProcessLookupError):
                os.killpg(self._keeper.pid, signal.SIGKILL)

    def _signal(self, number: int) -> None:
        for pid in descendants(self._keeper.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def last_words(self) -> str:
        """The last line that it has written; empty if there is none."""
        with suppress(OSError):
            lines = read_end(self.output, LAST_BYTES).decode(errors="replace").splitlines()
            return next((line.strip() for line in reversed(lines) if line.strip()), "")
        return ""
