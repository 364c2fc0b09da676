"""Recorded: what to do when a recorded Run comes out otherwise than it was recorded.

Either the code has changed since, and the recording is of no use any more; or something outside the
World decides, and no recording can be. `--twice` tells the two apart: it plays the recording again,
here and in other processes. If it goes wrong in the same way each time, it is the code.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable
from typing import Any

import click

from testbed.child import child_command, child_env
from testbed.cli.playing import HASH_SEEDS, after_mending, compare
from testbed.errors import ReplayDiverged
from testbed.objects.calendar import beginning_at
from testbed.objects.codec import decode, encode_line
from testbed.policy import words as policies
from testbed.races.trust import Trust, words_for
from testbed.turns.recorded import Recorded
from testbed.version import VERSION
from testbed.world.scenario import Scenario
from testbed.world.world import World

NEXT = "\nNext: "
DIVERGED = f"{ReplayDiverged.__name__}: "


def told_apart(play: Callable[[], World], again: str, record: str, *, twice: bool) -> World:
    """Play the recording. If it comes out otherwise, raise ReplayDiverged with the next step: with
    `twice`, that says whether it does so each time."""
    try:
        return play()
    except ReplayDiverged as error:
        if not twice:
            raise
        said, others = _body(str(error)), _others(play, again)
        other = next((text for text in others if text != said), None)
        if other is not None:
            raise ReplayDiverged(
                f"{said}\nThe next time it was another one:\n{other}\n"
                f"So something outside the World decides.{NEXT}{after_mending(again)}"
            ) from error
        raise ReplayDiverged(
            f"{said}\nIt is so each time, here and in other processes: the code has changed since "
            f"it was recorded.{NEXT}record it again: {record}"
        ) from error


def _others(play: Callable[[], World], again: str) -> list[str]:
    """What the same replay says a second time, and in other processes."""
    said = []
    try:
        play()
        said.append("it came out as recorded")
    except ReplayDiverged as error:
        said.append(_body(str(error)))
    for hash_seed in HASH_SEEDS:
        done = subprocess.run(
            [*child_command("testbed"), *shlex.split(again)[1:]],
            env=child_env(PYTHONHASHSEED=hash_seed),
            capture_output=True,
            text=True,
        )
        is_other = done.stderr.startswith(DIVERGED)
        text = done.stderr.removeprefix(DIVERGED) if is_other else f"exit code {done.returncode}"
        said.append(_body(text.rstrip("\n")))
    return said


def _body(text: str) -> str:
    """An error without its last line, which says what to do next."""
    return text.rpartition(NEXT)[0] or text


def to_tell_apart(again: str) -> str:
    """What to do to learn whether chance decides, or the code has changed."""
    return f"see which of the two it is: {again} --twice"


def line_to_record(recorded: Recorded, trust: Trust) -> str:
    """The command that records such a Run again, or searches for its breach again."""
    header = recorded.header
    words = [trust.file] if trust.file else words_for(header["scenario"], trust.folders)
    for name, value in header["switches"].items():
        words += ["--switch", f"{name}={value}"]
    for told in header.get("faults", ()):
        words += ["--faults", _fault_text(told)]
    words += policies()
    if guests := header.get("guests"):
        words += ["--guests", ",".join(guests), "--trace", recorded.path]
        return shlex.join(["testbed", "serve", *words])
    if names := header.get("attended"):
        programs = [word for name in names for word in ("--as", f"{name}=COMMAND")]
        return shlex.join(["testbed", "attach", *words, *programs])
    if recorded.end.get("verdict") == "violated":
        return shlex.join(["testbed", "search", *words, "--until-first"])
    return shlex.join(["testbed", "run", *words, "--seed", "1", "--trace", recorded.path])


def _fault_text(told: dict[str, Any]) -> str:
    """A fault of a header as `--faults` takes it: `2*crash:alpha,restart_after_ms=2000`."""
    usual = {"word", "target", "times_max"}
    settings = [f",{name}={value}" for name, value in told.items() if name not in usual]
    times = f"{told['times_max']}*" if "times_max" in told else ""
    return f"{times}{told['word']}:{told['target']}{''.join(settings)}"


def with_tape(recipe: Scenario, recorded: Recorded, *, by_turns: bool = False) -> Scenario:
    """The Scenario, and what joined if real programs took part in that recorded Run."""
    if "attended" not in recorded.header:
        return recipe
    # Only such traces need it, and it is not to be loaded for others.
    from testbed.attended import tape

    header = recorded.header
    return tape.with_tape(
        recipe, header["attended"], recorded.steps, guests=header.get("guests", ()),
        by_turns=by_turns,
    )  # fmt: skip


def begin_as(recorded: Recorded) -> None:
    """Let virtual time begin at the date at which that Run began, until the command ends."""
    click.get_current_context().with_resource(beginning_at(recorded.header.get("epoch", "")))


def check_same(recorded: Recorded, played: list[bytes], following: str, record: str) -> None:
    """Raise ReplayDiverged, with that next step, unless every line is the same. Three things may
    differ: the version in the header, switches that did not exist yet, and the end of a Run that
    was interrupted."""
    # Each line ends in a sum over all lines before it, so with another header all sums differ.
    lines, now = list(recorded.lines), decode(played[0])
    _check_switches(recorded.header.get("in_force", {}), now.get("in_force", {}), record)
    header: dict[str, Any] = {**recorded.header, "testbed": VERSION}
    if "in_force" in now:
        header = {**header, "in_force": now["in_force"]}
    if header != recorded.header:
        header.pop("sum", None)
        lines[0] = encode_line(header)[:-1] + b',"sum":""}\n'
        lines, played = (list(map(_without_sum, some)) for some in (lines, played))
    if str(recorded.end["end"]).startswith("interrupted"):
        lines, played = lines[:-1], played[: len(lines) - 1]
    compare(lines, played, following)


def _check_switches(then: dict[str, str], now: dict[str, str], record: str) -> None:
    """Refuse if a switch of the recorded Run has another value now. New switches are no matter."""
    for name in then:
        if now.get(name, then[name]) != then[name]:
            raise ReplayDiverged(
                f"{name} was {then[name]} when it was recorded, and is {now[name]} now: the "
                f"component has changed since.{NEXT}record it again: {record}"
            )


def _without_sum(line: bytes) -> bytes:
    return line.rpartition(b',"sum":')[0] + b"}\n"
