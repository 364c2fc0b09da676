"""TruthLog: what was in the Store before the first Step of a Run, and after each one.

An object that the Run never wrote is as it is in the Store at the end. Any other is, before its
first write, what that write replaced.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection

from testbed.store.change import Change, Entry, plural_of
from testbed.turns.trace import Trace

QUIET_KINDS = ("events", "leases")
"""Objects of these kinds are left out unless the story names them: there are too many."""
OBJECTS_MAX = 200
"""If there are more objects, a page shows those that the story is about."""


class TruthLog:
    """The objects of one kept Trace, by Step and by revision."""

    def __init__(
        self, trace: Trace, named: Collection[str] = (), shared: Collection[str] = ()
    ) -> None:
        self.changes: dict[int, tuple[Change, ...]] = {
            step.number: tuple(step.marks.changes) for step in trace.steps if step.marks.changes
        }
        """What each Step has committed."""
        self._since: dict[str, list[int]] = {}
        self._versions: dict[str, list[Entry | None]] = {}
        """By key: from which revision on the object was so, oldest first; from 0 at the start."""
        written = [change for some in self.changes.values() for change in some]
        for change in written:
            if change.key not in self._since:
                self._put(change.key, 0, change.old)
            self._put(change.key, change.revision, change.new)
        store = trace.played_in.store if trace.played_in is not None else None
        for entry in store.snapshot("") if store is not None else ():
            if entry.key not in self._since:
                self._put(entry.key, 0, entry)
        at_the_end = store.revision if store is not None else 0
        self.start_revision = written[0].revision - 1 if written else at_the_end
        """The revision of the Store before the first Step."""
        self._of_kind: dict[str, list[str]] = {}
        for key in sorted(self._since):
            self._of_kind.setdefault(plural_of(key), []).append(key)
        self._in_sight = self._seen(named, shared)

    def _seen(self, named: Collection[str], shared: Collection[str]) -> set[str]:
        """The objects that a page shows. Of too many, those that the story names come first, then
        those that matter to several actors, then those that were written."""
        keys = [k for k in sorted(self._since) if plural_of(k) not in QUIET_KINDS or k in named]
        keys.sort(key=lambda k: (k not in named, k not in shared, len(self._since[k]) == 1))
        return {*keys[:OBJECTS_MAX]}

    def _put(self, key: str, revision: int, entry: Entry | None) -> None:
        self._since.setdefault(key, []).append(revision)
        self._versions.setdefault(key, []).append(entry)

    @property
    def start(self) -> list[Entry]:
        """The objects before the first Step, by key."""
        first = [self._versions[key][0] for key in sorted(self._versions)]
        return [entry for entry in first if entry is not None]

    def at(self, key: str, revision: int) -> Entry | None:
        """The object as it was at that revision; None if there was none."""
        since = self._since.get(key, [])
        place = bisect_right(since, revision)
        return self._versions[key][place - 1] if place else None

    def of_kind(self, plural: str) -> list[str]:
        """The keys of all objects of that kind that ever were there."""
        return self._of_kind.get(plural, [])

    def is_in_sight(self, key: str) -> bool:
        """Whether a page shows that object."""
        return key in self._in_sight

    @property
    def steps_in_sight(self) -> list[int]:
        """The Steps that have changed what a page shows."""
        return [s for s, some in self.changes.items() if any(c.key in self._in_sight for c in some)]
