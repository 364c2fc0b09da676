"""Never adopted: a machine is deleted before its controller has made itself the owner of what runs
it, so nobody deletes that (kubernetes-sigs/cluster-api#5483)."""

from __future__ import annotations

from contextlib import suppress

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Cache, Client, Evidence, NotFound, World, quiescent
from testbed.objects import ConfigMap, Map, Note
from tests.never_rest.frame import WorkQueue
from tests.told.frame import Told


@attrs.frozen
class MachineSet(Actor):
    """Creates a virtual machine (a Note), and the Machine (a ConfigMap) that is to own it. With
    `guard` it says at once who owns it."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Once."""
        owner = "m-1" if self.guard else ""
        await client.create(Note("m-1").saying(owner=owner))
        await client.create(ConfigMap("m-1", data=Map(vm="m-1")))


@attrs.frozen
class MachineController(Actor):
    """Makes each Machine the owner of its virtual machine, and deletes that with its owner. With
    `guard` it looks when a virtual machine comes, too."""

    guard: bool

    async def run(self, client: Client) -> None:
        """When a Machine comes or goes."""
        machines, queue = Cache(client, ConfigMap), WorkQueue(client)
        queue.follow(machines)
        if self.guard:
            queue.follow(Cache(client, Note))
            await machines.synced()

        async def reconcile(name: str) -> None:
            with suppress(NotFound):
                vm = await client.get(Note, name)
                if machines.get(name) is None and vm.data["owner"] == name:
                    await client.delete(vm, whatever_it_was=True)
                elif machines.get(name) is not None and not vm.data["owner"]:
                    await client.patch(vm, {"data": {"owner": name}})

        await queue.work(reconcile)


class Ann(Actor):
    """Deletes the cluster again."""

    async def run(self, client: Client) -> None:
        """After three seconds."""
        await client.sleep(3_000, "delete")
        await client.delete(ConfigMap("m-1"), whatever_it_was=True)


def no_machine_is_left(see: Evidence) -> str | None:
    """Nothing runs that has no Machine."""
    running, machines = see.store.snapshot("notes/"), see.store.snapshot("configmaps/")
    if len(running) > len(machines):
        return f"{len(running)} virtual machines run for {len(machines)} Machines"
    return None


def never_adopted(world: World, *, guard: bool = False) -> None:
    """A Machine goes before its controller has looked at it."""
    world.serve(ApiServer)
    world.start(MachineSet("machineset", guard), MachineController("machine-controller", guard))
    world.start(Ann("ann"))
    world.claim(quiescent(no_machine_is_left))


TRUE = Told(
    never_adopted,
    race="""
holds:
  - hold: machine-controller get notes/default/m-1
    until: 5s
""",
    actor="machine-controller",
    made_so="ann",
    about="notes/default/m-1",
    did=("never", "did not", "left"),
    words=("owner", "late", "configmaps/default/m-1", "held"),
    never=("^ann", "^machineset"),
    said=(
        "machine-controller never deleted notes/default/m-1, of which it had not made "
        "configmaps/default/m-1 the owner: its get was late, and ann had deleted the Machine."
    ),
)

ALSO = (
    TRUE.also(
        "sought",
        """
holds:
  - hold: machine-controller list configmaps
    until: ann delete configmaps/default/m-1
""",
        "machine-controller never deleted notes/default/m-1, not knowing of "
        "configmaps/default/m-1: its list was late, and ann had deleted that at rv 4.",
        words=("configmaps/default/m-1",),
    ),
)
