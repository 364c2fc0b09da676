"""Priority: which groups the ConfigMap prefers, and when it prefers none."""

from __future__ import annotations

import pytest

from actors.autoscaler import Expansion
from actors.autoscaler.expanders.priority import CONFIG_MAP, KEY, PriorityExpander
from actors.autoscaler.templates import NodeTemplate
from testbed.objects import ConfigMap, Map, Meta, Node
from tests.each_row import each_row

TEMPLATE = NodeTemplate(Node.of("any", cpu_m=1000), ())
GIVEN = [Expansion(name, 1, (), TEMPLATE) for name in ("a-spot", "b-spot", "c")]
ALL = ["a-spot", "b-spot", "c"]


@pytest.mark.spec("CA-19")
@each_row(
    ("text", "kept"),
    [
        ("10: [spot]", ["a-spot", "b-spot"]),
        ("10: [spot]\n20: ['^b']", ["b-spot"]),
        ("10: ['.*']\n20: [nothing]", ALL),
        ("10: [nothing]", ALL),
        ("10: ['(']", ALL),
        ("", ALL),
        ("-1: [c]", ["c"]),
        ("-2: [c]", ALL),
        ("-2: [c]\n-1: [spot]", ["a-spot", "b-spot"]),
    ],
)
def test_the_highest_priority_that_matches_decides(text: str, kept: list[str]) -> None:
    """If none does, nothing is filtered; one below -1 never does, as in 1.26."""
    settings = ConfigMap(Meta(CONFIG_MAP, "kube-system"), data=Map({KEY: text}))
    found = PriorityExpander().best(GIVEN, {CONFIG_MAP: settings})
    assert [each.group for each in found] == kept


@pytest.mark.spec("CA-19")
def test_without_the_config_map_nothing_is_filtered() -> None:
    """Nor does an empty list become anything else."""
    assert PriorityExpander().best(GIVEN, {}) == GIVEN
    assert PriorityExpander().best([], {}) == []
