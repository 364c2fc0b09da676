"""What a transaction is made of; that the Store performs it as etcd does is proven against etcd."""

from __future__ import annotations

import pytest

from testbed.errors import Invalid
from testbed.store.change import Entry
from testbed.store.txn import ONWARD, Compare, Delete, Get, Put, check_operations, end_of
from tests.each_row import each_row

ENTRY = Entry("pods/a", "m", created=3, revision=7, version=2)


@each_row(
    ("target", "held", "less", "more"),
    [("version", 2, 1, 3), ("created", 3, 2, 4), ("revision", 7, 6, 8), ("value", "m", "a", "z")],
)
def test_each_target_is_compared_by_each_sign(
    target: str, held: object, less: object, more: object
) -> None:
    """Of an Entry with the middle value, exactly the true comparisons hold."""
    for value in (less, held, more):
        true = {"=": value == held, "!=": value != held, "<": value is more, ">": value is less}
        for sign, expected in true.items():
            assert Compare("pods/a", target, sign, value).holds(ENTRY) is expected


def test_an_absent_key_counts_0_and_has_no_value() -> None:
    """Its numbers compare as 0; a comparison of its value is never true, not even `!=`."""
    for target in ("version", "created", "revision"):
        assert Compare("pods/a", target, "=", 0).holds(None)
    assert not Compare("pods/a", "value", "!=", "m").holds(None)


@each_row(("target", "sign"), [("size", "="), ("value", "~")])
def test_an_unknown_comparison_is_refused(target: str, sign: str) -> None:
    """The error names what there is."""
    with pytest.raises(Invalid) as refused:
        Compare("pods/a", target, sign, 1)
    assert str(refused.value) == (
        f"cannot compare '{target}' by '{sign}': a target is one of version, created, revision, "
        "value, a sign one of = != < >"
    )


def test_a_delete_covers_its_key_or_its_range() -> None:
    """Alone one key; with an end up to before it; with ONWARD all that follow."""
    assert [Delete("b").covers(key) for key in "abc"] == [False, True, False]
    assert [Delete("b", "c").covers(key) for key in "abc"] == [False, True, False]
    assert [Delete("b", ONWARD).covers(key) for key in "abc"] == [False, True, True]


@each_row(
    ("operations", "text"),
    [
        ([Get("")], "the key is empty; give one such as pods/default/p1"),
        ([Put("a", 1), Put("a", 1)], "duplicate key in a transaction: a is put twice"),
        ([Put("a", 1), Delete("a")], "duplicate key in a transaction: a is both put and deleted"),
        ([Delete("a", "c"), Put("b", 1)], "duplicate key in a transaction: b is both"),
    ],
)
def test_operations_that_cannot_go_together_are_refused(
    operations: list[Put | Delete | Get], text: str
) -> None:
    """Before anything is performed, and the error names the key."""
    with pytest.raises(Invalid, match=text):
        check_operations(operations)


def test_deletes_and_gets_of_one_key_go_together() -> None:
    """Only a Put must be alone with its key."""
    check_operations([Delete("a"), Delete("a", "b"), Get("a"), Get("a"), Put("b", 1), Get("b")])


@each_row(
    ("prefix", "end"),
    [("pods/", "pods0"), ("a", "b"), ("", ONWARD), ("\U0010ffff", ONWARD), ("a\U0010ffff", "b")],
)
def test_a_prefix_ends_before_the_next_key_without_it(prefix: str, end: str) -> None:
    """A last character that has no successor gives way to the one before it."""
    assert end_of(prefix) == end
