"""The tables of docs/attach.md are the rows that real clients ask in the tests."""

from __future__ import annotations

from tests.docs.client_tables import PAGE, kubectl_table, python_table, written


def test_the_tables_are_what_the_clients_ask() -> None:
    """Word by word. `.venv/bin/python -m tests.models.api_page` writes them again."""
    text = PAGE.read_text(encoding="utf-8")
    assert written(text) == text, "docs/attach.md is old: .venv/bin/python -m tests.models.api_page"


def test_a_row_is_shown_with_what_comes_of_it() -> None:
    """One of each form."""
    assert '| `get pod none` | `Error from server (NotFound): pods "none" not found` | 1 |' in (
        kubectl_table()
    )
    assert "| `core.read_namespaced_pod('none', 'default')` | ApiException 404 |" in python_table()
