"""Kinship: which objects belong to which, by uid, in order of their keys."""

from __future__ import annotations

from actors.controllers.kinship import Kinship
from testbed.objects import Owner, Pod


def pod(name: str, *owners: str) -> Pod:
    """A pod whose uid is its name, with owners of these uids."""
    found = tuple(Owner("v1", "Pod", uid, uid) for uid in owners)
    return Pod(name).with_meta(uid=name, owners=found)


def names(kin: Kinship, uid: str) -> list[str]:
    """Those that belong to it."""
    return [item.meta.name for item in kin.dependents(uid)]


def test_what_belongs_to_an_owner_is_found_whether_that_is_known_or_not() -> None:
    """In order of their keys, whatever was heard first."""
    kin = Kinship()
    for name in ("c", "a", "b"):
        kin.put(pod(name, "x"))
    assert names(kin, "x") == ["a", "b", "c"]
    kin.put(pod("x"))
    kin.drop("x")
    assert kin.item("x") is None
    assert names(kin, "x") == ["a", "b", "c"]
