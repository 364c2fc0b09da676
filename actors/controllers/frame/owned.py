"""Owned: the objects of one kind whose controller is of another kind, found by the owner's uid.

An index that every change updates: a sync costs as much as its owner has objects, however many
there are in the cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from actors.controllers.frame.expectations import Expectations
from actors.shared.owners import controller_of
from testbed import Cache
from testbed.objects import Object, Owner

O = TypeVar("O", bound=Object)  # noqa: E741
W = TypeVar("W", bound=Object)


def owner_reference(owner: Object) -> Owner:
    """The reference by which an object says that `owner` manages it."""
    meta = owner.meta
    return Owner(owner.api_version, owner.kind, meta.name, meta.uid, True, True)


class Owned(Generic[O, W]):
    """The objects in one Cache, by their controller in another one. It listens to the first Cache
    only: it tells the expectations what has come, and calls `changed` with the key of each owner
    that is to be synced."""

    def __init__(
        self,
        items: Cache[O],
        owners: Cache[W],
        changed: Callable[[str], None],
        expected: Expectations | None = None,
    ) -> None:
        self._owners = owners
        self._changed = changed
        self._expected = expected
        self._by_owner: dict[str, dict[str, O]] = {}
        """By the uid of the controller, the objects by their keys."""
        self._owner_of: dict[str, str] = {}
        """By the key of an object, the uid of its controller."""
        items.on(add=self._add, update=self._update, delete=self._delete)

    def of(self, owner: W) -> list[O]:
        """The objects that this owner manages, in order of their keys."""
        found = self._by_owner.get(owner.meta.uid, {})
        return [found[key] for key in sorted(found)]

    def owner(self, item: O) -> W | None:
        """The controller of an object, if its Cache has it, and it is not another of that name."""
        ref = controller_of(item)
        if ref is None or ref.kind != self._owners.kind.kind:
            return None
        found = self._owners.get(ref.name, item.meta.namespace)
        return found if found is not None and found.meta.uid == ref.uid else None

    def _add(self, new: O) -> None:
        self._put(new)
        self._tell(new, is_gone=new.meta.deleted_ms is not None)

    def _update(self, old: O, new: O) -> None:
        if old.meta.uid != new.meta.uid:
            self._delete(old)
            self._add(new)
            return
        was = self._owner_of.get(old.key)
        self._put(new)
        if was != self._owner_of.get(new.key) and (before := self.owner(old)) is not None:
            self._changed(before.key)
        if (owner := self.owner(new)) is not None:
            if self._expected is not None and new.meta.deleted_ms is not None:
                self._expected.deleted(owner.key, new.key)
            self._changed(owner.key)

    def _delete(self, old: O) -> None:
        self._drop(old.key)
        self._tell(old, is_gone=True)

    def _tell(self, item: O, *, is_gone: bool) -> None:
        """Tell the expectations that an object was added or is gone, and have its owner synced."""
        owner = self.owner(item)
        if owner is None:
            return
        if self._expected is not None:
            if is_gone:
                self._expected.deleted(owner.key, item.key)
            else:
                self._expected.created(owner.key)
        self._changed(owner.key)

    def _put(self, item: O) -> None:
        self._drop(item.key)
        if (ref := controller_of(item)) is not None:
            self._owner_of[item.key] = ref.uid
            self._by_owner.setdefault(ref.uid, {})[item.key] = item

    def _drop(self, key: str) -> None:
        uid = self._owner_of.pop(key, "")
        if uid:
            found = self._by_owner[uid]
            del found[key]
            if not found:
                del self._by_owner[uid]
