"""Listeners: what they touch together, and that one that is gone leaves nothing behind."""

from __future__ import annotations

from testbed.store.change import Change
from testbed.store.footprint import NOTHING, Footprint
from testbed.store.listeners import Listeners

TAIL, OTHER = (Footprint(writes=frozenset({key})) for key in ("cursor:a/pods", "cursor:b/pods"))


def hears(change: Change) -> None:
    """Do nothing with it."""


def hears_too(change: Change) -> None:
    """The same, as another listener."""


def test_a_commit_touches_what_all_listeners_of_its_kind_touch() -> None:
    """Not what those of another kind do, and no longer what one does that was removed."""
    listeners = Listeners()
    listeners.add("pods", hears, touches=TAIL)
    listeners.add("pods", hears_too, touches=OTHER)
    assert listeners.touched("pods") == TAIL | OTHER
    assert listeners.touched("nodes") == NOTHING
    listeners.remove("pods", hears)
    assert listeners.touched("pods") == OTHER


def test_a_kind_whose_listeners_are_gone_costs_nothing() -> None:
    """As before the first: also if one was removed that was never there."""
    listeners = Listeners()
    listeners.add("pods", hears)
    listeners.remove("pods", hears_too)
    assert listeners._of
    listeners.remove("pods", hears)
    listeners.remove("nodes", hears)
    assert not listeners._of
