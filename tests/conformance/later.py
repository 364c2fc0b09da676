"""Kinds of recorded cases that are not modelled yet."""

from __future__ import annotations

import attrs

from conformance.shape import Line


@attrs.frozen
class Later:
    """A kind of case that is recognised, but not compared."""

    name: str
    why_not: str
    fields: tuple[str, ...]
    """What stands in it, or in what is expected, and in no other kind."""
    tally: str = "conformance"

    def fits(self, line: Line) -> bool:
        """Whether the line has these fields."""
        expect = line.get("expect")
        known = {*line, *(expect if isinstance(expect, dict) else ())}
        return known.issuperset(self.fields)

    def differences(self, line: Line) -> list[str]:
        """Nothing is compared."""
        return []


LATER = (
    Later("evict", "no kubelet here evicts under pressure", ("ranking", "groups", "steps")),
    Later("admit", "not compared yet", ("admit", "rejected_by", "all_failures")),
)
