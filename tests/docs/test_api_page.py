"""docs/api.md is complete, and is what the docstrings say."""

from __future__ import annotations

import re
from inspect import isfunction

import pytest

import testbed
from testbed import Cache, Client, Evidence, World
from testbed.invariants import caches, confluence, events, history, lives, progress, watches
from testbed.world.fault_kinds import fault_kinds
from tests.each_row import each_row
from tests.models.api_page import PAGE, claims, facade, page, points

TEXT = PAGE.read_text(encoding="utf-8")
HEADINGS = re.findall(r"^### `(?:await )?([\w.]+)", TEXT, re.MULTILINE)


def test_the_page_is_what_the_docstrings_say() -> None:
    """Word by word. `.venv/bin/python -m tests.models.api_page` writes it anew."""
    assert page() == TEXT, "docs/api.md is old: .venv/bin/python -m tests.models.api_page"


def test_every_name_of_the_facade_has_its_entry() -> None:
    """And so has every fault, by its word, and every point of the scheduler."""
    assert {name for name in testbed.__all__ if name != "__version__"} == set(facade())
    named = {*facade(), *fault_kinds(), *(point.__name__ for point in points())}
    assert named <= set(HEADINGS)
    assert len(points()) >= 9


@each_row("cls", [Client, Cache, World, Evidence])
def test_every_public_member_is_told(cls: type) -> None:
    """With a text, whatever kind of member it is; but for those of the testbed itself."""
    start = TEXT.index(f"### `{cls.__name__}`")
    part = TEXT[start : TEXT.index("\n### ", start + 1)]
    rows = dict(
        re.findall(
            r"^\| `(?:await )?(\w+)[^|]*` \| (.+) \|$", part.replace("\\|", "¦"), re.MULTILINE
        )
    )
    own = {
        name
        for name, value in vars(cls).items()
        if not name.startswith("_") and (isfunction(value) or isinstance(value, property))
        if "for the testbed itself" not in (value.__doc__ or "")
    }
    assert own <= set(rows)
    assert all(text.strip() for text in rows.values())


def test_every_setting_of_a_fault_and_every_claim_is_told() -> None:
    """Those of the testbed's own rooms among them."""
    for claim in claims():
        assert f"| `{claim.name}` | " in TEXT
    for module in (caches, confluence, events, history, lives, progress, watches):
        names = [claim.__module__ for claim in claims()]
        assert module.__name__ in names
    assert "| `restart` (`restart_after_ms`) | " in TEXT
    assert "|  |" not in TEXT


def test_a_name_that_goes_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page is made of the classes themselves: one more member is one more row."""

    def more(self: Client) -> None:
        """Something new."""

    monkeypatch.setattr(Client, "more", more, raising=False)
    assert "| `more()` | Something new. |" in page()


def test_what_a_text_sends_its_reader_to_is_on_the_page() -> None:
    """`see Limits of a Run` names a heading of the page, by all its words."""
    headings = re.findall(r"^##+ `?(?:await )?([^`(\n]+)", TEXT, re.MULTILINE)
    sent = re.findall(r", see ([A-Z][^|.,;`]*)", TEXT)
    assert sent
    assert set(map(str.strip, sent)) <= set(headings)


def test_a_change_says_where_its_objects_are() -> None:
    """Not the objects stand there, but their Entries."""
    for member in ("old", "new"):
        assert re.search(
            rf"^\| `{member}` \| The Entry .*object as its `value`;", TEXT, re.MULTILINE
        )
