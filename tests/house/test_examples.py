"""What Hypothesis draws here: the usual run draws the same everywhere, the long one afresh."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from tests.shared.examples import FRESH, SAME

DRAWS = """
import sys

import hypothesis
import hypothesis.strategies as st
from tests.shared.examples import load_profile

load_profile(sys.argv[1])
if sys.argv[2]:
    __import__(sys.argv[2])
drawn = []


@hypothesis.settings(max_examples=60)
@hypothesis.given(st.integers(), st.text())
def draw(number, text):
    drawn.append((number, text))


draw()
print(ascii(drawn))
"""


class Drawer:
    """A script that draws in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "draws.py").write_text(DRAWS)

    def drawn(self, markexpr: str, loaded: str = "") -> str:
        """What is drawn if that `-m` is given, with that module loaded."""
        top = Path(__file__).parent.parent.parent
        run = [sys.executable, "draws.py", markexpr, loaded]
        env = {**os.environ, "PYTHONPATH": str(top)}
        done = subprocess.run(run, cwd=self.folder, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def drawer(tmp_path: Path) -> Drawer:
    """One in a folder of its own."""
    return Drawer(tmp_path)


def test_the_usual_run_draws_the_same_whatever_is_loaded(drawer: Drawer) -> None:
    """A first run fails for what is wrong, never by chance, on any number of workers."""
    assert drawer.drawn("not long", "testbed.world.play") == drawer.drawn("")


def test_the_long_run_draws_afresh(drawer: Drawer) -> None:
    """Each time other examples."""
    assert drawer.drawn("long") != drawer.drawn("long")


def test_these_tests_run_under_that_profile(request: pytest.FixtureRequest) -> None:
    """Whatever the environment says: Hypothesis has a profile of its own for CI."""
    is_usual = request.config.option.markexpr == "not long"
    assert settings.get_current_profile_name() == (SAME if is_usual else FRESH)
    assert settings().derandomize is is_usual
