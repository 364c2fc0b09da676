"""The pages of docs/ are true: their files are saved, their commands run in the order in which they
stand, and print what is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.shared.pages import Terminal, files, page, save, shown

COUNTS = {
    "autoscaler": 7, "controllers": 4, "design": 2, "kubelet": 5, "manifests": 3, "scheduler": 9,
    "tour": 7, "yunikorn": 4,
}  # fmt: skip
"""How many commands each page shows; other pages have a test of their own."""


@pytest.mark.parametrize("name", COUNTS)
def test_every_command_prints_what_is_shown(name: str, terminal: Terminal, tmp_path: Path) -> None:
    """In one folder with the files of the page."""
    save(page(name), tmp_path)
    assert len(shown(page(name))) == COUNTS[name]
    terminal.assert_prints(shown(page(name)), tmp_path)


def test_the_claim_that_the_design_shows_has_five_lines() -> None:
    """As it says."""
    (code,) = files(page("design")).values()
    claim = code.partition("def no_pod_has_to_go")[2].partition("\n\n\n")[0]
    assert claim.count("\n") + 1 == 5
