"""docs/manifests.md is true: its files are written, its commands print what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.objects.manifests import manifest
from testbed.objects.manifests.manifest import MISTAKES_MAX
from testbed.objects.manifests.yaml_stream import BYTES_MAX, DEPTH_MAX, NODES_MAX
from tests.each_row import each_row
from tests.shared.pages import BLOCK, as_shown, call, commands

PAGE = (Path(__file__).parent.parent.parent / "docs/manifests.md").read_text(encoding="utf-8")
BLOCKS = [(kind, text) for kind, text in BLOCK.findall(PAGE)]
COMMANDS = [each for kind, text in BLOCKS if kind == "console" for each in commands(text)]


@pytest.fixture
def saved(own: Path) -> Path:
    """The folder of a reader who has saved the files of the page."""
    for kind, text in BLOCKS:
        if kind != "console":
            (own / text.partition("\n")[0].removeprefix("# ")).write_text(text)
    return own


@each_row(("command", "said"), COMMANDS)
def test_every_command_prints_what_is_shown(saved: Path, command: str, said: str) -> None:
    """And ends as it says: with 2 where there is a mistake."""
    code, printed = call(command, saved)
    assert as_shown(said).fullmatch(printed), f"{command}\n{printed}"
    assert code == (2 if "ManifestRefused" in said else 0)


def test_the_cluster_of_the_page_is_written_again_as_it_was_read(saved: Path) -> None:
    """With what is not modelled, and without the Secret."""
    items = manifest.load(saved / "cluster.yaml")
    text = manifest.dump(items)
    assert manifest.parse(text) == items
    assert "mountPath: /cache" in text
    assert "Secret" not in text


def test_the_limits_are_those_of_the_page() -> None:
    """What it says of sizes, and of how many mistakes are told."""
    assert f"{BYTES_MAX // 2**20} MB and {NODES_MAX:,} values" in PAGE
    assert f"nested {DEPTH_MAX} deep" in PAGE
    assert (MISTAKES_MAX, "up to twenty" in PAGE) == (20, True)
