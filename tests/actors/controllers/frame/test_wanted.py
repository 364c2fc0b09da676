"""Wanted: how many pods a spec asks for, and how many a bound comes to."""

from __future__ import annotations

from typing import Any

import attrs

from actors.controllers.frame.wanted import part_of, wanted_by
from testbed.objects import Deployment, ReplicaSet, StatefulSet
from tests.shared.each_row import each_row


@each_row("kind", [Deployment, ReplicaSet, StatefulSet])
def test_a_workload_that_names_no_number_wants_one_pod(kind: Any) -> None:
    """None is one, and zero is zero."""
    item = kind("web")
    told = [attrs.evolve(item, spec=attrs.evolve(item.spec, replicas=n)) for n in (None, 0, 3)]
    assert [wanted_by(each) for each in told] == [1, 0, 3]


def test_a_share_is_rounded_to_a_whole_pod() -> None:
    """Up or down, as asked; a number stands for itself."""
    bounds = (3, "50%", "0%", "100%", "1%")
    assert [part_of(bound, 7) for bound in bounds] == [3, 4, 0, 7, 1]
    assert [part_of(bound, 7, rounds_up=False) for bound in bounds] == [3, 3, 0, 7, 0]
