"""Sightings: each time that an actor learned how an object, or the objects of a kind, are."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from operator import attrgetter

import attrs

from testbed.objects.meta import changed_fields
from testbed.store.change import Change, plural_of
from testbed.store.endpoint import EVERYTHING
from testbed.store.selector import Selector

GET, LIST, WATCH, WROTE = "get", "list", "watch", "wrote"
"""How an actor learns of an object."""
_step_of = attrgetter("step")


@attrs.frozen
class Sighting:
    """One time that an actor learned how an object, or the objects of a kind, are."""

    step: int
    """The turn in which the actor learned it."""
    read: int
    """The Step in which the Store was read; an answer may arrive much later."""
    how: str
    """By get, list or watch, or because the actor wrote it."""
    revision: int
    """Of the Store, or of the object: what was learned is true at this revision."""
    selector: Selector = EVERYTHING
    """Which objects a list or a watch shows."""
    fields: tuple[str, ...] | None = None
    """The fields that the actor declared to read; None: all."""
    server: str = ""
    """The server that read it from a cache of its own, which may be behind; empty: the Store."""
    by_cache: bool = False
    """Whether it went into a Cache of the actor."""
    is_handed_on: bool = True
    """Whether other tasks of the actor may have learned it too, where no trace shows it."""

    def shows(self, change: Change) -> bool:
        """Whether a list or watch with this selector and these fields would show that Change."""
        old, new = change.old, change.new
        if not (self.selector.has(old) or self.selector.has(new)):
            return False
        if self.fields is None or old is None or new is None:
            return True
        return any(
            f"{path}.".startswith(f"{field}.") or f"{field}.".startswith(f"{path}.")
            for path in changed_fields(old.value, new.value)
            for field in self.fields
        )


class Sightings:
    """Sightings by who learned (tasks, Caches or actors) and what of (an object, or a kind)."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], list[Sighting]] = {}

    def add(self, who: str, what: str, sighting: Sighting) -> None:
        """Note one more; they come in the order of the Trace."""
        self._found.setdefault((who, what), []).append(sighting)

    def in_order(self) -> Iterator[tuple[str, str, Sighting]]:
        """All of them, each with who learned it and what of, in the order of the Trace."""
        found = [(who, what, each) for (who, what), some in self._found.items() for each in some]
        yield from sorted(found, key=lambda each: each[2].step)

    def of(self, who: str, key: str) -> Iterator[list[Sighting]]:
        """Those of the object itself, then the lists of its kind; each oldest first."""
        for what in (key, plural_of(key)):
            yield self._found.get((who, what), [])

    def leave_out(self, who: str, change: Change, until: int) -> bool:
        """Whether it had lists or watches of that kind by that turn, of which none shows the object
        as it is before or after that Change."""
        found = [s for s in self._found.get((who, plural_of(change.key)), []) if s.step <= until]
        alone = (s for s in self._found.get((who, change.key), []) if s.step <= until)
        return bool(found) and not any(alone) and not any(each.shows(change) for each in found)

    def any_by(self, who: str, until: int) -> bool:
        """Whether it had read anything by that turn; what it wrote itself does not count."""
        return any(
            sighting.step <= until and sighting.how != WROTE
            for (actor, _), found in self._found.items()
            if actor == who
            for sighting in found
        )

    def last(self, who: str, key: str, since: int, until: int) -> Iterator[Sighting]:
        """The last one of the object, and the last list of its kind, between these turns."""
        for found in self.of(who, key):
            place = bisect_right(found, until, key=_step_of)
            if place and found[place - 1].step >= since:
                yield found[place - 1]
