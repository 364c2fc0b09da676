"""Doorman: real processes under shipped race files, one thing at a time, and nothing is left."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from testbed import Trace
from testbed.attended.casting import attended_by
from testbed.attended.wall_times import WallTimes
from testbed.cli import main
from testbed.races.playing import Played, play
from testbed.world.scenario import find
from tests.attended.attending import processes_in
from tests.models.worlds.shelved import race_named

HERE = Path(__file__).parent
SCHEDULER = (sys.executable, str(HERE / "clients" / "scheduler.py"), "{name}")
OWN_NODES = (*SCHEDULER, "{pool}")
"""The same, that binds to nodes of its own if the actor that it stands for does."""
QUICK = WallTimes(quiet_s=0.3, speed=10)


def played(name: str, folder: Path, *, guard: str, driver: str = "direct") -> Played:
    """The play of a shipped race file with two real schedulers in place of its actors."""
    race = race_named(name)
    command = OWN_NODES if name == "double_bind" else SCHEDULER
    commands = {"alpha": command, "beta": command}
    attended = attended_by(find(name), commands, lambda: folder, QUICK)
    trace = Trace({}, keep=True)
    return play(race, attended, switches={"guard": guard}, trace=trace, driver=driver)


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
    verdict = played(name, tmp_path, guard=guard).verdict
    broken = [violation.invariant for violation in verdict.violations]
    assert broken == ([claim] if guard == "off" else []), str(verdict)
    assert verdict.outcome == ("violated" if guard == "off" else "held")
    assert not processes_in(tmp_path)


def test_an_attended_run_replays_and_is_told_without_its_programs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Byte for byte, from what has joined it; and the commands for traces take such a trace."""
    first = played("double_bind", tmp_path, guard="off", driver="trio")
    assert "attended by alpha and beta" in str(first.verdict)
    file = str(tmp_path / "trace.jsonl")
    Path(file).write_bytes(b"".join(first.trace.lines()))
    for words in (["replay", "--driver", "direct"], ["replay", "--twice"], ["explain", "--md"]):
        assert main([*words, file]) == 1
        assert "(replayed), attended by alpha and beta, 12 turns" in capsys.readouterr().out
    assert main(["replay", file, "--shrink"]) == 2
    line = "testbed search double_bind --switch guard=off --switch kubelet=off --as alpha=COMMAND"
    assert line in capsys.readouterr().err


def test_where_threads_cannot_be_seen_a_gap_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program is then at rest after a silence of stated length, and no state is looked at."""
    monkeypatch.setattr("testbed.attended.quiet.CAN_LOOK", False)
    monkeypatch.setattr("testbed.attended.process.is_at_work", lambda _: pytest.fail("it looked"))
    assert played("double_bind", tmp_path, guard="off").verdict.is_violated
