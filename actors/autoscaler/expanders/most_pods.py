"""Most pods: the expansion that helps the most pods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from actors.autoscaler.expander import Expander, Expansion
from testbed.objects import ConfigMap


class MostPodsExpander(Expander):
    """Keeps those that help the most pods."""

    name: ClassVar[str] = "most-pods"

    def best(
        self, expansions: Sequence[Expansion], config: Mapping[str, ConfigMap]
    ) -> Sequence[Expansion]:
        most = max((len(each.pods) for each in expansions), default=0)
        return [each for each in expansions if len(each.pods) == most]
