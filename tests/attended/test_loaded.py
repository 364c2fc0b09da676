"""What is needed for real programs is loaded for them only, and whoever lacks it is told so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from testbed.child import child_env
from testbed.cli.commands import bench

LOADED = """
import sys
from testbed.cli import main
main(sys.argv[1:])
loaded = [name for name in sys.modules if name == "h11" or name.startswith("testbed.attended")]
print("loaded:", *loaded)
"""
WITHOUT_H11 = """
import sys
sys.modules["h11"] = None
from testbed.cli import main
sys.exit(main(sys.argv[1:]))
"""


def done(code: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What a Python of its own has said, which ran this code with these words."""
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(
        command, cwd=folder, env=child_env(), capture_output=True, text=True, timeout=300
    )


@pytest.mark.parametrize(
    "line",
    ["--help", "attach --help", "demo", "run lost_update", "search lost_update --until-first"],
)
def test_no_other_command_loads_it(line: str, tmp_path: Path) -> None:
    """Neither h11 nor anything of the room for real programs."""
    assert done(LOADED, tmp_path, *line.split()).stdout.splitlines()[-1] == "loaded:"


def test_attach_loads_it(tmp_path: Path) -> None:
    """So a list that is empty proves something."""
    line = ("attach", "lost_update", "--as", "alpha=no-such-program")
    told = done(LOADED, tmp_path, *line).stdout.splitlines()[-1]
    assert {"h11", "testbed.attended.doorman"} <= {*told.split()}


def test_who_lacks_h11_is_told_how_to_get_it(tmp_path: Path) -> None:
    """It comes with an extra, and is asked for when a program is to be attached."""
    told = done(WITHOUT_H11, tmp_path, "attach", "lost_update", "--as", "alpha=true")
    assert (told.returncode, told.stdout) == (2, "")
    assert "a package that is not installed: h11.\nNext: pip install 'multisched" in told.stderr
    assert "multisched-testbed[attach]" in told.stderr


def test_all_benchmarks_are_measured_without_it_but_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is left out, which is told; asked for by its name it is an error."""
    assert bench.measurable() == [*bench.BENCHES]
    monkeypatch.setitem(sys.modules, "h11", None)
    assert bench.measurable() == [each for each in bench.BENCHES if each != "door"]
    said = "left out: door. Next: pip install 'multisched-testbed[attach]'\n"
    assert capsys.readouterr().err == said
