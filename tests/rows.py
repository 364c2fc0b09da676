"""Rows: a table that one test goes through; each row that fails is named, and hides no other."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from reprlib import Repr
from typing import Any

import pytest

Test = Callable[..., None]
SHORT = Repr()
SHORT.maxstring = SHORT.maxother = 60


def rows(
    names: str | tuple[str, ...],
    table: Iterable[Any],
    *,
    ids: Callable[[Any], object] | Iterable[str] | None = None,
) -> Callable[[Test], Test]:
    """Call a test with each row, written as `pytest.mark.parametrize` is.

    That makes a case of each row, which is collected anew by every worker process, and given its
    own fixtures. These rows are one case and share its fixtures: so they are for what is quick and
    leaves nothing behind. Tables that stand above each other are combined, as pytest combines them.
    """
    known = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]
    told = [*table]
    labels = [*map(ids, told)] if callable(ids) else [*ids] if ids is not None else told
    own = [
        (dict(zip(known, row if len(known) > 1 else [row], strict=True)), _called(label))
        for row, label in zip(told, labels, strict=True)
    ]
    assert own, "a table without a row proves nothing"

    def decorate(test: Test) -> Test:
        inner: Test = getattr(test, "each_row", test)
        below = getattr(test, "table", [({}, "")])
        both = [
            ({**less, **more}, ", ".join(filter(None, [name, label])))
            for less, name in below
            for more, label in own
        ]

        @wraps(inner)
        def played(subtests: pytest.Subtests, **fixtures: Any) -> None:
            for row, label in both:
                with subtests.test(label):
                    inner(**row, **fixtures)

        played.__dict__.update(getattr(test, "__dict__", {}), each_row=inner, table=both)
        given = inspect.signature(inner).parameters.values()
        left = [each for each in given if each.name not in both[0][0]]
        asked = inspect.Parameter("subtests", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        played.__signature__ = inspect.Signature([asked, *left])  # type: ignore[attr-defined]
        return played

    return decorate


def _called(row: Any) -> str:
    """The name of a row: its text, or as much of its values as a line holds."""
    if isinstance(row, str):
        return row
    values = row if isinstance(row, Sequence) else [row]
    return ", ".join(getattr(value, "__name__", None) or SHORT.repr(value) for value in values)
