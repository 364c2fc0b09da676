"""The Python client of Kubernetes against a served cluster: every row gives what it says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import ApiException

from tests.attended import asking
from tests.attended.kubectl_rows import NODE, POD
from tests.attended.python_rows import GROUPS, LATER, Ask
from tests.attended.serving import serving


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A node and a pod."""
    path = tmp_path_factory.mktemp("python") / "cluster.yaml"
    path.write_text(NODE.format("n1") + POD.format("first", "1.25"))
    return path


@pytest.fixture(scope="module")
def words(manifest: Path) -> Iterator[dict[str, Any]]:
    """One cluster for all groups, of which nothing goes on by itself."""
    with serving(manifest, "--with", "none") as served:
        yield asking.words(served.kubeconfig)


def wrong_in(rows: Iterable[Ask], words: dict[str, Any]) -> list[str]:
    """The rows that give anything else, and what they gave."""
    wrong = []
    for row in rows:
        try:
            came = eval(row.code, words), False
        except ApiException as error:
            came = error.status, True
        if came != (row.gives, row.is_refused):
            wrong.append(f"{row.code}\n  → {came[0]!r}, expected {row.gives!r}")
    return wrong


@pytest.mark.parametrize("group", GROUPS)
def test_the_python_client_is_answered(group: str, words: dict[str, Any]) -> None:
    """Each expression in order gives its value, or is refused with its code."""
    assert not (wrong := wrong_in(GROUPS[group], words)), "\n".join(wrong)


def test_the_python_client_is_told_what_takes_minutes(manifest: Path) -> None:
    """In a cluster of its own, of which a thousand seconds pass in one."""
    with serving(manifest, "--with", "none", "--speed", "1000") as served:
        wrong = wrong_in(LATER, asking.words(served.kubeconfig))
    assert not wrong, "\n".join(wrong)
