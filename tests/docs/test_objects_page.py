"""docs/objects.md is complete, and is what the classes say."""

from __future__ import annotations

import inspect
import re

import attrs
import pytest

import testbed.objects
from testbed.objects import KINDS, Object
from tests.each_row import each_row
from tests.models import objects_page
from tests.models.api_page import fields_told
from tests.models.objects_page import PAGE, kinds, page, parts_of

TEXT = PAGE.read_text(encoding="utf-8")
HEADINGS = re.findall(r"^### `(\w+)`", TEXT, re.MULTILINE)
PARTS = sorted({part for kind in KINDS for part in parts_of(kind)}, key=lambda cls: cls.__name__)


def test_the_page_is_what_the_classes_say() -> None:
    """Word by word. `.venv/bin/python -m tests.models.api_page` writes it again."""
    assert page() == TEXT, "docs/objects.md is old: .venv/bin/python -m tests.models.api_page"


def test_every_class_has_its_entry_once() -> None:
    """Every kind, every part of one, and every class that `testbed.objects` hands out."""
    handed_out = {
        name for name in testbed.objects.__all__ if inspect.isclass(getattr(testbed.objects, name))
    }
    assert len(HEADINGS) == len(set(HEADINGS))
    assert {part.__name__ for part in PARTS} | handed_out == set(HEADINGS)
    assert set(kinds()) == set(KINDS)


@each_row("cls", PARTS, ids=lambda cls: cls.__name__)
def test_every_part_can_be_imported_and_every_field_is_told(cls: type) -> None:
    """A user sets a field by what the page says: so each has a row, with its type and a text."""
    assert getattr(testbed.objects, cls.__name__) is cls
    start = TEXT.index(f"### `{cls.__name__}`\n")
    part = TEXT[start:].split("\n### ", 1)[0]
    rows = dict(
        re.findall(r"^\| `(\w+)`[^|]* \| (`[^`]+`[^|]*(?:\\\|[^|]*)* \| .+) \|$", part, re.M)
    )
    common = {field.name for field in attrs.fields(Object)} if issubclass(cls, Object) else set()
    wanted = {field.name for field in attrs.fields(cls)} - common
    assert wanted <= set(rows)
    assert all(fields_told(cls)[name] for name in wanted)


def test_the_example_runs() -> None:
    """What the page writes first is Python, and makes what it says."""
    (example,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    made: dict[str, object] = {}
    exec(compile(example, str(PAGE), "exec"), made)
    assert made["held"].meta.finalizers == ("example.com/backup",)  # type: ignore[attr-defined]
    assert made["bound"].is_bound  # type: ignore[attr-defined]
    assert made["budget"].covers(made["pod"].meta)  # type: ignore[attr-defined]
    assert made["owned"].key == "pods/shop/web-1"  # type: ignore[attr-defined]


def test_a_field_that_is_not_told_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page is made of the strings beneath the fields: without one there is no page."""
    monkeypatch.setattr(objects_page, "fields_told", lambda cls: {})
    with pytest.raises(KeyError):
        page()
