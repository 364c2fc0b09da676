"""A folder of the user's that is called as a package of ours: ours is found, or it is named."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from testbed.errors import PackageHidden

SCRIPT = ("-P", "-c", "import sys; from testbed.__main__ import main; sys.exit(main())")
"""The console script: Python does not look into the current folder for it."""
MODULE = ("-m", "testbed")
BOTH = {
    "race.py": "import actors.mine\nimport actors.apiserver\n\n\ndef race(world):\n    pass\n",
    "actors/mine.py": "",
    "actors/__init__.py": "",
    "scenarios/__init__.py": "",
    "conftest.py": "",
    "tests/test_it.py": "from actors import scheduler\n",
}


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with folders in it that are called as ours."""
    for name, text in BOTH.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def called(*words: str, **env: str) -> tuple[int, str]:
    """The exit code of a Python with these words, and all that it has said."""
    done = subprocess.run(
        [sys.executable, *words], env={**os.environ, **env}, capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("door", [SCRIPT, MODULE], ids=["script", "module"])
def test_a_scenario_of_ours_runs_beside_them(door: tuple[str, ...], beside: Path) -> None:
    """With its actors, here and in other processes."""
    for words in ("run double_bind", "search double_bind --runs 9 --jobs 2", "list"):
        code, said = called(*door, *words.split())
        assert code in (0, 1), said
        assert "hides" not in said


@pytest.mark.parametrize("words", ["list", "run double_bind"])
def test_what_hides_ours_is_named(words: str, beside: Path) -> None:
    """On a path of the user's own that folder comes first, and nothing else is wrong."""
    assert called(*SCRIPT, *words.split(), PYTHONPATH=".") == (
        2, f"PackageHidden: {beside}/scenarios hides the testbed's own package 'scenarios'.\n"
        "Next: rename that folder, or run from another one.\n",
    )  # fmt: skip


def test_a_scenario_that_needs_both_is_told_which_folder_hides_which(beside: Path) -> None:
    """Whichever stands first, the other cannot be found under the same name."""
    said_of_ours = (
        f"PackageHidden: {beside}/actors hides the testbed's own package 'actors', so "
        "actors.apiserver is not found.\nNext: rename that folder, or run from another one.\n"
    )
    assert called(*SCRIPT, "run", "race.py:race") == (2, said_of_ours)
    (beside / "race.py").write_text("import scenarios.basics.lost_update\nimport scenarios.mine\n")
    (beside / "scenarios" / "mine.py").write_text("")
    late = "import testbed, scenarios, sys; sys.path.insert(0, ''); import race"
    code, said = called("-P", "-c", late)
    assert code == 1
    assert said.endswith(
        f"testbed.errors.PackageHidden: the testbed's own package 'scenarios' hides {beside}/"
        "scenarios, so scenarios.mine is not found.\nNext: rename that folder.\n"
    )


def test_pytest_names_it_too(beside: Path) -> None:
    """It puts the folder of a conftest.py before all others, for which nothing else is to blame."""
    code, said = called("-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert code == 2
    assert f"{beside}/actors hides the testbed's own package 'actors'" in said


def test_what_is_nowhere_is_told_as_ever() -> None:
    """It is a ModuleNotFoundError, and who guards an import against it need not know of this."""
    with pytest.raises(ModuleNotFoundError):
        __import__("actors.none")
    with pytest.raises(ModuleNotFoundError):
        __import__("nowhere.none")
    assert issubclass(PackageHidden, ImportError)
