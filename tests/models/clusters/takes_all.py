"""TakesAll: a victim selector for the switch `victims` that is worse than the built-in one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class TakesAll:
    """It spares nobody and puts nobody back."""

    def victims(self, dry: Any) -> Sequence[Any]:
        """All that may go."""
        return list(dry.potential)
