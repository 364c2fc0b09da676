"""docs/races.md is what the scenarios say of themselves, and README has each of their themes."""

from __future__ import annotations

import re
from pathlib import Path

from testbed.world import shelf
from testbed.world.scenario import known
from tests.docs.races_page import PAGE, text

README = Path(__file__).parent.parent.parent / "README.md"


def test_the_page_is_what_the_scenarios_say() -> None:
    """Made again from the docstrings, it is the same."""
    said = "run: .venv/bin/python -m tests.docs.races_page"
    assert PAGE.read_text(encoding="utf-8") == text(), said


def test_every_scenario_is_on_it() -> None:
    """Under its theme, once."""
    found = re.findall(r"^### `(\w+)`$", text(), re.MULTILINE)
    assert sorted(found) == [scenario.name for scenario in known()]


def test_readme_names_each_theme() -> None:
    """What its races have in common, and each of them."""
    readme = README.read_text(encoding="utf-8")
    for theme in shelf.themes():
        names = [p.scenario.name for p in shelf.pages() if p.theme == theme]
        listed = ", ".join(f"`{name}`" for name in names)
        subject = shelf.subject_of(theme).rstrip(".")
        assert f"| [{theme}](docs/races.md#{theme}) | {subject} | {listed} |" in readme
