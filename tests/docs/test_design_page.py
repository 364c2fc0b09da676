"""docs/design.md is true where it shows a claim of one's own: it runs, and says that."""

from __future__ import annotations

from pathlib import Path

from tests.shared.pages import BLOCK, as_shown, call, commands

PAGE = (Path(__file__).parent.parent.parent / "docs/design.md").read_text(encoding="utf-8")


def test_the_claim_of_the_page_runs_and_prints_what_is_shown(tmp_path: Path) -> None:
    """In a folder with its file, one command after another."""
    blocks = [(kind, text) for kind, text in BLOCK.findall(PAGE) if kind]
    assert [kind for kind, _ in blocks] == ["python", "console"]
    (_, code), (_, console) = blocks
    (tmp_path / code.partition("\n")[0].removeprefix("# ")).write_text(code)
    shown = [*commands(console)]
    assert len(shown) == 2
    for command, output in shown:
        _, printed = call(command, tmp_path)
        assert as_shown(output).fullmatch(printed), f"{command}\n{printed}"


def test_the_claim_of_the_page_has_five_lines() -> None:
    """As it says."""
    (code,) = (text for kind, text in BLOCK.findall(PAGE) if kind == "python")
    claim = code.partition("def no_pod_has_to_go")[2].partition("\n\n\n")[0]
    assert claim.count("\n") + 1 == 5
