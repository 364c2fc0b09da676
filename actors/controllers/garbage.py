"""The garbage collector: what belongs to an object goes with it (API-32).

1. It hears of all objects of its kinds, and looks at one whose owner it does not know, or that is
   about to go with those that belong to it.
2. What has no owner left is deleted, in the background; what has lost one of several only loses the
   reference to that one.
3. An owner with the finalizer `foregroundDeletion` stays until nothing that blocks its deletion
   belongs to it any more. From what belongs to one with `orphan` the reference is taken first.
4. What it has heard may be old, and of one kind older than of another: before it deletes something
   it asks the server for that and for its owners, as Kubernetes does. The switch `looks_again`
   leaves this out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import attrs

from actors.controllers.kinship import Kinship
from actors.shared.workqueue import Workqueue
from testbed import Actor, ApiError, Cache, Client, NotFound, Operation
from testbed.errors import UnknownName
from testbed.objects import DaemonSet, Job, Map, Meta, Object, Owner, Pod, ReplicaSet, kind_of

FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"
"""Finalizers that say what is to be done about those that belong to an object."""
ABSENT, WAITING, THERE = "absent", "waiting", "there"
"""What has become of an owner: gone, going when what belongs to it has gone, there to stay."""


@attrs.frozen
class GarbageCollector(Actor):
    """Deletes what belongs to nobody any more."""

    rank: ClassVar[int] = 3

    name: str = "garbage-collector"
    kinds: tuple[type[Object], ...] = (DaemonSet, Job, Pod, ReplicaSet)
    """Those it hears of: what may belong to something, and what that may be."""
    delay_ms: int = 0
    """How long after it has noticed something it acts."""
    looks_again: bool = True
    """Whether it asks before it deletes."""

    async def run(self, client: Client) -> None:
        collection = _Collection(self, client)
        caches = [Cache(client, kind) for kind in self.kinds]
        for cache in caches:
            cache.on(add=collection.added, update=collection.changed, delete=collection.gone)
        for cache in caches:
            await cache.synced()
        await collection.work()


class _Collection:
    """What one life of it knows, and has to see to."""

    def __init__(self, settings: GarbageCollector, client: Client) -> None:
        self._settings = settings
        self._client = client
        self._kin = Kinship()
        self._todo = Workqueue(client)

    # -- what it hears --------------------------------------------------------------------------

    def added(self, new: Any) -> None:
        """Look at it if its owner is not known, or goes, or if it is to go itself."""
        self._kin.put(new)
        if _is_orphaning(new) or _is_waiting(new) or not self._is_owned(new.meta):
            self._want(new)
        if _is_waiting(new):
            self._want(*self._kin.dependents(new.meta.uid))

    def changed(self, old: Any, new: Any) -> None:
        """The same; an owner that waits for it may have to wait no longer."""
        if old.meta.uid != new.meta.uid:
            self.gone(old)
            self.added(new)
            return
        self._kin.put(new)
        if old.meta.owners != new.meta.owners:
            self._want_owners(old.meta)
            self._want_owners(new.meta)
        elif (_is_orphaning(old), _is_waiting(old)) == (_is_orphaning(new), _is_waiting(new)):
            return
        self.added(new)

    def gone(self, old: Any) -> None:
        """Look at all that belongs to it, and at owners that wait for it."""
        self._kin.drop(old.meta.uid)
        self._want(*self._kin.dependents(old.meta.uid))
        self._want_owners(old.meta)

    def _is_owned(self, meta: Meta) -> bool:
        """Whether all its owners are known, and there to stay."""
        owners = [self._kin.item(owner.uid) for owner in meta.owners]
        return all(owner is not None and not _is_waiting(owner) for owner in owners)

    def _want_owners(self, meta: Meta) -> None:
        owners = [self._kin.item(owner.uid) for owner in meta.owners]
        self._want(*(owner for owner in owners if owner is not None and _is_waiting(owner)))

    def _want(self, *items: Any) -> None:
        for item in items:
            self._todo.add(item.meta.uid, self._settings.delay_ms)

    # -- what it does ---------------------------------------------------------------------------

    async def work(self) -> None:
        """See to one after another; what is refused comes again later."""
        while True:
            uid = await self._todo.take()
            item, has_failed = self._kin.item(uid), False
            try:
                if item is not None:
                    await self._see_to(item)
            except NotFound:
                pass
            except ApiError:
                has_failed = True
            self._todo.done(uid, has_failed=has_failed)

    async def _see_to(self, item: Any) -> None:
        meta = item.meta
        if _is_orphaning(item):
            for dependent in self._kin.dependents(meta.uid):
                await self._part(dependent, [meta.uid])
            await self._release(item, ORPHAN)
        elif _is_waiting(item):
            blocking = [d for d in self._kin.dependents(meta.uid) if _blocks(d, meta.uid)]
            if not blocking:
                await self._release(item, FOREGROUND)
            self._want(*(dependent for dependent in blocking if not _is_waiting(dependent)))
        elif not meta.is_terminating and not self._is_owned(meta):
            await self._judge(item)

    async def _judge(self, item: Any) -> None:
        """Delete it, if none of its owners stays; of those that do not, take the references."""
        meta = item.meta
        if self._settings.looks_again:
            item = await self._client.get(type(item), meta.name, meta.namespace)
            if item.meta.is_terminating:
                return
        fates: dict[str, list[str]] = {ABSENT: [], WAITING: [], THERE: []}
        for owner in item.meta.owners:
            fates[await self._fate(owner, meta.namespace)].append(owner.uid)
        dependents = self._kin.dependents(meta.uid)
        leaving = [*fates[ABSENT], *fates[WAITING]]
        if fates[THERE]:
            await self._part(item, leaving)
        elif fates[WAITING] and dependents:
            if any(_is_waiting(dependent) for dependent in dependents):
                # They wait for each other in a ring, unless one of them lets go.
                await self._unblock(item)
            await self._delete(item, "Foreground")
        elif leaving:
            await self._delete(item, _propagation(item.meta))

    async def _fate(self, owner: Owner, namespace: str) -> str:
        """What is to become of an owner; one of which nobody can say is taken to stay."""
        there = self._kin.item(owner.uid)
        if there is None:
            kind = _kind_of(owner)
            if kind is None or (kind.is_namespaced and not namespace):
                return THERE
            if not self._settings.looks_again:
                return ABSENT if kind in self._settings.kinds else THERE
            try:
                there = await self._client.get(kind, owner.name, namespace)
            except NotFound:
                return ABSENT
            if there.meta.uid != owner.uid:
                return ABSENT
        return WAITING if _is_waiting(there) else THERE

    async def _delete(self, item: Object, propagation: str) -> None:
        meta = item.meta
        operation = Operation(
            "delete", item.plural, meta.name, meta.namespace, uid=meta.uid,
            options=Map(propagation=propagation),
        )  # fmt: skip
        await self._client.ask(operation)

    async def _part(self, item: Object, owners: Iterable[str]) -> None:
        """Take the references to these owners from it; if it is gone, there is nothing to take."""
        references = [{"$patch": "delete", "uid": uid} for uid in owners]
        try:
            if references:
                await self._refer(item, references)
        except NotFound:
            return

    async def _unblock(self, item: Object) -> None:
        owners = [owner for owner in item.meta.owners if owner.block_owner_deletion]
        await self._refer(item, [{"uid": o.uid, "blockOwnerDeletion": False} for o in owners])

    async def _refer(self, item: Object, references: list[dict[str, Any]]) -> None:
        tree = {"metadata": {"uid": item.meta.uid, "ownerReferences": references}}
        await self._client.patch(item, tree, how="strategic")

    async def _release(self, item: Object, finalizer: str) -> None:
        """Take that finalizer from it, if it is still as it was heard of."""
        meta = item.meta
        left = [each for each in meta.finalizers if each != finalizer]
        said = {"uid": meta.uid, "resourceVersion": str(meta.revision), "finalizers": left}
        await self._client.patch(item, {"metadata": said})


def _is_waiting(item: Object) -> bool:
    """Whether it goes when all that blocks its deletion has gone."""
    return item.meta.is_terminating and FOREGROUND in item.meta.finalizers


def _is_orphaning(item: Object) -> bool:
    """Whether it goes when nothing belongs to it any more."""
    return item.meta.is_terminating and ORPHAN in item.meta.finalizers


def _kind_of(owner: Owner) -> type[Object] | None:
    try:
        return kind_of(owner.api_version, owner.kind)
    except UnknownName:
        return None


def _blocks(dependent: Object, uid: str) -> bool:
    return any(owner.uid == uid and owner.block_owner_deletion for owner in dependent.meta.owners)


def _propagation(meta: Meta) -> str:
    """What its own finalizers say of those that belong to it."""
    if ORPHAN in meta.finalizers:
        return "Orphan"
    return "Foreground" if FOREGROUND in meta.finalizers else "Background"
