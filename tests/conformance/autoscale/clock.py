"""Clock: seconds of a recorded case, which may be negative, as milliseconds of a World."""

from __future__ import annotations

from typing import Any

import attrs


@attrs.frozen
class CaseClock:
    """The start of a case stands at a whole second of the World, late enough for all before it."""

    start_ms: int

    @classmethod
    def of(cls, case: dict[str, Any]) -> CaseClock:
        """One by which nothing of the case lies before the World's own start."""
        first = min((float(at) for at in _times(case)), default=0.0)
        return cls(max(0, -int(first // 1)) * 1000)

    def ms(self, at_s: float) -> int:
        """The World's time of a second of the case."""
        return round(at_s * 1000) + self.start_ms

    def whole_ms(self, at_s: float) -> int:
        """The same, cut downwards to a whole second, as an API server keeps it."""
        return self.ms(at_s) // 1000 * 1000

    def unix(self, at_s: float) -> int:
        """The World's whole second of a second of the case."""
        return self.ms(at_s) // 1000

    def second(self, ms: int) -> float | int:
        """The second of the case at that time of the World."""
        thousandths = ms - self.start_ms
        return thousandths // 1000 if thousandths % 1000 == 0 else thousandths / 1000


def _times(case: dict[str, Any]) -> list[float]:
    found = [*case["passes"], *(deed["t"] for deed in case.get("script", ()))]
    for tree in (*case["nodes"], *case["pods"]):
        found += [tree[name] for name in ("created", "ready_since", "deletion_time", "start_time")
                  if tree.get(name) is not None]  # fmt: skip
        found += [taint["at_s"] for taint in tree.get("taints") or () if "at_s" in taint]
    return found
