"""A table in one case tries every row, and names each that fails."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from tests.each_row import each_row

TRIED: list[tuple[int, str]] = []


@each_row("name", ["a", "b"])
@each_row(("more", "fewer"), [(2, 1), (4, 3)], ids=["by one", "by one again"])
async def test_each_row_of_each_table_is_tried(name: str, more: int, fewer: int) -> None:
    """In their order; an async test is one, too."""
    assert more > fewer
    TRIED.append((more, name))
    assert [(2, "a"), (4, "a"), (2, "b"), (4, "b")][: len(TRIED)] == TRIED


def test_the_rows_that_fail_are_named() -> None:
    """All of them, whatever they fail with, beside those that hold; fixtures are asked for."""

    @pytest.mark.spec("API-1")
    @each_row("row", [1, 0, "x"])
    def check(tmp_path: str, row: Any) -> None:
        """Divide, and dislike texts."""
        if isinstance(row, str):
            pytest.fail(f"{row} in {tmp_path}")
        assert 1 / row == 1

    assert [*inspect.signature(check).parameters] == ["tmp_path"]
    assert [mark.name for mark in check.pytestmark] == ["spec"]
    with pytest.raises(BaseExceptionGroup, match="2 of 3 rows fail") as caught:
        check(tmp_path="here")
    assert [note for error in caught.value.exceptions for note in error.__notes__] == [
        "in the row row=0",
        "in the row row='x'",
    ]


def test_a_skip_is_no_failure_of_a_row() -> None:
    """It is the whole test's."""

    @each_row("row", [1, 2])
    def leave(row: int) -> None:
        """Prove nothing."""
        pytest.skip(f"{row}")

    with pytest.raises(pytest.skip.Exception):
        leave()


def test_a_table_has_rows_of_its_names() -> None:
    """Or it is refused where it stands."""
    with pytest.raises(AssertionError, match="without a row"):
        each_row("row", [])
    with pytest.raises(AssertionError, match="a row of 2 values"):
        each_row("one, other", [(1, 2, 3)])
