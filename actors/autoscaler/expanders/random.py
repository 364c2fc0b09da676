"""Random: every expansion is as good as every other; the default of 1.26."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from actors.autoscaler.expander import Expander, Expansion
from testbed.objects import ConfigMap


class RandomExpander(Expander):
    """Keeps all of them; the pick at the end of each chain does the rest."""

    name: ClassVar[str] = "random"

    def best(
        self, expansions: Sequence[Expansion], config: Mapping[str, ConfigMap]
    ) -> Sequence[Expansion]:
        return expansions
