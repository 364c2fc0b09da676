"""History: without a write, what came later keeps what it changed itself."""

from __future__ import annotations

from testbed.objects import Note
from testbed.store.change import Change
from testbed.store.store import Store
from testbed.story.twins.history import WHOLE, Undone, history
from tests.shared.stage import note

A = "notes/default/a"


def written(*values: Note | None) -> list[Change]:
    """The Changes of these writes of one note; None removes it."""
    store = Store()
    for value in values:
        if value is None:
            store.delete(A)
        else:
            store.put(A, value)
    return store.log().changes


def left(changes: list[Change], undone: Undone) -> list[object]:
    """What each write leaves now; `out` for one that is left out."""
    return [
        "out" if each.is_out else each.value if each.value is None else dict(each.value.data)  # type: ignore[attr-defined]
        for each in history(changes, undone)
    ]


START = note("a", x="0", y="0")
CHANGES = written(START, START.saying(x="1"), START.saying(x="1", y="1"), None, note("a", z="1"))


def test_nothing_undone_is_the_same() -> None:
    """To the value."""
    assert [each.value for each in history(CHANGES, {})] == [c.after for c in CHANGES]


def test_what_was_written_later_keeps_what_it_changed_itself() -> None:
    """And not what stood there from the write that is left out."""
    assert left(CHANGES, {2: WHOLE})[1:3] == ["out", {"x": "0", "y": "1"}]


def test_one_field_may_be_left_out() -> None:
    """As it stood before; the others stay."""
    both = written(START, START.saying(x="1", y="1"))
    assert left(both, {2: "data.x"}) == [{"x": "0", "y": "0"}, {"x": "0", "y": "1"}]


def test_what_was_never_made_is_never_written_until_another_of_that_name_is() -> None:
    """Its updates and its removal go, too; the next one is another object."""
    assert left(CHANGES, {1: WHOLE}) == ["out", "out", "out", "out", {"z": "1"}]
