"""Owners: one of several manages an object, and it says which."""

from __future__ import annotations

from actors.shared.owners import controller_of
from testbed.objects import Owner, Pod

OTHER = Owner("v1", "ConfigMap", "settings", "u1")
CONTROLLER = Owner("apps/v1", "ReplicaSet", "web", "u2", controller=True)


def test_the_controller_is_not_just_any_owner() -> None:
    """The first owner need not be it, and there may be none."""
    assert controller_of(Pod("p").with_meta(owners=(OTHER, CONTROLLER))) == CONTROLLER
    assert controller_of(Pod("p").with_meta(owners=(OTHER,))) is None
    assert controller_of(Pod("p")) is None
