"""docs/kubelet.md and docs/controllers.md are true: their commands print that."""

from __future__ import annotations

from pathlib import Path

import pytest
from pages import BLOCK, as_shown, call, commands

DOCS = Path(__file__).parent.parent.parent / "docs"


@pytest.mark.parametrize("page", ["kubelet", "controllers"])
def test_every_command_prints_what_is_shown(page: str, tmp_path: Path) -> None:
    """In a folder with the files of the page."""
    blocks = BLOCK.findall((DOCS / f"{page}.md").read_text(encoding="utf-8"))
    for kind, text in blocks:
        if kind == "python":
            name = text.partition("\n")[0].removeprefix("# ")
            (tmp_path / name).write_text(text)
    shown = [each for kind, text in blocks if kind == "console" for each in commands(text)]
    assert shown
    for command, output in shown:
        _, printed = call(command, tmp_path)
        assert as_shown(output).fullmatch(printed), f"{command}\n{printed}"
