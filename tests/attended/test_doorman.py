"""Doorman: real processes under shipped race files, one thing at a time, and nothing is left."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import attrs
import pytest

from testbed import Trace
from testbed.attended.casting import attended_by
from testbed.attended.tape import Tape, joined_of
from testbed.attended.wall_times import WallTimes
from testbed.choosers.replayed import Replayed
from testbed.objects.codec import decode
from testbed.races.playing import Played, play
from testbed.races.racefile import load
from testbed.world.scenario import find

HERE = Path(__file__).parent
FILES = HERE.parent / "race_files"
SCHEDULER = (sys.executable, str(HERE / "clients" / "scheduler.py"), "{name}")
OWN_NODES = (*SCHEDULER, "{pool}")
"""The same, that binds to nodes of its own if the actor that it stands for does."""
QUICK = WallTimes(quiet_s=0.3, speed=10)


def played(name: str, folder: Path, *, guard: str, driver: str = "direct") -> Played:
    """The play of a shipped race file with two real schedulers in place of its actors."""
    race = load(str(FILES / f"{name}.race.yaml"))
    command = OWN_NODES if name == "double_bind" else SCHEDULER
    commands = {"alpha": command, "beta": command}
    attended = attended_by(find(name), commands, lambda: folder, QUICK)
    trace = Trace({}, keep=True)
    return play(race, attended, switches={"guard": guard}, trace=trace, driver=driver)


def processes() -> set[str]:
    """The processes of this machine that speak of these tests' scheduler."""
    found = set()
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if str(HERE).encode() in command and b"scheduler.py" in command:
            found.add(pid)
    return found


@pytest.mark.parametrize(
    ("name", "claim"),
    [("double_bind", "no_node_is_overcommitted"), ("stolen_slot", "no_room_is_stolen")],
)
@pytest.mark.parametrize("guard", ["off", "on"])
def test_real_schedulers_do_what_the_race_file_says(
    name: str, claim: str, guard: str, tmp_path: Path
) -> None:
    """A file that the simulation has found, unchanged: without its guard both processes bind, with
    it they do not."""
    before = processes()
    verdict = played(name, tmp_path, guard=guard).verdict
    broken = [violation.invariant for violation in verdict.violations]
    assert broken == ([claim] if guard == "off" else []), str(verdict)
    assert verdict.outcome == ("violated" if guard == "off" else "held")
    assert processes() == before


def test_an_attended_run_replays_without_its_programs(tmp_path: Path) -> None:
    """Its trace is enough: the same lines to the byte, under the other driver."""
    first = played("double_bind", tmp_path, guard="off", driver="trio").trace
    steps = tuple(line for each in first.lines() if "do" in (line := decode(each)))
    tape = Tape({"alpha", "beta"}, joined_of(steps))
    again = attrs.evolve(find("double_bind"), attendance=lambda: tape).world({"guard": "off"})
    again.run(Replayed(steps, again="no"), driver="direct", trace=Trace({}, keep=True))
    assert [*again.trace.lines()] == [*first.lines()]
