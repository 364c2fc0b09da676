"""Priority: the groups that the user's ConfigMap prefers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

from actors.autoscaler.expander import Expander, Expansion
from testbed.objects import ConfigMap
from testbed.objects.manifests.yaml_stream import Broken, DocumentReader, parts

CONFIG_MAP, KEY = "cluster-autoscaler-priority-expander", "priorities"
"""Where the priorities stand: a mapping from a priority to patterns of names of groups."""
LOWEST = -1
"""A lower priority prefers no group, as if its patterns matched nothing."""


class PriorityExpander(Expander):
    """Keeps the groups that match a pattern of the highest priority. If the ConfigMap is
    missing, or makes no sense, or no group matches, all are kept."""

    name: ClassVar[str] = "priority"

    def best(
        self, expansions: Sequence[Expansion], config: Mapping[str, ConfigMap]
    ) -> Sequence[Expansion]:
        found = config.get(CONFIG_MAP)
        patterns = priorities(found.data.get(KEY, "")) if found is not None else {}
        given = [_priority(each.group, patterns) for each in expansions]
        highest = max((each for each in given if each is not None), default=None)
        if highest is None:
            return expansions
        return [each for each, own in zip(expansions, given, strict=True) if own == highest]


def priorities(text: str) -> dict[int, list[re.Pattern[str]]]:
    """The patterns of each priority, as the YAML text has them; none if it makes no sense."""
    try:
        trees = [tree for part in parts(text.encode()) for tree in DocumentReader().trees(part)]
        return {int(key): [re.compile(each) for each in given] for key, given in trees[0].items()}
    except (Broken, ValueError, TypeError, LookupError, AttributeError, re.error):
        return {}


def _priority(group: str, patterns: Mapping[int, Sequence[re.Pattern[str]]]) -> int | None:
    matching = (p for p, each in patterns.items() if any(one.search(group) for one in each))
    return max((p for p in matching if p >= LOWEST), default=None)
