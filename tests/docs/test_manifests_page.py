"""docs/manifests.md is true: its cluster is read, and its limits are the code's."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbed.objects.manifests import manifest
from testbed.objects.manifests.manifest import MISTAKES_MAX
from testbed.objects.manifests.yaml_stream import BYTES_MAX, DEPTH_MAX, NODES_MAX
from tests.shared.pages import page, save

PAGE = page("manifests")


@pytest.fixture
def saved(own: Path) -> Path:
    """The folder of a reader who has saved the files of the page."""
    save(PAGE, own)
    return own


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
