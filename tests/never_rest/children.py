"""Children: a controller gives each parent one child with a generated name, and a finalizer
keeps the parent until its children are gone."""

from __future__ import annotations

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Cache, Client, Evidence, Selector, World, always, quiescent
from testbed.objects import ConfigMap, Meta, Pod
from testbed.objects.labels import parse
from tests.never_rest.frame import WorkQueue

OURS = "example.com/children"
RESYNC_MS = 5_000


@attrs.frozen
class Parents(Actor):
    """Keeps one child for each parent. With `guard` it asks the API server for the children before
    it acts, since its informer may not know those yet that it has made itself."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Look at a parent when it or a child of it changes, and at all every few seconds."""
        parents, children = Cache(client, ConfigMap), Cache(client, Pod)
        queue = WorkQueue(client)
        queue.follow(parents)
        queue.follow(children, lambda child: child.meta.labels["parent"])
        client.spawn("resync", queue.resync, parents, RESYNC_MS)

        async def reconcile(name: str) -> None:
            parent = parents.get(name)
            if parent is None:
                return
            mine = [child for child in children.all() if child.meta.labels["parent"] == name]
            if self.guard:
                ours = Selector(labels=parse(f"parent={name}"))
                mine = [*(await client.list(Pod, ours)).items]
            if parent.meta.is_terminating:
                for child in mine:
                    await client.delete(child, whatever_it_was=True)
                left = tuple(each for each in parent.meta.finalizers if each != OURS)
                await client.update(parent.with_meta(finalizers=left))
            elif OURS not in parent.meta.finalizers:
                await client.update(parent.with_meta(finalizers=(*parent.meta.finalizers, OURS)))
            elif not mine:
                meta = Meta("", generate_name=f"{name}-", labels={"parent": name})
                await client.create(attrs.evolve(Pod.of("", cpu_m=100, grace_s=0), meta=meta))

        await queue.work(reconcile)


@attrs.frozen
class User(Actor):
    """Creates a parent, notes something on it, and deletes it after a while."""

    async def run(self, client: Client) -> None:
        """One parent, from its first day to its last."""
        await client.create(ConfigMap("web"))
        await client.sleep(1_000, "note")
        await client.patch(ConfigMap("web"), {"data": {"seen": "yes"}})
        await client.sleep(20_000, "delete")
        await client.delete(ConfigMap("web"), whatever_it_was=True)


def one_child(see: Evidence) -> str | None:
    """No parent has two children."""
    pods = [entry.key for entry in see.store.snapshot("pods/")]
    if len(pods) > 1:
        return f"configmaps/default/web has two children, {pods[0]} and {pods[1]}"
    return None


def no_orphan(see: Evidence) -> str | None:
    """Once the parent is gone, its children are."""
    if see.store.peek("configmaps/default/web") is None:
        for entry in see.store.snapshot("pods/"):
            return f"{entry.key} has outlived configmaps/default/web"
    return None


def children(world: World, *, guard: bool = False) -> None:
    """An informer that does not know the first child yet makes a second one."""
    world.serve(ApiServer)
    world.start(Parents("parents", guard), User("user"))
    world.claim(always(one_child), quiescent(no_orphan))
