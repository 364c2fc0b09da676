"""What `run` and `replay` share: recording a Run while it is played, and playing it again."""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

import click

from testbed.child import child_command, child_env
from testbed.cli.output import tell
from testbed.cli.show import JSON
from testbed.code.files import write_at_once, write_bytes
from testbed.errors import ReplayDiverged, ScenarioError, UnknownName
from testbed.objects.codec import decode, encode
from testbed.races.trust import folders_of
from testbed.turns.imprint import check_steps, check_texts, imprint_of, suspects_in
from testbed.turns.recorded import FILE_BYTES_MAX
from testbed.turns.session import DRIVERS
from testbed.turns.trace import Step, Trace
from testbed.world.fault_kinds import parse_fault
from testbed.world.scenario import find
from testbed.world.users_code import import_first_from, in_file
from testbed.world.world import World

DRIVER = f"How actors are run: {', '.join(DRIVERS)}; the Runs are the same."
"""What --help says of `--driver`."""
NO_FAULTS = ("0", "none")
BETWEEN_FAULTS = re.compile(r",(?![^,]*=)")
"""A comma, unless a setting such as `restart=2s` follows, which belongs to the fault before it."""
HASH_SEEDS = ("1", "2")
"""PYTHONHASHSEED of the other processes in which `--twice` plays: with each, a set of strings has
another order."""


def how_to_play(command: Callable[..., int]) -> Callable[..., int]:
    """The options of every command that plays one Run: --driver, --audit, --twice, --json."""
    twice = "Play it again, here and in other processes; stop at the first difference."
    audit = (
        "Fail if an actor reads a field that its cache did not declare, or a claim looks at what "
        "it has not declared."
    )
    options = (
        click.option("--imprints", hidden=True, help="What --twice compares."),
        click.option("--json", "as_json", is_flag=True, help=JSON),
        click.option("--twice", is_flag=True, help=twice),
        click.option("--audit", is_flag=True, help=audit),
        click.option("--driver", default="trio", help=DRIVER),
    )
    for option in options:
        command = option(command)
    return command


def check_driver(driver: str) -> None:
    """UnknownName if there is none of that name."""
    if driver not in DRIVERS:
        raise UnknownName("driver", driver, DRIVERS, see="--driver trio, or say nothing")


def placed(scenario: str, folder: str | None) -> tuple[str, str | None]:
    """A scenario that may be named as `FILE.py:function`, as a name and the folder to import it
    from, which `--scenario-path` names otherwise."""
    within, name = in_file(scenario)
    if not within:
        if folder is not None:
            import_first_from(*folders_of([folder]))
        return scenario, folder
    if folder is not None:
        raise ScenarioError(
            f"--scenario-path {folder}: the scenario is named by its file, which says the folder.\n"
            "Next: leave it out."
        )
    find(scenario)  # refused now, if another module of that name would be imported
    return name, within


def parse_faults(given: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """What `--faults` allows, checked; and whether no fault at all may strike."""
    words = tuple(word.strip(" ,") for text in given for word in BETWEEN_FAULTS.split(text))
    words = tuple(filter(None, words))
    if not any(word in NO_FAULTS for word in words):
        for word in words:
            parse_fault(word)
        return words, False
    if len(words) > 1:
        raise ScenarioError(
            f"--faults {','.join(words)}: expected faults, or none of them.\n"
            "Next: say --faults none, or name those that may strike."
        )
    return (), True


def parse_switches(given: tuple[str, ...]) -> dict[str, str]:
    """`K=V` texts as a mapping."""
    switches = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ScenarioError(
                f"--switch {text}: expected NAME=VALUE, such as --switch guard=on.\n"
                "Next: testbed list shows the switches of each scenario."
            )
        switches[name] = value
    return switches


class _TraceFile(io.FileIO):
    """A file whose errors name the option that asked for it, `--trace`. It tells while it is
    written that it has become larger than what can be played again."""

    def __init__(self, path: str) -> None:
        self._room = FILE_BYTES_MAX
        try:
            super().__init__(path, "wb", opener=write_at_once)
        except OSError as error:
            raise _cannot_write(path, error) from error

    def write(self, data: Any) -> int:
        try:
            done = super().write(data)
        except OSError as error:
            raise _cannot_write(self.name, error) from error
        was_readable = self._room >= 0
        self._room -= done
        if was_readable and self._room < 0 and self.name != os.devnull:
            tell(
                f"--trace {self.name}: larger than {FILE_BYTES_MAX:,} bytes now, so `replay` and "
                "`explain` will not read it. Next: end this, and begin again with another file."
            )
        return done


def _cannot_write(path: object, error: OSError) -> ScenarioError:
    return ScenarioError(
        f"--trace {path}: cannot be written: {error.strerror}.\n"
        "Next: name a file in a folder that exists, on a disk with room."
    )


@contextmanager
def sink(path: str | None) -> Iterator[IO[bytes]]:
    """The file that a trace is written to during the Run, so that an interrupted Run is not lost.

    Without a path, the trace is written to nowhere. That is not left out: a Run also ends when its
    trace reaches a limit of size, and it must end at the same turn, recorded or not.
    """
    with io.BufferedWriter(_TraceFile(os.devnull if path is None else path)) as file:
        yield file


def same_again(play: Callable[[Trace], World], first: World, again: str) -> None:
    """Play it again, here and in other processes with other hash seeds, and compare every line, and
    what each request asked for and was answered. Raises ReplayDiverged at the first difference."""
    lines, steps = list(first.trace.lines()), first.trace.steps
    after = after_mending(again)
    second = play(Trace({}, keep=True)).trace
    compare(lines, list(second.lines()), after, first.trace)
    check_steps(steps, second.steps, after)
    with TemporaryDirectory() as folder:
        for hash_seed in HASH_SEEDS:
            file, imprints = Path(folder, "again.jsonl"), Path(folder, "imprints")
            words = [*shlex.split(again)[1:], "--trace", str(file), "--imprints", str(imprints)]
            done = subprocess.run(
                [*child_command("testbed"), *words],
                env=child_env(PYTHONHASHSEED=hash_seed),
                capture_output=True,
                text=True,
            )
            if done.returncode not in (0, 1, 3):
                said = done.stderr.strip().rpartition("\nNext: ")[0] or done.stderr.strip()
                raise ReplayDiverged(
                    f"the same Run in another process, with PYTHONHASHSEED={hash_seed}, ended in "
                    f"exit code {done.returncode}:\n{said}\nNext: {after}"
                )
            compare(lines, file.read_bytes().splitlines(keepends=True), after, first.trace)
            check_texts(steps, map(decode, imprints.read_bytes().splitlines()), after)


def after_mending(again: str) -> str:
    """What to do once it is known that something outside the World decides."""
    return f"mend that, then play it twice again: {again} --twice"


def keep_imprints(world: World, path: str | None) -> None:
    """Write what each Step of a Run has shown, a line each, for the `--twice` of another process:
    of what is asked and answered, a trace has only the revision."""
    if path is not None:
        lines = [encode(imprint_of(step).texts) + b"\n" for step in world.trace.steps]
        write_bytes(path, b"".join(lines))


def compare(
    first: list[bytes], second: list[bytes], after: str, trace: Trace | None = None
) -> None:
    """Raise ReplayDiverged, with the first line that differs, unless all lines are the same.
    `after` is what to do then. `trace` is that of the first, if it was kept: it says whose code
    ran."""
    for number in range(max(len(first), len(second))):
        one, other = (lines[number : number + 1] for lines in (first, second))
        if one != other:
            items = [] if trace is None else trace.items[:number]
            last = next((item for item in reversed(items) if isinstance(item, Step)), None)
            found = [] if last is None else suspects_in(last.option)
            most_likely = f"\nMost likely: {'; '.join(found)}." if found else ""
            raise ReplayDiverged(
                f"line {number + 1} of the trace is not the same again:\n"
                f"  {_shown(one)}\n  {_shown(other)}\n"
                "Something outside the World decided, or the code has changed since. Look in "
                f"{_who(first[:number])}, which moved last, for a set, a clock, an id() or "
                f"`random`.{most_likely}\nNext: {after}"
            )


def _shown(line: list[bytes]) -> str:
    return line[0].decode(errors="replace").strip() if line else "(the run has ended before)"


def _who(lines: list[bytes]) -> str:
    """The actor of the last line that names one."""
    for line in reversed(lines):
        if who := decode(line).get("who"):
            return str(who).partition("/")[0]
    return "the scenario"
