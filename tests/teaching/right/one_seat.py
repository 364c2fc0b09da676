"""Right answers to level 6: three ways to give each place to one pod."""

from __future__ import annotations

from actors.shared.cpu import asked_m, free_m
from scenarios.levels.one_seat import Usher
from testbed import ApiError, Client, Conflict, NotFound, Unavailable
from testbed.errors import AlreadyExists
from testbed.objects import Map, Node, Note, Pod, room_of

RESERVED = "reserved"


class ReservesOnTheNode(Usher):
    """Writes on the node which pod comes there, by an update of the node as it was read. It counts
    what is reserved there, and binds afterwards."""

    async def run(self, client: Client) -> None:
        while True:
            try:
                pods = (await client.list(Pod)).items
                for pod in filter(self.is_mine, pods):
                    await self.place(client, pod)
                return
            except (Conflict, Unavailable):
                await client.sleep(500)

    async def place(self, client: Client, pod: Pod) -> None:
        """Bind that pod, if a node has room for it."""
        name = pod.meta.name
        for node in (await client.list(Node)).items:
            pods = (await client.list(Pod)).items
            reserved = node.meta.annotations.get(RESERVED, "").split()
            taken = sum(asked_m(each) for each in pods if each.meta.name in reserved)
            if name not in reserved:
                if taken + asked_m(pod) > room_of(node)["cpu"]:
                    continue
                more = node.meta.annotations.having(**{RESERVED: " ".join([*reserved, name])})
                await client.update(node.with_meta(annotations=more))
            await self.bind(client, pod, node)
            break


class LocksTheNodes(Usher):
    """Binds only while it has the one lock, and reads the pods after it got it."""

    async def run(self, client: Client) -> None:
        while True:
            try:
                await self.take(client)
                pods = (await client.list(Pod)).items
                for pod in filter(self.is_mine, pods):
                    for node in (await client.list(Node)).items:
                        pods = (await client.list(Pod)).items
                        if asked_m(pod) <= free_m(node, pods):
                            await self.bind(client, pod, node)
                            break
                return await client.delete(Note("lock"), whatever_it_was=True)
            except NotFound:
                return None
            except Unavailable:
                await client.sleep(200)

    async def take(self, client: Client) -> None:
        """Wait until the lock names this scheduler."""
        while True:
            try:
                await client.create(Note("lock", data=Map(by=self.name)))
                return
            except AlreadyExists:
                pass
            try:
                if (await client.get(Note, "lock")).data["by"] == self.name:
                    return
            except NotFound:
                continue
            await client.sleep(100)


class OneUsherForAll(Usher):
    """Lets the scheduler that is first to say so bind the pods of all."""

    async def run(self, client: Client) -> None:
        while True:
            try:
                if await self.is_first(client):
                    for pod in (await client.list(Pod)).items:
                        for node in () if pod.is_bound else (await client.list(Node)).items:
                            pods = (await client.list(Pod)).items
                            if asked_m(pod) <= free_m(node, pods):
                                await self.bind(client, pod, node)
                                break
                return
            except ApiError:
                await client.sleep(2_000)

    async def is_first(self, client: Client) -> bool:
        """Whether it is the first that has said so, in this life or before."""
        try:
            await client.create(Note("usher", data=Map(name=self.name)))
        except AlreadyExists:
            return (await client.get(Note, "usher")).data["name"] == self.name
        return True
