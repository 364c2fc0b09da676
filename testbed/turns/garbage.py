"""Garbage: collected between two Runs, and never during one.

A collection in the middle of a Run could run code of an actor, such as a finalizer, at a moment
that no Chooser has chosen.

Of many Runs it is collected as soon as there is enough to be worth a look, and still little: what
was made long ago has left the caches of the processor, and takes five times as long to free. What
survives is not looked at again until there is much more of it.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG = 1
"""Python's collector has generations; those up to this one hold what was made recently."""
ENOUGH = 8_000
"""So many objects that may be garbage are collected: what some five Runs of a scheduler leave."""
SURVIVORS = 4
"""All objects are looked at when so many times ENOUGH have survived since the last such look, and
also one for every so many that survived that look."""


class _Runs:
    """What goes on in this process."""

    are_many = False
    """Whether garbage waits until there is enough of it."""
    under_way = 0
    """How many Runs have begun and not ended: a claim may play one at the end of another."""
    survived = kept = 0
    """How many objects have survived since all were looked at, and how many did then."""
    are_frozen = False
    """Whether what is here to stay was frozen for good."""


@contextmanager
def kept_during_run() -> Iterator[None]:
    """Collect no garbage during a Run."""
    was_enabled = gc.isenabled()
    gc.disable()
    _Runs.under_way += 1
    try:
        yield
    finally:
        _Runs.under_way -= 1
        if was_enabled:
            gc.enable()


@contextmanager
def collected_between() -> Iterator[None]:
    """Collect garbage only when there is enough of it, and freeze the objects that exist already:
    for many Runs. Within another one it changes nothing."""
    if _Runs.are_many:
        yield
        return
    was_enabled, freezes = gc.isenabled(), not _Runs.are_frozen
    if freezes:
        # Of the young ones alone: to look at all objects costs as much as a hundred Runs.
        gc.collect(YOUNG)
        gc.freeze()
    gc.disable()
    _Runs.are_many, _Runs.survived, _Runs.kept = True, 0, 0
    try:
        yield
    finally:
        _Runs.are_many = False
        if freezes:
            gc.unfreeze()
        if was_enabled:
            gc.enable()


def freeze_for_good() -> None:
    """Pass over all that exists by now, until this process ends: for one in which Runs are played
    again and again, and what else it holds is here to stay."""
    gc.collect()
    gc.freeze()
    _Runs.are_frozen = True


def collect_if_enough() -> None:
    """Called between two Runs: collect, if many are played and there is enough."""
    if not _Runs.are_many or _Runs.under_way or (made := gc.get_count()[0]) < ENOUGH:
        return
    _Runs.survived += made - gc.collect(YOUNG)
    if _Runs.survived >= max(SURVIVORS * ENOUGH, _Runs.kept // SURVIVORS):
        _Runs.kept += _Runs.survived - gc.collect()
        _Runs.survived = 0
