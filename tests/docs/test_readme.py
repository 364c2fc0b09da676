"""README.md is true: what it quotes is there, and what it says to run does what it says."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import pytest

from testbed.cli import COMMANDS, main
from tests.shared.golden import Stories

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
PYTHON = [text for kind, text in BLOCKS if kind == "python"]
PLAIN = [line for kind, text in BLOCKS if not kind for line in text.splitlines()]
CODES = {"held": 0, "violated": 1}


def bare(text: str) -> dict[str, str]:
    """Each class and function of a module, without its docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            said = [part for part in body if _is_text(part)]
            node.body = [part for part in body if part not in said]  # type: ignore[attr-defined]
    kept = (ast.ClassDef, ast.FunctionDef)
    return {node.name: ast.unparse(node) for node in tree.body if isinstance(node, kept)}


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def test_the_quoted_scenario_is_the_file() -> None:
    """All of it but its docstrings, its imports and its claim: to the letter of the code."""
    quoted = bare(PYTHON[0])
    there = bare((ROOT / "scenarios/basics/lost_update.py").read_text(encoding="utf-8"))
    assert list(quoted) == ["Writer", "lost_update"]
    assert quoted == {name: there[name] for name in quoted}
    assert set(there) - set(quoted) == {"every_signature_is_kept"}


def test_setting_up_takes_two_commands() -> None:
    """Both can be pasted; the first shows a race at once."""
    assert PLAIN[:2] == [
        "python3 -m venv .venv && .venv/bin/pip install -e '.[dev]' && .venv/bin/testbed demo",
        ".venv/bin/python -m pytest",
    ]


def test_demo_prints_what_is_shown(stories: Stories) -> None:
    """To the letter what tests/cli/test_cli.py holds it to."""
    told = (stories.folder / "demo.txt").read_text(encoding="utf-8")
    assert f"```\n$ testbed demo\n{told}```\n" in README


def test_the_commands_do_what_is_promised(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each ends in the verdict that stands beside it, and a recorded one is replayed and told."""
    lines = [line.partition("#") for line in PLAIN if line.startswith("testbed ")]
    assert len(lines) == 6
    for command, _, comment in lines:
        code = main(shlex.split(command)[1:])
        promised = comment.rpartition(":")[2].strip()
        assert code == CODES.get(promised, 1), command
        assert capsys.readouterr().err == ""
    assert (own / "race.jsonl").exists()


def test_the_test_to_copy_passes() -> None:
    """The block for one's own tests is a whole test, and it holds."""
    names: dict[str, object] = {}
    exec(compile(PYTHON[1], "README.md", "exec"), names)
    test = names["test_no_signature_is_lost"]
    assert callable(test)
    test()


def test_the_exit_codes_and_commands_are_those_of_the_command_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every code that is promised stands in --help with the same meaning; every command that is
    named exists, and does know --json."""
    said = " ".join(README.split())
    codes = re.search(r"Exit codes: (.*?)\.", said)
    assert codes is not None
    main(["--help"])
    helped = " ".join(capsys.readouterr().out.split()).partition("Exit codes: ")[2]
    number = re.compile(r"(\d+) (\w+)")
    promised = [code for code in number.findall(codes[1]) if code[0] != "4"]
    assert promised == [code for code in number.findall(helped) if code[0] != "4"]
    named = re.findall(r"^testbed (\w+)|`testbed ([a-z]+)", README, re.MULTILINE)
    assert {one or other for one, other in named} <= set(COMMANDS)
    for name in COMMANDS:
        main([name, "--help"])
        assert "--json" in capsys.readouterr().out


def test_every_link_leads_somewhere() -> None:
    """Each file that README.md and docs/tour.md point at is there."""
    for page in (ROOT / "README.md", ROOT / "docs/tour.md"):
        links = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
        assert links
        assert [link for link in links if not (page.parent / link).exists()] == []
