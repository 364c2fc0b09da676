"""Balancing: how new nodes are spread over groups that are alike."""

from __future__ import annotations

import pytest

from actors.autoscaler.scale_up.balancing import balanced
from actors.shared.node_groups import GroupView
from tests.each_row import each_row


def group(name: str, target: int, max_size: int = 10) -> GroupView:
    """A group of that size."""
    return GroupView(name, 0, max_size, target)


@pytest.mark.spec("CA-20")
@each_row(
    ("groups", "nodes", "expected"),
    [
        ((group("a", 0), group("b", 0)), 3, "a 0->2, b 0->1"),
        ((group("a", 3), group("b", 0)), 2, "b 0->2"),
        ((group("a", 2), group("b", 0)), 4, "b 0->3, a 2->3"),
        ((group("a", 0, 1), group("b", 0)), 4, "a 0->1, b 0->3"),
        ((group("b", 0), group("a", 0, 1)), 4, "a 0->1, b 0->3"),
        ((group("a", 5, 5), group("b", 4, 5)), 9, "b 4->5"),
        ((group("a", 1, 1),), 2, ""),
    ],
)
def test_the_smallest_groups_grow_first(
    groups: tuple[GroupView, ...], nodes: int, expected: str
) -> None:
    """One after the other, up to their maxima; full ones are asked for before the others."""
    found = balanced(groups, nodes)
    assert ", ".join(f"{each.group} {each.old}->{each.new}" for each in found) == expected
