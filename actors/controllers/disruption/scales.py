"""Scales: how many pods the owners of pods are to have, as far as a controller has heard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from actors.controllers.disruption.counting import OwnerScale
from actors.controllers.frame.wanted import wanted_by
from actors.shared.owners import controller_of
from testbed.objects import Owner

Find = Callable[[str, str, str], Any]
"""Finds an object by kind, namespace and name; None if there is none."""
REPLICA_SET, DEPLOYMENT = "ReplicaSet", "Deployment"


def scale_of(find: Find, owner: Owner, namespace: str) -> OwnerScale | None:
    """The scale of an owner. That of a ReplicaSet which belongs to a Deployment is the scale of the
    Deployment, so that a rollout does not look like more pods."""
    item = _found(find, owner, namespace)
    if item is not None and owner.kind == REPLICA_SET:
        above = controller_of(item)
        if above is not None and above.kind == DEPLOYMENT:
            item = _found(find, above, namespace)
    spec = getattr(item, "spec", None)
    if item is None or not hasattr(spec, "replicas"):
        return None
    return OwnerScale(item.meta.uid, wanted_by(item))


def _found(find: Find, owner: Owner, namespace: str) -> Any:
    """The owner itself, not another object that has got its name since."""
    item = find(owner.kind, namespace, owner.name)
    return item if item is not None and item.meta.uid == owner.uid else None
