"""Listing order: the order of nodes and pods where Go would take them from a map.

A map of Go has no order: a program gets another one each time. What is taken first can matter:
which of two equal pods finds the last room, which of two empty nodes goes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from testbed import Client

Order = Callable[[str, Sequence[str]], list[str]]
"""Puts sorted names into an order; the label says what they are names of."""


def as_sorted(_label: str, names: Sequence[str]) -> list[str]:
    """The dullest order: as they are."""
    return list(names)


def picked_by(client: Client) -> Order:
    """Any order: the Chooser picks each next one."""

    def order(label: str, names: Sequence[str]) -> list[str]:
        left, ordered = list(names), []
        while len(left) > 1:
            ordered.append(client.pick(f"next of {label}", left))
            left.remove(ordered[-1])
        return [*ordered, *left]

    return order
