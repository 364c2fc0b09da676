"""The sources of one's own: all that is reached, and nothing that is installed."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from testbed.search.sources import digests

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
    Not what nobody imports, what is installed, what comes with Python, or the testbed."""
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
