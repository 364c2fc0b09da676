"""confluent: in whatever order things happen, the Store ends alike.

When a Run comes to rest, its Store is compared with that of the calm run of the same scenario and
switches. Both must hold the same objects with the same fields, except for what an order may rightly
change: revisions, uids and ages are never compared, and a scenario declares what else may differ. A
Run in which a fault struck is not compared, since it had other work to do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from testbed.invariant import Evidence, Invariant
from testbed.objects.meta import changed_fields, field_of

ALWAYS = ("meta.uid", "meta.created_ms", "meta.revision")
"""The fields that tell when an object was made, and not what it is."""
SHOWN_MAX = 3
"""The most differences that a Violation lists."""

End = Mapping[str, Any]
"""What a Run has come to: objects by their keys, or what `seen_as` makes of it."""


class Confluent(Invariant):
    """The claim of `confluent`, and what its own Run has come to."""

    name = "confluent"

    def __init__(
        self,
        ignoring: Sequence[str] = (),
        unordered: Sequence[str] = (),
        seen_as: Callable[[Evidence], Any] | None = None,
        reads: tuple[str, ...] | None = None,
    ) -> None:
        self._ignoring = (*ALWAYS, *ignoring)
        self._unordered = frozenset(unordered)
        self._seen_as = seen_as
        if seen_as is None:
            reads = ()  # it compares what is the same in all orders of the same
        self.reads = None if reads is None else frozenset(reads)
        self.declares = seen_as is not None
        self.came_to: End | None = None
        """None until its Run has come to rest."""

    def end(self, evidence: Evidence) -> str | None:
        self.came_to = self._end_of(evidence)
        # The calm run is played in another World, which claims the same: there `calm_end` is None,
        # and it only notes what it has come to. Otherwise each would play the next one for ever.
        calm = evidence.calm_end() if evidence.calm_end is not None else None
        if calm is None or evidence.table.faults:
            return None
        found = self.differences(calm, self.came_to)
        if not found:
            return None
        more = f"; and {len(found) - SHOWN_MAX} more" if len(found) > SHOWN_MAX else ""
        return f"the calm run ends otherwise: {'; '.join(found[:SHOWN_MAX])}{more}"

    def _end_of(self, evidence: Evidence) -> End:
        if self._seen_as is not None:
            return {"": self._seen_as(evidence)}
        return {entry.key: entry.value for entry in evidence.store.snapshot("")}

    def differences(self, calm: End, here: End) -> list[str]:
        """A phrase for each difference, in order of the keys."""
        if self._seen_as is not None:
            return [] if calm == here else [f"{calm['']!r} there, {here['']!r} here"]
        found = []
        for key in sorted({*calm, *here}):
            if (key in calm) != (key in here):
                found.append(f"{key} is {'only there' if key in calm else 'only here'}")
            elif calm[key] != here[key]:
                found += self._fields(key, calm[key], here[key])
        return found

    def _fields(self, key: str, calm: Any, here: Any) -> list[str]:
        found = []
        for path in changed_fields(calm, here):
            if any(path == name or path.startswith(f"{name}.") for name in self._ignoring):
                continue
            there, now = field_of(calm, path), field_of(here, path)
            if path in self._unordered and _items(there) == _items(now):
                continue
            found.append(f"{key} {path} is {there!r} there, {now!r} here")
        return found


def confluent(
    *,
    ignoring: Sequence[str] = (),
    unordered: Sequence[str] = (),
    seen_as: Callable[[Evidence], Any] | None = None,
    reads: tuple[str, ...] | None = None,
) -> Confluent:
    """Every Run without a fault ends as the calm run does. `ignoring` names fields that may differ
    (`spec.node_name`), `unordered` fields with words or items that may stand in any order. If
    something else is to be alike, the function `seen_as` makes it from the Evidence at the end, and
    says what it `reads` as a claim of `quiescent` does."""
    return Confluent(ignoring, unordered, seen_as, reads)


def _items(value: object) -> list[str] | None:
    """The words of a text, or the items of a list, in one order."""
    if isinstance(value, str):
        return sorted(value.split())
    if isinstance(value, list | tuple):
        return sorted(map(repr, value))
    return None
