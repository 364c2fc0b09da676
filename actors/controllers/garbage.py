"""The garbage collector: deletes dependents when their owners are deleted (API-32).

1. It watches all objects of its kinds. It queues an object whose owner it does not know, and one
   that is being deleted together with its dependents.
2. An object that has no owner left is deleted. One that has lost one of several owners only loses
   the reference to that one.
3. An owner with the finalizer `foregroundDeletion` stays until no dependent blocks its deletion any
   more. With `orphan`, its dependents lose their reference to it first, and stay.
4. Before it deletes an object it asks the server for that object and for its owners, as Kubernetes
   does. `looks_again=False` leaves this out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import attrs

from actors.controllers.kinship import Kinship
from actors.shared.settings import at_least
from actors.shared.workqueue import Workqueue
from testbed import Actor, ApiError, Cache, Client, NotFound, Operation
from testbed.errors import UnknownName
from testbed.objects import (
    DaemonSet,
    Deployment,
    Job,
    Map,
    Meta,
    Object,
    Owner,
    Pod,
    ReplicaSet,
    StatefulSet,
    kind_of,
)

FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"
"""Finalizers that say what becomes of the dependents of an object."""
ABSENT, WAITING, THERE = "absent", "waiting", "there"
"""The state of an owner: deleted, waiting for its dependents to be deleted, or there to stay."""


@attrs.frozen
class GarbageCollector(Actor):
    """Deletes objects whose owners are all deleted."""

    rank: ClassVar[int] = 3

    name: str = "garbage-collector"
    kinds: tuple[type[Object], ...] = (DaemonSet, Deployment, Job, Pod, ReplicaSet, StatefulSet)
    """The kinds it watches, as dependents and as owners."""
    delay_ms: int = attrs.field(default=0, validator=at_least(0))
    """How long it waits before it acts on what it has heard."""
    looks_again: bool = True
    """Whether it asks the server before it deletes."""

    async def run(self, client: Client) -> None:
        collection = _Collection(self, client)
        caches = [Cache(client, kind) for kind in self.kinds]
        for cache in caches:
            cache.on(add=collection.added, update=collection.changed, delete=collection.gone)
        for cache in caches:
            await cache.synced()
        await collection.work()


class _Collection:
    """One life of it: the objects that it knows, and those that it has queued."""

    def __init__(self, settings: GarbageCollector, client: Client) -> None:
        self._settings = settings
        self._client = client
        self._kin = Kinship()
        self._todo = Workqueue(client)

    # -- what it hears --------------------------------------------------------------------------

    def added(self, new: Any) -> None:
        """Queue an object if an owner of it is unknown or waiting, or if it waits itself."""
        self._kin.put(new)
        if _is_orphaning(new) or _is_waiting(new) or not self._is_owned(new.meta):
            self._want(new)
        if _is_waiting(new):
            self._want(*self._kin.dependents(new.meta.uid))

    def changed(self, old: Any, new: Any) -> None:
        """The same; and queue owners that wait and may have to wait no longer."""
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
        """Queue its dependents, and the owners that wait for it."""
        self._kin.drop(old.meta.uid)
        self._want(*self._kin.dependents(old.meta.uid))
        self._want_owners(old.meta)

    def _is_owned(self, meta: Meta) -> bool:
        """Whether all its owners are known and will stay."""
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
        """Process one object after another; one that fails is requeued."""
        while True:
            uid = await self._todo.take()
            item, has_failed = self._kin.item(uid), False
            try:
                if item is not None:
                    await self._process(item)
            except NotFound:
                pass
            except ApiError:
                has_failed = True
            self._todo.done(uid, has_failed=has_failed)

    async def _process(self, item: Any) -> None:
        """Orphan or release the dependents of an owner, or judge a dependent."""
        meta = item.meta
        if _is_orphaning(item):
            for dependent in self._kin.dependents(meta.uid):
                await self._unlink(dependent, [meta.uid])
            await self._release(item, ORPHAN)
        elif _is_waiting(item):
            blocking = [d for d in self._kin.dependents(meta.uid) if _blocks(d, meta.uid)]
            if not blocking:
                await self._release(item, FOREGROUND)
            self._want(*(dependent for dependent in blocking if not _is_waiting(dependent)))
        elif not meta.is_terminating and not self._is_owned(meta):
            await self._judge(item)

    async def _judge(self, item: Any) -> None:
        """Delete an object if no owner of it stays; else only remove its references to others."""
        meta = item.meta
        # What it has heard may be old, and of one kind older than of another: a pod may be heard of
        # before its ReplicaSet, or carry by now a reference to another owner. Deleting by that
        # would kill what is still owned. So the server has the last word, and the uid of the delete
        # makes sure that no new object of the same name is hit.
        if self._settings.looks_again:
            item = await self._client.get(type(item), meta.name, meta.namespace)
            # Another object of that name is judged when it is heard of, by its own uid.
            if item.meta.is_terminating or item.meta.uid != meta.uid:
                return
        owners: dict[str, list[str]] = {ABSENT: [], WAITING: [], THERE: []}
        for owner in item.meta.owners:
            owners[await self._state_of(owner, meta.namespace)].append(owner.uid)
        dependents = self._kin.dependents(meta.uid)
        lost = [*owners[ABSENT], *owners[WAITING]]
        if owners[THERE]:
            await self._unlink(item, lost)
        elif owners[WAITING] and dependents:
            if any(_is_waiting(dependent) for dependent in dependents):
                # Owner and dependent may wait for each other in a ring. To break it, this object
                # no longer blocks its owner.
                await self._unblock(item)
            await self._delete(item, "Foreground")
        elif lost:
            await self._delete(item, _propagation(item.meta))

    async def _state_of(self, owner: Owner, namespace: str) -> str:
        """The state of an owner. One of an unknown kind is taken to stay, to be safe."""
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

    async def _unlink(self, item: Object, owners: Iterable[str]) -> None:
        """Remove the references to these owners from an object, unless it is gone."""
        references = [{"$patch": "delete", "uid": uid} for uid in owners]
        try:
            if references:
                await self._patch_owners(item, references)
        except NotFound:
            return

    async def _unblock(self, item: Object) -> None:
        """Let an object no longer block the deletion of its owners."""
        owners = [owner for owner in item.meta.owners if owner.block_owner_deletion]
        await self._patch_owners(
            item, [{"uid": o.uid, "blockOwnerDeletion": False} for o in owners]
        )

    async def _patch_owners(self, item: Object, references: list[dict[str, Any]]) -> None:
        tree = {"metadata": {"uid": item.meta.uid, "ownerReferences": references}}
        await self._client.patch(item, tree, how="strategic")

    async def _release(self, item: Object, finalizer: str) -> None:
        """Remove a finalizer, if the object has not changed since it was heard of."""
        meta = item.meta
        left = [each for each in meta.finalizers if each != finalizer]
        tree = {"uid": meta.uid, "resourceVersion": meta.revision, "finalizers": left}
        await self._client.patch(item, {"metadata": tree})


def _is_waiting(item: Object) -> bool:
    """Whether it waits until no dependent blocks its deletion (foreground)."""
    return item.meta.is_terminating and FOREGROUND in item.meta.finalizers


def _is_orphaning(item: Object) -> bool:
    """Whether it waits until no dependent names it any more (orphan)."""
    return item.meta.is_terminating and ORPHAN in item.meta.finalizers


def _kind_of(owner: Owner) -> type[Object] | None:
    try:
        return kind_of(owner.api_version, owner.kind)
    except UnknownName:
        return None


def _blocks(dependent: Object, uid: str) -> bool:
    return any(owner.uid == uid and owner.block_owner_deletion for owner in dependent.meta.owners)


def _propagation(meta: Meta) -> str:
    """The propagation policy that the object's own finalizers ask for."""
    if ORPHAN in meta.finalizers:
        return "Orphan"
    return "Foreground" if FOREGROUND in meta.finalizers else "Background"
