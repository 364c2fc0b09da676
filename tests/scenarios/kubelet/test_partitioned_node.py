"""partitioned_node: what is deleted by force runs on where nobody can reach it."""

from __future__ import annotations

import pytest

from testbed.races.playing import Played, play
from testbed.races.racefile import parse
from testbed.world.scenario import find
from tests.models.truths import can_be_repeated, cause_in

RECIPE = find("partitioned_node")
RACE = """
scenario: partitioned_node
faults:
  - partition: kubelet-n1
    after: kubelet-n1 patch pods/default/db/status
    for: 60s
"""


def played(guard: str) -> Played:
    """The first node is cut off when the pod runs there, before anything is deleted."""
    return play(parse(RACE, "race"), RECIPE, switches={"guard": guard})


@pytest.mark.spec("KUB-21", "KUB-45", "INV-5")
def test_a_pod_that_is_deleted_by_force_runs_twice() -> None:
    """Its owner sees the name free, and the node runs what it last heard of."""
    found = played("off")
    (violation,) = found.verdict.violations
    assert violation.said == "db runs on n1 (scenario-3) and on n2 (owner@api-1)"


def test_the_story_names_who_deleted_it_by_force_and_what_cut_its_kubelet_off() -> None:
    """Not the kubelet that started the second one, as it was told to."""
    found = played("off")
    cause = cause_in(found.trace, found.verdict.violations[0])
    assert (cause.actor, cause.did) == ("operator", "delete pods/default/db")
    assert "with grace 0, though kubelet-n1, which was cut off from the network (step" in cause.text
    assert "had told that it runs" in cause.text
    can_be_repeated(cause)


@pytest.mark.spec("KUB-45", "INV-5")
def test_a_pod_that_is_waited_for_runs_once() -> None:
    """Until the kubelet can be reached again and has ended it."""
    found = played("on")
    assert found.verdict.is_held
    assert found.verdict.virtual_ms > 60_000
