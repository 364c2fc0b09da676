"""docs/testing.md is true: what it shows is there, and its tests and commands do as it says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from testbed import Calm, World, quiescent
from testbed.cli import main
from testbed.cli.show import as_dict
from testbed.objects import Pod
from testbed.pytest_plugin import OPTIONS
from testbed.races.racefile import parse
from testbed.strategies import runs  # noqa: F401 (kept loaded over an inner pytest)
from testbed.turns.found import REASONS
from tests.never_rest.test_never_rest import TWELVE
from tests.shared.pages import Terminal, files, save, shown

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


def test_a_claim_that_returns_its_data_is_shown_with_it() -> None:
    """By its sentence, its reason and what it is about; the page has all that `--json` has."""
    names: dict[str, Any] = {}
    exec(compile(block("python", 1), "testing.md", "exec"), names)
    world = World("test")
    world.add(*(Pod.of(name, node_name="n1") for name in ("a", "b")))
    world.claim(quiescent(names["one_holder"]))
    (told,) = as_dict(world.run(Calm(), driver="direct"))["violations"]
    assert told == {**json.loads(block("json")), "step": told["step"]}


def test_every_reason_is_told() -> None:
    """Each that a claim may name."""
    assert all(f"`{reason}`" in PAGE for reason in REASONS)


def test_the_given_test_passes() -> None:
    """As it stands, it can be pasted."""
    names: dict[str, object] = {}
    exec(compile(block("python", 2), "testing.md", "exec"), names)
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
    first, *lines = block("console", -1).splitlines()
    assert main(first.removeprefix("$ testbed ").split()) == 1
    assert capsys.readouterr().out.splitlines()[: len(lines) - 1] == lines[:-1]


def test_programs_that_never_rest_end_as_is_shown(terminal: Terminal, tmp_path: Path) -> None:
    """Each file can be saved and run; two of the twelve are shown as they are kept."""
    section = PAGE.partition("## Programs that never rest")[2].partition("\n## ")[0]
    save(section, tmp_path)
    assert len(shown(section)) == 5
    terminal.assert_prints(shown(section), tmp_path)
    kept = ROOT / "tests/never_rest"
    for name in ("lock.py", "rollout.py"):
        assert files(section)[name] == f"# {name}\n{(kept / name).read_text(encoding='utf-8')}"
    for world in TWELVE:
        assert f"| `{world}` |" in section
