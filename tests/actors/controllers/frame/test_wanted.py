"""Wanted: how many pods a spec asks for."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from actors.controllers.frame.wanted import wanted_by
from testbed.objects import Deployment, ReplicaSet, StatefulSet


@pytest.mark.parametrize("kind", [Deployment, ReplicaSet, StatefulSet])
def test_a_workload_that_names_no_number_wants_one_pod(kind: Any) -> None:
    """None is one, and zero is zero."""
    item = kind("web")
    told = [attrs.evolve(item, spec=attrs.evolve(item.spec, replicas=n)) for n in (None, 0, 3)]
    assert [wanted_by(each) for each in told] == [1, 0, 3]
