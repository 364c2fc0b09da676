"""What the pages of docs/ share: a terminal."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.shared.pages import Terminal, open_terminal


@pytest.fixture(scope="session")
def terminal(untimed: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """One for all pages."""
    with open_terminal(tmp_path_factory.mktemp("terminal")) as one:
        yield one
