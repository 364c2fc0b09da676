"""docs/scheduler.md is true: its files run, and its table is the code's."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.scheduler.switches import SCHEDULER
from testbed.cli import main
from testbed.policy import Part
from testbed.switches import USUAL
from tests.each_row import each_row
from tests.shared.pages import page, save

PAGE = page("scheduler")


@pytest.fixture
def folder(own: Path) -> Path:
    """The folder of a reader who has saved the files of the page."""
    save(PAGE, own)
    return own


@each_row(
    ("switch", "guard", "said"),
    [
        ("scores=+Crowded", "off", "alpha made room for pods/default/db on n1"),
        ("victims=Nobody", "off", "where pods/default/job goes"),
        ("plugins=+Veto", "on", "every_pod_has_a_node is broken: pods/default/db has no node"),
        ("decider=ByName", "on", "alpha chose n2 for pods/default/db"),
        ("scheduler=Careless", "on", "alpha chose n1 for pods/default/db: it is the first"),
    ],
)
def test_every_policy_of_the_page_serves(
    folder: Path, switch: str, guard: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where its switch is; without any, it is n1 that makes room."""
    mine = ["--policy", "mine.py"]
    words = ["rooms:rooms", *mine, "--switch", f"alpha.{switch}", "--switch", f"guard={guard}"]
    code = int("broken" in said)
    assert main(["run", *words, "--trace", "a.jsonl"]) == code, capsys.readouterr().out
    assert main(["explain", "a.jsonl", "--scenario", "rooms:rooms", *mine]) == code
    assert said in capsys.readouterr().out


def test_the_tests_of_the_page_pass(folder: Path, pytester: pytest.Pytester) -> None:
    """As a reader would run them."""
    for file in folder.iterdir():
        (pytester.path / file.name).write_text(file.read_text())
    options = ("-p", "testbed.pytest_plugin", "-p", "no:cacheprovider", "-q", "test_rooms.py")
    pytester.runpytest_subprocess(*options).assert_outcomes(passed=2)


def table() -> str:
    """Every switch of a scheduler: what it is about, what it is in 1.26, what it may be else."""
    said, usual = SCHEDULER.says(), SCHEDULER.flat(SCHEDULER.of())
    others = [profile for profile in SCHEDULER.known_profiles if profile != USUAL]
    lines = ["| switch | says | 1.26 | or |", "|---|---|---|---|"]
    for name, kind in SCHEDULER.kinds.items():
        if isinstance(kind, Part):
            continue
        told = []
        for word in kind.words:
            flats = [p for p in others if SCHEDULER.flat(SCHEDULER.of(p))[name] == word]
            if word != usual[name]:
                of = f" ({', '.join(f'`{profile}`' for profile in flats)})" if flats else ""
                told.append(f"`{word}`{of}")
        if kind.least is not None:
            told.append(f"a whole number from {kind.least}")
        lines.append(f"| `{name}` | {said[name]} | `{usual[name]}` | {', '.join(told)} |")
    return "\n".join(lines) + "\n"


@pytest.mark.spec("GEN-2")
def test_the_table_of_switches_is_the_codes() -> None:
    """With what each is in every profile."""
    assert table() in PAGE


def test_the_page_names_each_part_that_can_be_ones_own() -> None:
    """In the table of what a policy may be."""
    for name, kind in SCHEDULER.kinds.items():
        if isinstance(kind, Part):
            assert f"| `{name}` |" in PAGE
