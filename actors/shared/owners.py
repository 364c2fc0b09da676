"""Owners: which of its owners manages an object."""

from __future__ import annotations

from testbed.objects import Object, Owner


def controller_of(item: Object) -> Owner | None:
    """The owner that manages an object (its controllerRef), or None."""
    for owner in item.meta.owners:
        if owner.controller:
            return owner
    return None
