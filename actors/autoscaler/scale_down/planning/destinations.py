"""Destinations: to which nodes the pods of each node would go, by the last simulations.

If pods of two nodes would go to the same place, both may have counted on the same room. So when
one of them is deleted, the other is no longer known to be unneeded (CA-27).
"""

from __future__ import annotations

from collections.abc import Iterable

USES_MAX = 50
"""How many nodes are remembered for one; beyond that it is taken to be tied to all."""


class Uses:
    """What one node uses and what uses it, each with the time of the last simulation."""

    def __init__(self) -> None:
        self.using: dict[str, int] = {}
        self.used_by: dict[str, int] = {}
        self.is_using_too_many = False
        self.is_used_by_too_many = False

    @property
    def is_void(self) -> bool:
        """Whether nothing is left of it."""
        is_bounded = not self.is_using_too_many and not self.is_used_by_too_many
        return is_bounded and not self.using and not self.used_by

    def forget_before(self, cutoff_ms: int) -> None:
        """Forget what is older, unless some was left out already."""
        if not self.is_using_too_many:
            self.using = {name: at for name, at in self.using.items() if at >= cutoff_ms}
        if not self.is_used_by_too_many:
            self.used_by = {name: at for name, at in self.used_by.items() if at >= cutoff_ms}


class Destinations:
    """Where pods would have gone, for one life of the autoscaler."""

    def __init__(self) -> None:
        self._uses: dict[str, Uses] = {}

    def note(self, node: str, destination: str, now_ms: int) -> None:
        """A pod of the node would go to that destination."""
        mine = self._uses.setdefault(node, Uses())
        if len(mine.using) >= USES_MAX:
            mine.is_using_too_many = True
        else:
            mine.using[destination] = now_ms
        theirs = self._uses.setdefault(destination, Uses())
        if len(theirs.used_by) >= USES_MAX:
            theirs.is_used_by_too_many = True
        else:
            theirs.used_by[node] = now_ms

    def forget_before(self, cutoff_ms: int) -> None:
        """Forget what was simulated before that time."""
        for uses in self._uses.values():
            uses.forget_before(cutoff_ms)
        self._uses = {name: uses for name, uses in self._uses.items() if not uses.is_void}

    def leave(self, node: str, unneeded: Iterable[str]) -> list[str]:
        """Forget a node that goes. Returns the nodes that are no longer known to be unneeded: it
        and those that would use one of its destinations, or all if there are too many to tell."""
        tied = {node, *self._tied_to(node, unneeded)}
        gone = self._uses.pop(node, None)
        if gone is not None:
            for other in gone.using:
                if other in self._uses:
                    self._uses[other].used_by.pop(node, None)
            for other in gone.used_by:
                if other in self._uses:
                    self._uses[other].using.pop(node, None)
        return sorted(tied)

    def _tied_to(self, node: str, unneeded: Iterable[str]) -> Iterable[str]:
        mine = self._uses.get(node)
        if mine is None:
            return ()
        places = [self._uses[name] for name in mine.using if name in self._uses]
        if mine.is_using_too_many or any(place.is_used_by_too_many for place in places):
            return unneeded
        return [other for place in places for other in place.used_by]

    def digest(self, now_ms: int) -> object:
        """All of it; times count from now."""
        return tuple(
            (
                name, tuple((other, at - now_ms) for other, at in sorted(uses.using.items())),
                tuple((other, at - now_ms) for other, at in sorted(uses.used_by.items())),
            )
            for name, uses in sorted(self._uses.items())
        )  # fmt: skip
