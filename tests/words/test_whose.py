"""Whose: whose code a file is, wherever it lies."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import attrs
import click
import hypothesis
import pytest
import yaml

import testbed
from testbed.code.whose import INSTALLED, OWN, PYTHON, SHIPPED, TESTBED, whose
from tests.each_row import each_row

ROOT = Path(__file__).parent.parent.parent
SITE = sysconfig.get_path("purelib")


@each_row(
    ("file", "kind"),
    [
        (testbed.__file__, TESTBED),
        (str(ROOT / "testbed/world/play.py"), TESTBED),
        (str(ROOT / "actors/kubelet/runtime.py"), SHIPPED),
        (str(ROOT / "scenarios/basics/lost_update.py"), SHIPPED),
        (str(ROOT / "actors_of_mine/a.py"), OWN),
        (str(ROOT / "mine.py"), OWN),
        (__file__, OWN),
        (f"{sys.prefix}/work/mine.py", OWN),
        (f"{sys.base_prefix}/src/app/scenarios/mine.py", OWN),
        ("/elsewhere/scenarios/mine.py", OWN),
        ("<string>", OWN),
        ("<stdin>", OWN),
        (os.__file__, PYTHON),
        (subprocess.__file__, PYTHON),
        ("<frozen importlib._bootstrap>", PYTHON),
        ("<attrs generated init testbed.x.Y>", PYTHON),
        (attrs.__file__, PYTHON),
        (click.__file__, PYTHON),
        (yaml.__file__, PYTHON),
        (hypothesis.__file__, PYTHON),
        (f"{SITE}/shop/scenario.py", INSTALLED),
        (f"{SITE}/shop.py", INSTALLED),
        (f"{sys.base_prefix}/lib/python3/dist-packages/shop.py", INSTALLED),
    ],
)
def test_whose_code_a_file_is(file: str, kind: str) -> None:
    """The testbed's, what comes with it, a library's, Python's, or the user's own."""
    assert whose(file) == kind


BAD = """\
from testbed import World

def ours(world: World) -> None:
    world.wire.serve(3)

def theirs(world: World) -> None:
    [].index(3)

def by_a_library(world: World) -> None:
    import json
    json.loads("{")

def by_an_object(world: World) -> None:
    from testbed.objects import Pod
    Pod.of("p", finalisers=())
"""


@pytest.mark.parametrize(
    ("scenario", "code", "said"),
    [
        ("mine:ours", 4, "HarnessBug: AttributeError"),
        ("mine:theirs", 2, "mine.py, line 7: theirs raised ValueError"),
        ("mine:by_a_library", 2, "mine.py, line 11: by_a_library raised JSONDecodeError"),
        ("mine:by_an_object", 2, "mine.py, line 15: by_an_object raised TypeError"),
        ("shop.scenario:theirs", 2, "scenario.py, line 7: theirs raised ValueError"),
        ("shop.scenario:ours", 4, "HarnessBug: AttributeError"),
    ],
)
def test_who_is_blamed_where_the_testbed_is_installed(
    scenario: str, code: int, said: str, tmp_path: Path
) -> None:
    """Among the libraries, as a wheel puts it: a bug of ours that the user's code reaches is ours,
    and what is the user's own is theirs, also if it is installed, too."""
    site = tmp_path / "lib/site-packages"
    for room in ("testbed", "actors", "scenarios"):
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / room, site / room, ignore=ignore)
    (site / "shop").mkdir()
    (site / "shop/__init__.py").touch()
    (site / "shop/scenario.py").write_text(BAD)
    (tmp_path / "mine.py").write_text(BAD)
    ran = subprocess.run(
        [sys.executable, "-m", "testbed", "run", scenario],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(site)}, capture_output=True, text=True,
    )  # fmt: skip
    assert (ran.returncode, said in ran.stderr) == (code, True), ran.stderr
