"""docs/testing.md is true: what it shows is there, and its tests and commands do as it says."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest

from testbed.cli import main
from testbed.pytest_plugin import OPTIONS
from testbed.races.racefile import parse
from testbed.strategies import runs  # noqa: F401 (kept loaded over an inner pytest)

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs/testing.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def block(kind: str, number: int = 0) -> str:
    """One of the blocks of that kind."""
    texts: list[str] = [text for name, text in BLOCKS if name == kind]
    return texts[number]


def test_the_race_file_is_the_one_that_is_kept() -> None:
    """Line for line, but for the comments."""
    kept = (ROOT / "scenarios/basics/lost_update.race.yaml").read_text()
    assert parse(block("yaml"), "page") == parse(kept, "kept")


def test_the_given_test_passes() -> None:
    """As it stands, it can be pasted."""
    names: dict[str, object] = {}
    exec(compile(block("python", 1), "testing.md", "exec"), names)
    test = names["test_no_signature_is_lost"]
    assert callable(test)
    test()


def test_the_marked_scenario_is_collected(pytester: pytest.Pytester) -> None:
    """Each mark is a test; every option of the mark is told of."""
    hotel = """
        from testbed import always

        def a_room_has_one_guest(see):
            return None

        def open_hotel(world, guard):
            world.claim(always(a_room_has_one_guest))
        """
    (pytester.path / "hotel.py").write_text(dedent(hotel))
    (pytester.path / "test_hotel.py").write_text(block("python"))
    result = pytester.runpytest_inprocess(
        "-p", "testbed.pytest_plugin", "-p", "no:cacheprovider", "--collect-only", "-q"
    )
    assert result.outlines[:2] == [
        "test_hotel.py::last_room[guard=on]", "test_hotel.py::last_room[guard=off]",
    ][::-1]  # fmt: skip
    for option in OPTIONS:
        assert f"`{option}`" in PAGE


def test_the_sweep_is_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """Every line of its table, in that order."""
    sweeps = next(text for _, text in BLOCKS if text.startswith("$ testbed sweep"))
    first, *lines = sweeps.splitlines()
    assert main(first.removeprefix("$ testbed ").split()) == 1
    assert capsys.readouterr().out.splitlines()[: len(lines) - 1] == lines[:-1]


def test_what_looks_again_and_again_comes_to_rest(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the page prints it."""
    number = next(n for n, (_, text) in enumerate(BLOCKS) if text.startswith("# polls.py"))
    (own / "polls.py").write_text(BLOCKS[number][1])
    command, printed = BLOCKS[number + 1][1].splitlines()[:2]
    assert main(command.removeprefix("$ testbed ").split()) == 0
    begins, ends = printed.split("…")
    said = capsys.readouterr().out.splitlines()[0]
    assert said.startswith(begins)
    assert said.endswith(ends)
