"""compact: old history is forgotten. etcd does so every few minutes; a slow reader must relist."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import ClassVar

import attrs

from testbed.fault import Fault, Levers, Way
from testbed.store.footprint import HISTORY, LOG, Footprint

PAST = Footprint(frozenset({LOG}), frozenset({HISTORY}))
"""It reads all that was committed, and whatever looks back at history reads what it writes."""


@attrs.frozen(kw_only=True)
class Compact(Fault):
    """The Store forgets its history before the present revision."""

    word: ClassVar[str] = "compact"
    effect: ClassVar[str] = "the history of the {target} was compacted"

    def ways(self, levers: Levers) -> Iterator[Way]:
        """One way, if there is anything to forget."""
        store = levers.store
        if store.revision > max(store.compacted, 1):
            yield Way("store", partial(levers.compact, store.revision), "", PAST)
