"""However a Run with real programs ends, nothing of it is left: no process, no port, no file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic

import attrs
import pytest

from actors.apiserver import ApiServer
from testbed import Actor, Calm, Chooser, Client, Evidence, World, quiescent
from testbed.attended.doorman import Doorman
from testbed.attended.keeper import END_BYTES, OUTPUT_BYTES_MAX
from testbed.attended.process import RealProcess
from testbed.attended.troupe import Troupe
from testbed.attended.wall_times import WallTimes
from testbed.child import child_env
from testbed.errors import ScenarioError
from tests.attended.attending import (
    Absent,
    await_until,
    client,
    is_open,
    port_of,
    processes_in,
    written,
)
from tests.attended.programs import descriptors
from tests.shared import strike

HERE = Path(__file__).parent
TIMES = WallTimes(start_s=0.05, start_max_s=300, quiet_s=0.1, silence_s=0.1, limit_s=300)
LATE_S = 1000.0
"""How far a clock is put forward by a test that waits for the end of a patience."""
PYTHON = sys.executable

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")


def has_gone(folder: Path) -> None:
    """No process of that Run is left, its port is closed, and its folder has what it was given for,
    and nothing else."""
    assert not processes_in(folder)
    assert not is_open(port_of(folder))
    assert {path.suffix for path in folder.iterdir() if path.is_file()} <= {".kubeconfig", ".log"}


@pytest.mark.parametrize(
    ("number", "driver"),
    [(signal.SIGINT, "direct"), (signal.SIGINT, "trio"), (signal.SIGKILL, "direct")],
    ids=["Ctrl-C", "Ctrl-C-trio", "kill -9"],
)
def test_a_testbed_that_is_ended_leaves_nothing(
    number: signal.Signals, driver: str, tmp_path: Path
) -> None:
    """Its programs heed no signal, have children, and children in other sessions."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = [PYTHON, str(HERE / "driving.py"), str(tmp_path), driver]
    driving = subprocess.Popen(
        command, env=child_env(TMPDIR=str(temporary)), stderr=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    with driving:
        try:
            log = tmp_path / "beta.log"
            await_until(lambda: log.exists() and log.stat().st_size, "it has not begun")
            assert len(processes_in(tmp_path)) > 6
            driving.send_signal(number)
            told = driving.communicate(timeout=120)[1].decode()
        finally:
            driving.kill()
    if number == signal.SIGINT:
        assert "KeyboardInterrupt" in told
    else:
        # Nobody waits for the keepers, which kill the programs.
        assert driving.returncode == -signal.SIGKILL
        await_until(lambda: not processes_in(tmp_path), "some live on")
    has_gone(tmp_path)
    assert not [*temporary.iterdir()]


class Dies(Exception):
    """Raised in a World; its traceback is kept, as a test runner does."""


@attrs.frozen
class Raises(Actor):
    """An actor that raises something after a while."""

    error: BaseException = attrs.field(factory=Dies)

    async def run(self, client: Client) -> None:
        """Wait, then raise it."""
        await client.sleep(100)
        raise self.error


def world(folder: Path, command: tuple[str, ...], times: WallTimes = TIMES) -> World:
    """A World with one program."""
    made = World("left", attendance=Doorman(Troupe({"alpha": command}, folder), times))
    made.serve(ApiServer)
    made.start(Absent("alpha"))
    return made


@pytest.mark.parametrize("driver", ["direct", "trio"])
def test_a_run_that_ends_leaves_nothing(driver: str, tmp_path: Path) -> None:
    """Nor has this process more descriptors open than before."""
    before = descriptors()
    made = world(tmp_path, client("stubborn"))
    assert made.run(Calm(), driver=driver).end == "quiet"
    assert written(tmp_path, "alpha") == ["it stays"]
    has_gone(tmp_path)
    assert descriptors() == before


def claim_raises(made: World) -> Chooser:
    """The last claim cannot be judged."""

    def judged(_: Evidence) -> str | None:
        raise Dies

    made.claim(quiescent(judged))
    return Calm()


def actor_raises(made: World) -> Chooser:
    """An actor raises what ends more than its life."""
    made.start(Raises("zeta", error=ScenarioError("not so")))
    return Calm()


def chooser_raises(_: World) -> Chooser:
    """It cannot choose, when a program has begun."""
    return strike.Raises(1, Dies())


@pytest.mark.parametrize("driver", ["direct", "trio"])
@pytest.mark.parametrize("failing", [claim_raises, actor_raises, chooser_raises])
def test_a_run_that_fails_leaves_nothing(
    failing: Callable[[World], Chooser], driver: str, tmp_path: Path
) -> None:
    """An error is raised when all is gone, however long it is kept."""
    before = descriptors()
    made = world(tmp_path, client("stubborn"))
    chooser = failing(made)
    with pytest.raises((Dies, ScenarioError)) as _kept:
        made.run(chooser, driver=driver)
    has_gone(tmp_path)
    assert descriptors() == before


def test_what_a_program_has_left_behind_goes_with_it(tmp_path: Path) -> None:
    """It ends by itself, and in order; what it has started does not."""
    made = world(tmp_path, client("stubborn", "goes"))
    assert made.run(Calm()).end == "quiet"
    has_gone(tmp_path)


BREEDS = """
import os, time
print("begun", flush=True)
if os.fork():
    time.sleep(60)
while not os.fork():
    time.sleep(0.002)
"""


def test_who_starts_others_all_the_time_goes(tmp_path: Path) -> None:
    """Each lives for a moment, and starts the next: one that was not there when the processes were
    counted is killed as well."""
    log = tmp_path / "alpha.log"
    breeding = RealProcess("alpha", (PYTHON, "-c", BREEDS), log, {"FOLDER": str(tmp_path)})
    await_until(log.read_text, "it has not begun")
    breeding.kill()
    for _ in range(50):
        assert not processes_in(tmp_path)


def test_who_has_lost_its_keeper_goes(tmp_path: Path) -> None:
    """The program dies with it, and what that has started is killed with the program, unless it has
    moved to another session."""
    log = tmp_path / "alpha.log"
    forks = "import os, time; os.fork(); os.fork(); print('begun', flush=True); time.sleep(60)"
    process = RealProcess("alpha", (PYTHON, "-c", forks), log, {"FOLDER": str(tmp_path)})
    await_until(lambda: log.read_text().count("begun") == 4, "it has not begun")
    (keeper,) = [pid for pid, told in processes_in(tmp_path).items() if "keeper" in told]
    os.kill(keeper, signal.SIGKILL)
    await_until(lambda: process.exit_code is not None, "its keeper lives on")
    process.kill()
    await_until(lambda: not processes_in(tmp_path), "some live on")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("no-such-program", "-v"), "there is no program no-such-program that can be run: no-such"),
        (("./no/such", "{name}"), "there is no program ./no/such that can be run: ./no/such alpha"),
        ((str(HERE / "driving.py"),), "a script needs `chmod \\+x`"),
        ((PYTHON, "-c", "exit('no flag')"), "it has ended at once, with code 1: .*\n"
         "Its last words: no flag\nNext: "),
        ((PYTHON, "-c", ""), "it has ended at once, with code 0: .*\nIts last words: none\nNext: "),
        ((PYTHON, "-c", "import time; print('hm', flush=True); time.sleep(60)"),
         "it has asked nothing in 300 s: .*\nIts last words: hm\nNext: mend what "
         ".*alpha.log tells, and let it use the kubeconfig"),
    ],
    ids=["unknown", "unknown path", "no program", "fails", "ends", "silent"],
)  # fmt: skip
def test_a_program_that_never_asks_is_an_error(
    command: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names the program, its command, its last words and what to do; usually after 30 s, and
    here when it has said all that it says."""
    assert WallTimes().start_max_s == 30
    log = tmp_path / "alpha.log"

    def clock() -> float:
        has_said = log.exists() and "hm" in log.read_text()
        return monotonic() + LATE_S * has_said

    monkeypatch.setattr("testbed.attended.doorman.monotonic", clock)
    made = world(tmp_path, command, attrs.evolve(TIMES, limit_s=2 * LATE_S))
    with pytest.raises(ScenarioError, match=said) as raised:
        made.run(Calm())
    assert str(raised.value).startswith("alpha: ")
    has_gone(tmp_path)


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    """And no port stays open."""
    before = descriptors()
    (tmp_path / "file").touch()
    made = world(tmp_path / "file", client("stubborn"))
    with pytest.raises(ScenarioError, match=r"cannot be kept in .*/file: .*\nNext: ") as _kept:
        made.run(Calm())
    assert descriptors() == before


FLOODS = """
import os, sys
sys.path.insert(0, os.path.dirname({asker!r}))
sys.argv = ["asker", "GET /api/v1/nodes"]
for _ in range(100):
    sys.stdout.write("x" * 1_000_000 + "\\n")
print("the flood is over", flush=True)
import asker
"""


def test_a_flood_of_output_is_bounded(tmp_path: Path) -> None:
    """Of what a program writes the beginning and the end are kept."""
    flood = FLOODS.format(asker=str(HERE / "clients" / "asker.py"))
    made = world(tmp_path, (PYTHON, "-c", flood))
    assert made.run(Calm()).end == "quiet"
    log = tmp_path / "alpha.log"
    assert OUTPUT_BYTES_MAX < log.stat().st_size < OUTPUT_BYTES_MAX + 2 * END_BYTES
    with log.open("rb") as file:
        file.seek(OUTPUT_BYTES_MAX)
        end = file.read().decode()
    assert end.startswith("\n… more than 64 MB: the testbed leaves out")
    assert "the flood is over\nbegan" in end
    assert end.endswith("GET /api/v1/nodes 200\ndone\n")
    log.unlink()
