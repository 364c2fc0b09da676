"""The decisions of a Deployment: its bounds, its next step, and how it is scaled in between."""

from __future__ import annotations

from typing import Any

import attrs

from actors.controllers.deployment.bounds import max_surge, max_unavailable, min_available
from actors.controllers.deployment.revision import HASH, hash_of, new_set, newest_of
from actors.controllers.deployment.rollout import stepped
from actors.controllers.deployment.scaling import DESIRED, MOST, is_rescaled, scaled
from actors.controllers.frame.wanted import wanted_by
from testbed.objects import Deployment, ReplicaSet, ReplicaSetStatus
from tests.each_row import each_row
from tests.models.worlds.workloads import deployment, template


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


STEPS = [
    # what is wanted and its bounds, the new one, the old ones, the steps
    (deployment(3), (0, 0), [(3, 3)], {"new": 1}),
    (deployment(3), (1, 0), [(3, 3)], {}),
    (deployment(3), (1, 1), [(3, 3)], {"a": 2}),
    (deployment(3), (1, 1), [(2, 2)], {"new": 2}),
    (deployment(3), (5, 5), [(1, 1)], {"new": 3}),
    (deployment(3, 0, 1), (0, 0), [(3, 3)], {"a": 2}),
    (deployment(10, 3, 2), (5, 0), [(8, 8)], {}),
    (deployment(10, 3, 2), (5, 0), [(8, 7)], {}),
    (deployment(10, 3, 2), (1, 0), [(8, 8), (4, 0)], {"ab": 0}),
    (deployment(3), (1, 1), [(1, 0), (2, 2)], {"a": 0}),
    (deployment(3), (3, 3), [(0, 0)], {}),
]


@each_row(("item", "new", "old", "steps"), STEPS)
def test_the_new_one_grows_and_else_the_old_ones_shrink(
    item: Deployment, new: tuple[int, int], old: list[tuple[int, int]], steps: dict[str, int]
) -> None:
    """Never beyond the surge, and never below what must be available."""
    olds = [replica_set("ab"[: n + 1], *each) for n, each in enumerate(old)]
    found = stepped(item, replica_set("new", *new), olds)
    assert {each.item.meta.name: each.replicas for each in found} == steps


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


def test_equal_templates_have_equal_names_and_others_have_not() -> None:
    """The label that is added does not count."""
    item = deployment(3)
    made = new_set(item, 2)
    assert made.meta.name == f"web-{hash_of(item.spec.template)}"
    assert wanted_by(made) == 2
    labels = made.spec.template.meta.labels
    assert labels[HASH] == made.meta.labels[HASH] == hash_of(item.spec.template)
    assert newest_of(item, [made]) is made
    other = attrs.evolve(item, spec=attrs.evolve(item.spec, template=template("2")))
    assert newest_of(other, [made]) is None
    assert hash_of(template("2")) != hash_of(template()) != hash_of(template(), 1)
