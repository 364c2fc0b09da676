"""docs/apiserver.md is true: its scenario is raced, and its commands print that."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.shared.pages import BLOCK, Terminal, page, save, shown

PAGE = page("apiserver")
RACE = next(text for kind, text in BLOCK.findall(PAGE) if kind == "yaml")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a reader who has saved the files of the page."""
    save(PAGE, tmp_path)
    (tmp_path / "torn.race.yaml").write_text(RACE)
    return tmp_path


def test_every_command_prints_what_is_shown(terminal: Terminal, folder: Path) -> None:
    """In that folder; and the guarded side holds."""
    assert len(shown(PAGE)) == 3
    terminal.assert_prints(shown(PAGE), folder)


def test_the_search_finds_the_race_of_the_page(terminal: Terminal, folder: Path) -> None:
    """And writes it to a file of those very lines."""
    code, printed = terminal.call("testbed search torn:torn --until-first", folder)
    assert code == 1, printed
    (found,) = (folder / "races").glob("*.race.yaml")
    assert found.read_text().replace("switches: {guard: off}\n", "") == RACE


def test_two_servers_stand_before_one_store(terminal: Terminal, folder: Path) -> None:
    """A scenario without actors comes to rest at once."""
    code, printed = terminal.call("testbed run two:two", folder)
    assert code == 0, printed
