"""How many cases were compared, and how many agree: one line at the end."""

from __future__ import annotations

import attrs

SHOWN = 5
"""So many differing cases of a file are shown in full."""


@attrs.define
class Tally:
    """The count over all files."""

    cases: int = 0
    agree: int = 0

    def __str__(self) -> str:
        return f"conformance: {self.cases} cases, {self.agree} agree"
