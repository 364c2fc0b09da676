"""Kinship: which object owns which, by uid, as far as a controller has heard."""

from __future__ import annotations

from typing import Any

from testbed.objects import Object


class Kinship:
    """Objects, and their dependents: those that name them as an owner, even one not known here."""

    def __init__(self) -> None:
        self._items: dict[str, Any] = {}
        self._dependents: dict[str, dict[str, None]] = {}

    def put(self, item: Object) -> None:
        """Add an object, or replace it by its newer state."""
        uid = item.meta.uid
        self.drop(uid)
        self._items[uid] = item
        for owner in item.meta.owners:
            self._dependents.setdefault(owner.uid, {})[uid] = None

    def drop(self, uid: str) -> None:
        """Forget an object that is gone. Its dependents still name it."""
        item = self._items.pop(uid, None)
        for owner in item.meta.owners if item is not None else ():
            dependents = self._dependents.get(owner.uid, {})
            dependents.pop(uid, None)
            if not dependents:
                self._dependents.pop(owner.uid, None)

    def item(self, uid: str) -> Any:
        """The object with that uid, or None."""
        return self._items.get(uid)

    def dependents(self, uid: str) -> list[Any]:
        """The objects that name that uid as an owner, in order of their keys."""
        found = [self._items[each] for each in self._dependents.get(uid, ())]
        return sorted(found, key=lambda item: item.key)
