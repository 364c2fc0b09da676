"""Unneeded nodes: since when the cluster could have done without each of them."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from testbed.objects import Node, Pod


@attrs.frozen
class Removal:
    """A node that could be removed, and what would have to move for it."""

    node: Node
    pods: tuple[Pod, ...] = ()
    """The pods that would find another place; none: the node is empty."""
    is_risky: bool = False
    """Whether its pods cannot all be evicted at once, for want of a budget."""

    @property
    def name(self) -> str:
        """The name of the node."""
        return self.node.meta.name


@attrs.frozen
class UnneededClock:
    """How long a node has been unneeded, and its removal as last simulated."""

    since_ms: int
    removal: Removal


class UnneededNodes:
    """The clocks, by node. A clock runs while every pass finds the node unneeded (CA-27)."""

    def __init__(self) -> None:
        self._clocks: dict[str, UnneededClock] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._clocks

    @property
    def clocks(self) -> list[UnneededClock]:
        """All of them, by name of their node."""
        return [self._clocks[name] for name in sorted(self._clocks)]

    @property
    def nodes(self) -> list[Node]:
        """The unneeded nodes, by name."""
        return [clock.removal.node for clock in self.clocks]

    @property
    def since_ms(self) -> dict[str, int]:
        """When each clock began."""
        return {clock.removal.name: clock.since_ms for clock in self.clocks}

    def update(self, removals: Iterable[Removal], now_ms: int) -> None:
        """These nodes are unneeded now, and no others."""
        known = self.since_ms
        self._clocks = {
            each.name: UnneededClock(known.get(each.name, now_ms), each) for each in removals
        }

    def drop(self, name: str) -> None:
        """Stop the clock of a node, if it has one."""
        self._clocks.pop(name, None)

    def clear(self) -> None:
        """Stop all clocks."""
        self._clocks = {}
