"""docs/apiserver.md is true: its scenario is raced, and its commands print that."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.shared.pages import BLOCK, as_shown, call, commands

PAGE = (Path(__file__).parent.parent.parent / "docs/apiserver.md").read_text(encoding="utf-8")
BLOCKS = [(kind, text) for kind, text in BLOCK.findall(PAGE)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a reader who has saved the files of the page."""
    for kind, text in BLOCKS:
        if kind == "python":
            name = text.partition("\n")[0]
            if name.startswith("# "):
                (tmp_path / name.removeprefix("# ")).write_text(text)
    (race,) = (text for kind, text in BLOCKS if kind == "yaml")
    (tmp_path / "torn.race.yaml").write_text(race)
    return tmp_path


def test_every_command_prints_what_is_shown(folder: Path) -> None:
    """In that folder; and the guarded side holds."""
    shown = [each for kind, text in BLOCKS if kind == "console" for each in commands(text)]
    assert len(shown) == 3
    for command, output in shown:
        _, printed = call(command, folder)
        assert as_shown(output).fullmatch(printed), f"{command}\n{printed}"


def test_the_search_finds_the_race_of_the_page(folder: Path) -> None:
    """And writes it to a file of those very lines."""
    code, printed = call("testbed search torn:torn --until-first", folder)
    assert code == 1, printed
    (race,) = (text for kind, text in BLOCKS if kind == "yaml")
    (found,) = (folder / "races").glob("*.race.yaml")
    assert found.read_text().replace("switches: {guard: off}\n", "") == race


def test_two_servers_stand_before_one_store(folder: Path) -> None:
    """A scenario without actors comes to rest at once."""
    code, printed = call("testbed run two:two", folder)
    assert code == 0, printed
