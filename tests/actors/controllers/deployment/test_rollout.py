"""The decisions of a Deployment: its bounds, its next step, and how it is scaled in between."""

from __future__ import annotations

from typing import Any

import attrs

from actors.controllers.deployment.bounds import max_surge, max_unavailable, min_available
from actors.controllers.deployment.scaling import DESIRED, MOST, is_rescaled, scaled
from testbed.objects import Deployment, ReplicaSet, ReplicaSetStatus, UpdateStrategy
from tests.each_row import each_row
from tests.models.worlds.workloads import deployment


def replica_set(name: str, size: int, available: int | None = None, **notes: Any) -> ReplicaSet:
    """A ReplicaSet of that size, so many of whose pods are available."""
    item = ReplicaSet(name)
    spec = attrs.evolve(item.spec, replicas=size)
    count = size if available is None else available
    status = ReplicaSetStatus(size, ready_replicas=count, available_replicas=count)
    said = {"desired": DESIRED, "most": MOST}
    annotations = {said[key]: str(value) for key, value in notes.items()}
    made = attrs.evolve(item, spec=spec, status=status)
    return made.with_meta(annotations=annotations, created_ms=len(name))


def recreate(replicas: int) -> Deployment:
    """A Deployment that ends all old pods first."""
    return deployment(replicas, strategy=UpdateStrategy("Recreate"))


@each_row(
    ("replicas", "surge", "unavailable", "bounds"),
    [
        (4, 1, 0, (1, 0, 4)), (4, "25%", "25%", (1, 1, 3)), (3, "25%", "25%", (1, 0, 3)),
        (2, 0, "25%", (0, 1, 1)), (10, "30%", "30%", (3, 3, 7)), (2, 0, 5, (0, 2, 0)),
        (0, 0, 0, (0, 0, 0)),
    ],
)  # fmt: skip
def test_shares_are_rounded_so_that_a_rollout_can_move(
    replicas: int, surge: Any, unavailable: Any, bounds: tuple[int, int, int]
) -> None:
    """Surplus up, missing down; if both are nothing, one may be missing."""
    item = deployment(replicas, surge, unavailable)
    assert (max_surge(item), max_unavailable(item), min_available(item)) == bounds


def test_to_recreate_all_may_be_missing_and_none_surplus() -> None:
    """Its bounds do not count then."""
    assert (max_surge(recreate(3)), max_unavailable(recreate(3))) == (0, 0)


def test_to_scale_during_a_rollout_keeps_the_proportion() -> None:
    """The largest one takes what rounding leaves."""
    item, olds = deployment(20, 4, 0), [replica_set("a", 6, desired=10, most=14)]
    new = replica_set("new", 8, desired=10, most=14)
    assert is_rescaled(item, [new, *olds])
    sizes = {each.item.meta.name: each.replicas for each in scaled(item, new, olds)}
    assert sizes == {"new": 14, "a": 10}
    fewer = scaled(deployment(5, 2, 0), new, olds)
    assert {each.item.meta.name: each.replicas for each in fewer} == {"new": 4, "a": 3}
    assert sum(each.replicas for each in scaled(deployment(0), new, olds)) == 0
    equal = [replica_set(name, 1, desired=3, most=3) for name in ("a", "bb", "ccc")]
    more = scaled(deployment(4, 0, 1), equal[2], equal[:2])
    assert next((each.item.meta.name, each.replicas) for each in more) == ("ccc", 2)
    assert sum(each.replicas for each in more) == 4


def test_one_alone_is_scaled_to_all() -> None:
    """The one that has pods; if none has, the newest."""
    new, old = replica_set("new", 0), replica_set("a", 3, desired=3)
    for olds, name in (([old], "a"), ([replica_set("a", 0)], "new")):
        (step,) = scaled(deployment(5), new, olds)
        assert (step.item.meta.name, step.replicas) == (name, 5)
    assert scaled(deployment(5), None, []) == []


def test_what_is_left_of_old_ones_goes_once_the_new_one_has_all() -> None:
    """Then there is nothing to share."""
    new = replica_set("new", 3, desired=3)
    (step,) = scaled(deployment(3), new, [replica_set("a", 1, desired=1)])
    assert (step.item.meta.name, step.replicas) == ("a", 0)
