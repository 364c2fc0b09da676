"""confluent: whatever comes first, the Store ends alike. A claim nobody has to write down.

The Run is compared, when it comes to rest, with the calm run of the same scenario and switches.
Each object must be there in both and have the same fields, but for what an order may rightly
change: revisions, uids and ages are never compared, and a scenario declares what else may differ. A
Run that a fault struck was given something else to do, so it is not compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from testbed.invariant import RECORDS, Evidence, Invariant
from testbed.objects.meta import changed_fields, field_of

ALWAYS = ("meta.uid", "meta.created_ms", "meta.revision")
"""What tells when something was made, not what."""
SHOWN_MAX = 3
"""So many differences a Violation tells."""

End = Mapping[str, Any]
"""What a Run has come to: objects by their keys, or what an abstraction makes of it."""


class Confluent(Invariant):
    """The claim, and what its own Run has come to."""

    name = "confluent"

    def __init__(
        self,
        ignoring: Sequence[str] = (),
        unordered: Sequence[str] = (),
        seen_as: Callable[[Evidence], Any] | None = None,
    ) -> None:
        self._ignoring = (*ALWAYS, *ignoring)
        self._unordered = frozenset(unordered)
        self._seen_as = seen_as
        self.reads = frozenset(() if seen_as is None else (RECORDS,))
        self.came_to: End | None = None
        """None until its Run has come to rest."""

    def end(self, evidence: Evidence) -> str | None:
        self.came_to = self._end_of(evidence)
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
        """What is not alike, a phrase each, in order of the keys."""
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
) -> Confluent:
    """Every Run without a fault ends as the calm one does. `ignoring` names fields that may differ
    (`spec.node_name`), `unordered` fields whose words or items may stand in any order; `seen_as` is
    a function that makes of the end what is to be alike, if that is something else."""
    return Confluent(ignoring, unordered, seen_as)


def _items(value: object) -> list[str] | None:
    """The words of a text, or the items of a list, in one order."""
    if isinstance(value, str):
        return sorted(value.split())
    if isinstance(value, list | tuple):
        return sorted(map(repr, value))
    return None
