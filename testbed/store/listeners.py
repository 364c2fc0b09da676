"""Listeners: what a Store calls when it has committed Changes of a kind, or has forgotten some."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from testbed.errors import HarnessBug
from testbed.store.change import Change
from testbed.store.footprint import NOTHING, Footprint

Listener = Callable[[Change], None]
Forgetter = Callable[[], None]


class Listeners:
    """The listeners of one Store, by kind.

    They are called in the order in which they were added, and none of them may write to the Store.
    A kind without listeners costs nothing.
    """

    def __init__(self) -> None:
        # Each kind's are a dict that is replaced, never changed: it may be gone through while one
        # of them adds or removes another.
        self._of: dict[str, dict[Listener, tuple[Forgetter | None, Footprint]]] = {}
        self.are_told = False
        """Whether they are just being told of Changes."""

    def add(
        self,
        plural: str,
        listener: Listener,
        forgetter: Forgetter | None = None,
        touches: Footprint = NOTHING,
    ) -> None:
        """Call `listener` with each Change of a kind, in order, once its transaction is committed.

        It marks no more than `touches`, so that a commit's footprint is known beforehand.
        `forgetter` is called when a compaction has forgotten Changes of that kind.
        """
        self._of[plural] = {**self._of.get(plural, {}), listener: (forgetter, touches)}

    def remove(self, plural: str, listener: Listener) -> None:
        """Remove a listener and its forgetter, if it is there."""
        listeners = self._of.get(plural)
        if listeners is None or listener not in listeners:
            return
        left = {each: its for each, its in listeners.items() if each != listener}
        if left:
            self._of[plural] = left
        else:
            del self._of[plural]

    def touched(self, plural: str) -> Footprint:
        """What all listeners of a kind together mark at each commit."""
        touched = NOTHING
        for _, touches in self._of.get(plural, {}).values():
            touched |= touches
        return touched

    def tell(self, changes: Sequence[Change]) -> None:
        """Call them with the Changes of a transaction."""
        of = self._of
        if not of:
            return
        self.are_told = True
        try:
            for change in changes:
                for listener in of.get(change.key.partition("/")[0], ()):
                    listener(change)
        finally:
            self.are_told = False

    def tell_forgotten(self, plurals: Iterable[str]) -> None:
        """Call the forgetters of these kinds."""
        for plural in plurals:
            for forgetter, _ in self._of.get(plural, {}).values():
                if forgetter is not None:
                    forgetter()

    def check_quiet(self) -> None:
        """Raise HarnessBug while they are told of Changes: nothing may be written then."""
        if self.are_told:
            why = "others would hear of both in the wrong order. Let it write in a later turn."
            raise HarnessBug(f"a listener wrote to the Store while a Change was being told: {why}")
