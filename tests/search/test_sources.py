"""The sources of a World: all that is reached, wherever it lies, but for what the testbed needs."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from testbed.code.whose import USED
from testbed.search.sources import NEEDED, digests

ROOT = Path(__file__).parent.parent.parent

TREE = {
    "race.py": "import json, attrs\nfrom lab.parts import (Actor)\n",
    "lab/__init__.py": "",
    "lab/parts.py": "from . import names\nfrom .deep.more import LIMIT\nclass Actor: ...\n",
    "lab/names.py": "NAME = 'alpha'\n",
    "lab/deep/__init__.py": "",
    "lab/deep/more.py": "from ..names import NAME\nLIMIT = 3\ndef late():\n    import lazy\n",
    "lazy.py": "import broken\n",
    "broken.py": "def (\n",
    "lab/apart.py": "",
    "apart.py": "",
}


@pytest.fixture
def tree(own: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of modules, some of which are loaded."""
    for name, text in TREE.items():
        (own / name).parent.mkdir(parents=True, exist_ok=True)
        (own / name).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(own))
    importlib.import_module("race")
    return own


def test_imports_are_followed_wherever_they_stand(tree: Path) -> None:
    """Relative ones, those of a name in a package, and those within a function; in one order.
    Not what nobody imports, what the testbed needs, what comes with Python, or the testbed."""
    assert list(digests(["race", "testbed.world.world"])) == [
        "broken", "lab", "lab.deep", "lab.deep.more", "lab.names", "lab.parts", "lazy", "race",
    ]  # fmt: skip
    assert digests(["race"]) == digests(["lab.parts", "race"])


@pytest.mark.parametrize("file", ["race.py", "lab/names.py", "lazy.py"])
def test_an_edit_of_any_of_them_shows(tree: Path, file: str) -> None:
    """And of that one alone."""
    before = digests(["race"])
    (tree / file).write_text(TREE[file] + "# more\n", encoding="utf-8")
    after = digests(["race"])
    changed = [name for name in before if before[name] != after[name]]
    assert changed == [file.removesuffix(".py").replace("/", ".")]


def test_what_comes_with_the_testbed_is_of_it() -> None:
    """A scenario of ours is made of actors of ours, and those need libraries."""
    found = digests(["scenarios.slots.double_bind"])
    assert {"scenarios.slots.double_bind", "actors.shared.verbs"} <= set(found)
    assert not {name.partition(".")[0] for name in found} - {"actors", "scenarios"}


def test_it_makes_no_difference_where_code_lies(tree: Path) -> None:
    """The same modules in a folder of installed packages, as a wheel puts them there, beside a copy
    of ours: the digests are the same, and an edit shows."""
    own = digests(["race"])
    ours = digests(["actors.shared.verbs"])
    site = tree / "venv" / "site-packages"
    site.mkdir(parents=True)
    for name in ("race.py", "lab", "lazy.py", "broken.py"):
        (tree / name).rename(site / name)
    for name in ("testbed", "actors", "scenarios"):
        shutil.copytree(ROOT / name, site / name, ignore=shutil.ignore_patterns("__pycache__"))
    code = (
        "import json, sys; from testbed.search.sources import digests\n"
        "print(json.dumps(digests(sys.argv[1:])))"
    )

    def installed(name: str) -> dict[str, str]:
        done = subprocess.run(
            [sys.executable, "-c", code, name],
            env={"PYTHONPATH": str(site)},
            cwd=tree,
            capture_output=True,
            check=True,
        )
        found: dict[str, str] = json.loads(done.stdout)
        return found

    assert installed("race") == own
    assert ours
    assert installed("actors.shared.verbs") == ours
    (site / "lab/names.py").write_text("NAME = 'beta'\n", encoding="utf-8")
    assert installed("race") != own


def test_what_the_testbed_needs_is_named() -> None:
    """Every dependency is left out, by one of the two lists."""
    needs = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {re.split(r"[^\w]", need)[0].replace("pyyaml", "yaml") for need in needs}
    assert names - USED == NEEDED
