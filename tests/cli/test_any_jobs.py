"""Commands that play many Runs: the same is printed and found, in however many processes."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from testbed.child import Jobs
from testbed.cli import main
from testbed.cli.benches import search
from testbed.world.chooser_kinds import seeded

ENV = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
LINES = (
    "sweep double_bind --fault crash --restart-ms 0 --json",
    "sweep lost_update --fault stall",
    "compare lost_update --switch guard=off --switch guard=on --runs 12",
    "compare lost_update --switch guard=off --switch guard=on --runs 12 --json",
    "mutants actors.cloud --runs 40 --json",
    "check scenarios/caches/late_bind.race.yaml pyproject.toml scenarios/basics",
    "check scenarios/slots --json",
)
needs_fork = pytest.mark.skipif(sys.platform != "linux", reason="only there a process is forked")


@pytest.mark.parametrize("line", LINES)
def test_any_number_of_processes_prints_the_same(
    line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And exits with the same code; the line to paste has a number only if one was said."""
    monkeypatch.setattr("testbed.cli.jobs.ALONE_S", 0.01)
    monkeypatch.setattr("testbed.cli.jobs.processors", lambda: 2)
    # Whatever threads those have who run the tests.
    monkeypatch.setattr("testbed.search.sharing.can_fork", lambda: sys.platform == "linux")
    said = {}
    for jobs in ("", " --jobs 1", " --jobs 2", " --jobs 3"):
        code = main(shlex.split(line + jobs))
        said[jobs] = code, capsys.readouterr().out.replace(jobs, "")
    assert said[""][1]
    assert said == dict.fromkeys(said, said[""])


def test_a_bench_counts_the_same_in_any_number_of_processes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Runs to the first violation, and Runs to shrink; how quick they are may differ."""
    monkeypatch.setattr(search, "RATED", 2)
    monkeypatch.setattr("testbed.search.sharing.can_fork", lambda: sys.platform == "linux")

    def counted(jobs: int) -> dict[str, Any]:
        (found,) = search.measure(2, 20, scenario="lost_update", jobs=Jobs(jobs)).values()
        shrinking = found.pop("shrinking")
        for name in seeded():
            del found[name]["runs_per_s"]
        return {**found, **{name: shrinking[name] for name in ("races", "runs", "runs_at_most")}}

    alone = counted(1)
    assert alone["races"]
    assert counted(2) == alone


def children_of(pid: int) -> list[int]:
    """Its child processes."""
    return [*map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]


def cpu_ticks_of(pid: int) -> int:
    """How long it has been at work, in hundredths of a second of a processor."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


@needs_fork
@pytest.mark.parametrize("command", ["search", "sweep"])
def test_a_worker_that_is_killed_changes_nothing_that_is_found(
    tmp_path: Path, command: str
) -> None:
    """Killed for real, with Runs before it and after it."""
    line = {
        "search": "double_bind --switch guard=on --runs 800 --json --jobs 2",
        "sweep": "stolen_slot --fault crash --runs-max 200 --json --jobs 2",
    }[command]
    words = [sys.executable, "-m", "testbed", command, *shlex.split(line)]
    untouched = subprocess.run(words, env=ENV, cwd=tmp_path, capture_output=True, check=False)
    begun = subprocess.Popen(words, env=ENV, cwd=tmp_path, stdout=subprocess.PIPE)
    while len(workers := children_of(begun.pid)) < 2:
        assert begun.poll() is None
    while cpu_ticks_of(workers[0]) < 2:
        assert begun.poll() is None
    os.kill(workers[0], signal.SIGKILL)
    out, _ = begun.communicate()
    found, expected = json.loads(out), json.loads(untouched.stdout)
    # A search says that it had to replace one, and nothing else differs.
    reports = found.pop("reports", ["was ended by signal 9"])
    assert (len(reports), "was ended by signal 9" in reports[0]) == (1, True)
    assert expected.pop("reports", []) == []
    assert found == expected
    assert begun.returncode == untouched.returncode


@needs_fork
def test_ctrl_c_leaves_no_process(tmp_path: Path) -> None:
    """Of a command whose Runs are shared out; and no traceback is printed."""
    words = [sys.executable, "-m", "testbed", "sweep", "stolen_slot", "--fault", "crash"]
    begun = subprocess.Popen(
        [*words, "--jobs", "2"], env=ENV, cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    while len(workers := children_of(begun.pid)) < 2:
        assert begun.poll() is None
    begun.send_signal(signal.SIGINT)
    _, err = begun.communicate()
    assert (begun.returncode, "Traceback" in err) == (130, False)
    for pid in workers:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
