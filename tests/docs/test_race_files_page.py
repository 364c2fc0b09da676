"""docs/race-files.md is true: its examples are played and matter, its commands print that."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import attrs
import pytest

from testbed.races.pattern import FORMS, parse_pattern
from testbed.races.playing import play
from testbed.races.race import Race
from testbed.races.racefile import parse
from testbed.world.fault_kinds import fault_kinds
from testbed.world.fault_settings import setting_fields
from testbed.world.scenario import find
from tests.each_row import each_row
from tests.shared.pages import BLOCK, Terminal, page, save, shown

PAGE = page("race-files")
BLOCKS = [(kind, text) for kind, text in BLOCK.findall(PAGE)]
FRAGMENTS = [text for kind, text in BLOCKS if kind == "yaml" and text.startswith("- ")]
SHOP = "scenario: shop:shop\n"


def whole(fragment: str) -> str:
    """A race file of these lines alone."""
    word = fragment.removeprefix("- ").partition(":")[0]
    section = "holds" if word == "hold" else "faults" if word in fault_kinds() else "picks"
    return f"{SHOP}{section}:\n{fragment}"


@pytest.fixture
def shop(own: Path) -> Path:
    """The folder of a reader who has saved the files of the page."""
    save(PAGE, own)
    (race,) = (text for kind, text in BLOCKS if kind == "yaml" and text.startswith("#"))
    (own / "lost_update.race.yaml").write_text(race)
    (own / "own.race.yaml").write_text(f"{SHOP}expect: {{holds: []}}\n")
    sys.path.insert(0, str(own))
    return own


@each_row("fragment", FRAGMENTS)
def test_every_example_matters(fragment: str, shop: Path) -> None:
    """Each of its lines speaks of something, and makes a difference; the file is written back."""
    text = whole(fragment)
    if "is down" in fragment:
        text += "faults:\n- crash: ben\n  at: 1200ms\n"
    race = parse(text, "a.race.yaml")
    played = play(race, find("shop:shop"))
    assert [str(fate.deviation) for fate in played.fates if not fate.took_place] == []
    assert [str(fate.deviation) for fate in played.fates if fate.expired and _waits(fate)] == []
    assert parse(race.text(), "b.race.yaml") == race


def _waits(fate: object) -> bool:
    return getattr(getattr(fate, "deviation", None), "until", None) is not None


def test_every_command_prints_what_is_shown(terminal: Terminal, shop: Path) -> None:
    """In a folder with the files of the page."""
    assert len(shown(PAGE)) == 5
    terminal.assert_prints(shown(PAGE), shop)


def kinds_of(sentences: list[str]) -> set[str]:
    """The kinds of Options that they speak of."""
    return {pattern.kind for pattern in map(parse_pattern, sentences) if pattern is not None}


def test_nothing_that_can_be_said_is_left_out() -> None:
    """Every form of sentence, every fault, every setting of one and every part has its place."""
    said = "".join(FRAGMENTS)
    assert set(re.findall(r"^- ([a-z_]+):", said, re.MULTILINE)) >= set(fault_kinds())
    settings = {name for kind in fault_kinds().values() for name in setting_fields(kind)}
    assert set(re.findall(r"^  ([a-z]+):", said, re.MULTILINE)) >= settings
    held = re.findall(r'^- hold: "?(.+?)"?(?: +#.*)?$', said, re.MULTILINE)
    assert kinds_of(held) == kinds_of(re.findall("`([^`]+)`", FORMS))
    for field in (field for field in attrs.fields(Race) if field.eq):
        assert f"`{field.name}:`" in PAGE
    for word in fault_kinds():
        assert f"| `{word}: " in PAGE
