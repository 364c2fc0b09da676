"""Wrong answers to level 6: each looks as if it let one pod have each place."""

from __future__ import annotations

from contextlib import suppress

from actors.shared.cpu import asked_m, free_m
from scenarios.levels.one_seat import Usher
from testbed import Client, Conflict, NotFound, Unavailable
from testbed.errors import AlreadyExists
from testbed.objects import Map, Node, Note, Pod, room_of

RESERVED = "reserved"


async def _pods(client: Client) -> list[Pod]:
    return list((await client.list(Pod)).items)


async def _nodes(client: Client) -> list[Node]:
    return list((await client.list(Node)).items)


def _reserved(node: Node) -> list[str]:
    return node.meta.annotations.get(RESERVED, "").split()


def _reserving(node: Node, *names: str) -> Node:
    """The node with these names reserved there."""
    return node.with_meta(annotations=node.meta.annotations.having(**{RESERVED: " ".join(names)}))


def _has_room(node: Node, pod: Pod, pods: list[Pod]) -> bool:
    """Whether that pod fits beside those that are reserved there."""
    reserved = _reserved(node)
    taken = sum(asked_m(each) for each in pods if each.meta.name in reserved)
    return taken + asked_m(pod) <= room_of(node)["cpu"]


class LooksAgain(Usher):
    """Lists the pods once more before it binds: the gap is only smaller."""

    async def run(self, client: Client) -> None:
        for pod in filter(self.is_mine, await _pods(client)):
            for node in await _nodes(client):
                if asked_m(pod) > free_m(node, await _pods(client)):
                    continue
                if asked_m(pod) <= free_m(node, await _pods(client)):
                    await self.bind(client, pod, node)
                    break


class GuardsThePod(Usher):
    """Marks the pod first, by an update that is refused if the pod has changed."""

    async def run(self, client: Client) -> None:
        for pod in filter(self.is_mine, await _pods(client)):
            for node in await _nodes(client):
                if asked_m(pod) <= free_m(node, await _pods(client)):
                    marks = pod.meta.annotations.having(by=self.name)
                    marked = await client.update(pod.with_meta(annotations=marks))
                    await self.bind(client, marked, node)
                    break


class BindsLater(Usher):
    """Waits for a time of its own, as if the other were done by then."""

    async def run(self, client: Client) -> None:
        await client.sleep(sum(place * ord(char) for place, char in enumerate(self.name, 1)))
        while True:
            try:
                for pod in filter(self.is_mine, await _pods(client)):
                    for node in await _nodes(client):
                        if asked_m(pod) <= free_m(node, await _pods(client)):
                            await self.bind(client, pod, node)
                            break
                return
            except (Conflict, Unavailable):
                await client.sleep(10)


class UndoesIt(Usher):
    """Binds, looks, and deletes its pod again if the node has too little room."""

    async def run(self, client: Client) -> None:
        for pod in filter(self.is_mine, await _pods(client)):
            for node in await _nodes(client):
                if asked_m(pod) <= free_m(node, await _pods(client)):
                    await self.bind(client, pod, node)
                    if free_m(node, await _pods(client)) < 0:
                        await client.delete(pod, whatever_it_was=True)
                    break


class TouchesTheNode(Usher):
    """Updates the node before it binds, so that it has seen the newest one; reserves nothing."""

    async def run(self, client: Client) -> None:
        while True:
            try:
                for pod in filter(self.is_mine, await _pods(client)):
                    for node in await _nodes(client):
                        if asked_m(pod) <= free_m(node, await _pods(client)):
                            marks = node.meta.annotations.having(last=pod.meta.name)
                            await client.update(node.with_meta(annotations=marks))
                            await self.bind(client, pod, node)
                            break
                return
            except (Conflict, Unavailable):
                await client.sleep(300)


class CountsNoReservations(Usher):
    """Reserves room on the node, but counts only the pods that are bound there."""

    async def run(self, client: Client) -> None:
        while True:
            try:
                for pod in filter(self.is_mine, await _pods(client)):
                    for node in await _nodes(client):
                        if asked_m(pod) <= free_m(node, await _pods(client)):
                            names = (*_reserved(node), pod.meta.name)
                            await client.update(_reserving(node, *names))
                            await self.bind(client, pod, node)
                            break
                return
            except (Conflict, Unavailable):
                await client.sleep(300)


class _Reserver(Usher):
    """Reserves room on the node and binds, as it should; those below each miss something."""

    async def run(self, client: Client) -> None:
        while True:
            try:
                for pod in filter(self.is_mine, await _pods(client)):
                    for node in await _nodes(client):
                        if await self.is_placed(client, pod, node):
                            break
                return
            except (Conflict, Unavailable):
                await client.sleep(300)

    async def is_placed(self, client: Client, pod: Pod, node: Node) -> bool:
        """Whether it is bound to that node now."""
        raise NotImplementedError


class ReservesBlindly(_Reserver):
    """Writes its reservation whatever the node was."""

    async def is_placed(self, client: Client, pod: Pod, node: Node) -> bool:
        reserved = _reserved(node)
        if pod.meta.name not in reserved:
            if not _has_room(node, pod, await _pods(client)):
                return False
            await client.update(_reserving(node, *reserved, pod.meta.name), whatever_it_was=True)
        await self.bind(client, pod, node)
        return True


class ReservesInPlaceOfOthers(_Reserver):
    """Writes its own name as the only reservation, and wipes out the one before."""

    async def is_placed(self, client: Client, pod: Pod, node: Node) -> bool:
        if asked_m(pod) > free_m(node, await _pods(client)):
            return False
        if pod.meta.name not in _reserved(node):
            await client.update(_reserving(node, pod.meta.name))
        await self.bind(client, pod, node)
        return True


class TakesBackTooEarly(_Reserver):
    """Takes its reservation back before it binds."""

    async def is_placed(self, client: Client, pod: Pod, node: Node) -> bool:
        pods = await _pods(client)
        if not _has_room(node, pod, pods) or asked_m(pod) > free_m(node, pods):
            return False
        reserved = _reserved(node)
        mine = await client.update(_reserving(node, *reserved, pod.meta.name))
        await client.update(_reserving(mine, *reserved))
        await self.bind(client, pod, node)
        return True


class CountsItsOwnReservation(_Reserver):
    """Takes its own reservation, of a try before, for that of another pod."""

    async def is_placed(self, client: Client, pod: Pod, node: Node) -> bool:
        if not _has_room(node, pod, await _pods(client)):
            return False
        await client.update(_reserving(node, *_reserved(node), pod.meta.name))
        await self.bind(client, pod, node)
        return True


class ExpectsNoConflict(Usher):
    """Reserves room on the node, and does not expect to be refused."""

    async def run(self, client: Client) -> None:
        for pod in filter(self.is_mine, await _pods(client)):
            for node in await _nodes(client):
                if _has_room(node, pod, await _pods(client)):
                    await client.update(_reserving(node, *_reserved(node), pod.meta.name))
                    await self.bind(client, pod, node)
                    break


class SkipsAfterConflict(Usher):
    """Takes a refused reservation for a full node, and does not look there again."""

    async def run(self, client: Client) -> None:
        for pod in filter(self.is_mine, await _pods(client)):
            for node in await _nodes(client):
                if not _has_room(node, pod, await _pods(client)):
                    continue
                try:
                    await client.update(_reserving(node, *_reserved(node), pod.meta.name))
                    await self.bind(client, pod, node)
                    break
                except (Conflict, Unavailable):
                    continue


class ReservesTheSameAgain(Usher):
    """Sends a refused reservation again and again."""

    async def run(self, client: Client) -> None:
        for pod in filter(self.is_mine, await _pods(client)):
            for node in await _nodes(client):
                reserved = _reserved(node)
                while _has_room(node, pod, await _pods(client)):
                    try:
                        await client.update(_reserving(node, *reserved, pod.meta.name))
                        await self.bind(client, pod, node)
                        return
                    except (Conflict, Unavailable):
                        await client.sleep(100)


class LowestNameWins(Usher):
    """Says what it wants in a Note of its own, reads what others want, and waits if the name of
    another one comes first. But that one may have read before this Note was there."""

    async def run(self, client: Client) -> None:
        for pod in filter(self.is_mine, await _pods(client)):
            with suppress(AlreadyExists):
                await client.create(Note(f"want-{self.name}"))
            for node in await _nodes(client):
                notes = (await client.list(Note)).items
                is_first = self.name == min(each.meta.name for each in notes)[len("want-") :]
                for _ in range(0 if is_first else 4):
                    await client.sleep(1_000)
                if asked_m(pod) <= free_m(node, await _pods(client)):
                    await self.bind(client, pod, node)
                    break


class OneNodeEach(Usher):
    """Binds only to nodes of its own, by its name: pods wait beside nodes of others."""

    async def run(self, client: Client) -> None:
        while True:
            try:
                for pod in filter(self.is_mine, await _pods(client)):
                    nodes = await _nodes(client)
                    mine = nodes[ord(self.name[0]) % 2 :: 2]
                    for node in mine:
                        if asked_m(pod) <= free_m(node, await _pods(client)):
                            await self.bind(client, pod, node)
                            break
                return
            except (Conflict, Unavailable):
                await client.sleep(300)


class OnlyTheFirstBinds(Usher):
    """Elects one scheduler, which then binds only the pods that name it."""

    async def run(self, client: Client) -> None:
        while True:
            try:
                await client.create(Note("leader", data=Map(name=self.name)))
                break
            except AlreadyExists:
                if (await client.get(Note, "leader")).data["name"] != self.name:
                    return
                break
        for pod in filter(self.is_mine, await _pods(client)):
            for node in await _nodes(client):
                if asked_m(pod) <= free_m(node, await _pods(client)):
                    await self.bind(client, pod, node)
                    break


class _Locker(Usher):
    """Binds while it has a lock; those below each hold it wrongly."""

    lock_ms = 0
    """After how long it takes a lock that is not its own; 0: never."""
    knows_own = True

    async def take(self, client: Client, lock: str) -> None:
        """Wait until that lock is its own."""
        waited_ms = 0
        while True:
            try:
                await client.create(Note(lock, data=Map(by=self.name)))
                return
            except (AlreadyExists, Unavailable):
                pass
            try:
                held = await client.get(Note, lock)
                if self.knows_own and held.data["by"] == self.name:
                    return
                if self.lock_ms and waited_ms >= self.lock_ms:
                    await client.delete(held)
                    continue
            except (NotFound, Conflict, Unavailable):
                continue
            await client.sleep(1_000)
            waited_ms += 1_000

    async def give_back(self, client: Client, lock: str) -> None:
        """Delete that lock."""
        while True:
            try:
                return await client.delete(Note(lock), whatever_it_was=True)
            except NotFound:
                return None
            except Unavailable:
                await client.sleep(200)

    async def fill(self, client: Client) -> None:
        """Bind each of its pods that fits."""
        while True:
            try:
                for pod in filter(self.is_mine, await _pods(client)):
                    for node in await _nodes(client):
                        if asked_m(pod) <= free_m(node, await _pods(client)):
                            await self.bind(client, pod, node)
                            break
                return
            except (Conflict, Unavailable):
                await client.sleep(200)


class BreaksOldLocks(_Locker):
    """Takes a lock that is three seconds old, though its holder may only be slow."""

    lock_ms = 3_000

    async def run(self, client: Client) -> None:
        await self.take(client, "lock")
        await self.fill(client)
        await self.give_back(client, "lock")


class DoesNotKnowItsLock(_Locker):
    """Waits for ever for the lock that its own life before the crash has taken."""

    knows_own = False

    async def run(self, client: Client) -> None:
        await self.take(client, "lock")
        await self.fill(client)
        await self.give_back(client, "lock")


class PutsAlphaFirst(_Locker):
    """Knows the usual names: every other scheduler waits until pod c is bound."""

    async def run(self, client: Client) -> None:
        while self.name != "alpha":
            with suppress(Unavailable):
                if any(pod.is_bound for pod in await _pods(client) if pod.meta.name != "d"):
                    break
            await client.sleep(500)
        await self.fill(client)


class ReadsBeforeTheLock(_Locker):
    """Lists the pods before it has the lock, and goes by that list."""

    async def run(self, client: Client) -> None:
        pods = await _pods(client)
        await self.take(client, "lock")
        for pod in filter(self.is_mine, pods):
            for node in await _nodes(client):
                if asked_m(pod) <= free_m(node, pods):
                    await self.bind(client, pod, node)
                    break
        await self.give_back(client, "lock")
