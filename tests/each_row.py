"""A table in one case: the test is called with each row, and every row that fails is named."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

FAILURES = (Exception, pytest.fail.Exception)
"""What a row may fail with; a skip, a stop or Ctrl-C is none of its own, and goes on."""


def each_row(
    names: str | tuple[str, ...],
    rows: Iterable[Any],
    ids: Iterable[str] | Callable[[Any], object] | None = None,
) -> Callable[[Callable[..., Any]], Any]:
    """Make one case of a test and a table, in the words of `pytest.mark.parametrize`.

    A case for each row costs more than most rows do. All rows are tried, whichever fail before, and
    what they failed with is told of each, with its row. The rows share the test's fixtures: a test
    that changes one has parameters instead.
    """
    given = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]
    table = [_values(row, len(given)) for row in rows]
    assert table, f"a table of {', '.join(given)} without a row proves nothing"
    names_of_rows = None if ids is None or callable(ids) else [*ids]

    def title(place: int) -> str:
        if names_of_rows is not None:
            return names_of_rows[place]
        shown = ids if callable(ids) else repr
        return ", ".join(
            f"{name}={_shown(value, shown)}"
            for name, value in zip(given, table[place], strict=True)
        )

    def in_one_case(test: Callable[..., Any]) -> Any:
        def every_row(**fixtures: Any) -> None:
            failed: list[BaseException] = []
            for place, values in enumerate(table):
                with _noted(functools.partial(title, place), failed):
                    test(**dict(zip(given, values, strict=True)), **fixtures)
            _tell(failed, len(table))

        async def every_row_in_turn(**fixtures: Any) -> None:
            failed: list[BaseException] = []
            for place, values in enumerate(table):
                with _noted(functools.partial(title, place), failed):
                    await test(**dict(zip(given, values, strict=True)), **fixtures)
            _tell(failed, len(table))

        made: Any = every_row_in_turn if inspect.iscoroutinefunction(test) else every_row
        functools.update_wrapper(made, test)
        # Where pytest finds which fixtures to give; else it would ask for a row's names, too.
        del made.__wrapped__
        signature = inspect.signature(test)
        left = [value for name, value in signature.parameters.items() if name not in given]
        made.__signature__ = signature.replace(parameters=left)
        return made

    return in_one_case


def _values(row: Any, count: int) -> tuple[Any, ...]:
    if count == 1:
        return (row,)
    values = tuple(row)
    assert len(values) == count, f"a row of {count} values, not {values!r}"
    return values


def _shown(value: Any, shown: Callable[[Any], object]) -> str:
    try:
        return f"{shown(value)}"
    except ValueError:  # an integer of more digits than Python writes
        return f"<{type(value).__name__}>"


@contextmanager
def _noted(title: Callable[[], str], failed: list[BaseException]) -> Iterator[None]:
    """Keep what the row fails with, and in it which row that was."""
    try:
        yield
    except FAILURES as error:
        error.add_note(f"in the row {title()}")
        failed.append(error)


def _tell(failed: list[BaseException], count: int) -> None:
    if failed:
        raise BaseExceptionGroup(f"{len(failed)} of {count} rows fail", failed)
