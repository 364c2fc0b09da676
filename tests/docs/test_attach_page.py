"""docs/attach.md is true: its programs race as it shows, and hold when mended as it says."""

from __future__ import annotations

import inspect
import os
import re
import shlex
import sys
from pathlib import Path

import attrs
import pytest

from testbed.cli import main
from testbed.cli.commands.attach import command
from testbed.testing.attended import Attended
from testbed.testing.attending import Attending

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs/attach.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
FILES = [(named[1], block) for block in BLOCKS if (named := re.match(r"# (\w+\.\w+)\n", block))]
"""Each file that the page shows, in its order, by its name; adder.py comes twice."""


@pytest.fixture
def laid(own: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with these files, the adder as it is before it is mended."""
    for name, block in reversed(FILES):
        (own / name).write_text(block)
    here = Path(sys.executable).parent
    monkeypatch.setenv("PATH", f"{here}{os.pathsep}{os.environ['PATH']}")
    return own


def test_the_race_is_told_as_it_is_shown(laid: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Line for line, but for figures of the machine."""
    first, *shown = next(block for block in BLOCKS if block.startswith("$ ")).splitlines()
    assert main([*shlex.split(first.removeprefix("$ testbed ")), "--quiet", "0.3"]) == 1
    said = capsys.readouterr().out.replace(" --quiet 0.3", "").splitlines()
    pattern = "\n".join(re.escape(line).replace("…", ".*") for line in shown)
    assert re.fullmatch(pattern, "\n".join(said)), "\n".join(said)


def test_mended_it_holds_in_the_test_that_is_shown(laid: Path, pytester: pytest.Pytester) -> None:
    """It fails with the adder that stands first on the page, by the race of the test before."""
    options = ("-p", "no:cacheprovider", "-p", "testbed.pytest_plugin", "-W", "error")
    for name, _ in FILES:
        (pytester.path / name).write_text((laid / name).read_text())
    mended = FILES[[name for name, _ in FILES].index("adder.py", 1)][1]
    assert "409" in mended
    (pytester.path / "adder.py").write_text(mended)
    pytester.runpytest_subprocess(*options, timeout=300).assert_outcomes(passed=1)


def test_every_option_and_name_is_there() -> None:
    """What the page names exists, and what takes part in a play stands on the page."""
    for option in command.params:
        for flag in option.opts:
            if flag.startswith("--") and flag not in ("--scenario-path", "--policy"):
                assert flag in PAGE, flag
    for name in inspect.signature(Attending.__call__).parameters:
        assert name in ("self", "what", "programs") or f"`{name}" in PAGE, name
    for name in ("is_held", "violated", "story", "verdict", "trace", "log", "plays", "must_hold"):
        known = {*vars(Attended), *attrs.fields_dict(Attended)}
        assert name in known, name
        assert f"`{name}" in PAGE, name
