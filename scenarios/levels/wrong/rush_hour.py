"""Wrong answers to level 10: each looks as if it could stand the rush."""

from __future__ import annotations

from contextlib import suppress

from actors.shared.cpu import asked_m, free_m, kept_m
from scenarios.levels.rush_hour import RushScheduler
from testbed import ApiError, Client, NotFound, Unavailable
from testbed.errors import AlreadyExists
from testbed.objects import Map, Node, Note, Pod


async def _pods(client: Client) -> list[Pod]:
    return list((await client.list(Pod)).items)


async def _nodes(client: Client) -> list[Node]:
    return list((await client.list(Node)).items)


class _Locked(RushScheduler):
    """Decides while it has the lock, as it should; those below each miss something."""

    async def run(self, client: Client) -> None:
        while True:
            with suppress(ApiError):
                with suppress(AlreadyExists):
                    await client.create(Note("lock", data=Map(by=self.name)))
                lock = await client.get(Note, "lock")
                if lock.data["by"] == self.name:
                    await self.place_all(client)
                    await client.delete(lock)
                    await client.sleep(1_000)
            await client.sleep(500)

    async def place_all(self, client: Client) -> None:
        """Place each pod of its own, the most important first."""
        mine = filter(self.is_mine, await _pods(client))
        for pod in sorted(mine, key=lambda pod: (-pod.priority, pod.meta.name)):
            await self.place(client, pod)

    async def place(self, client: Client, pod: Pod) -> None:
        """Bind that pod, or make room for it."""
        nodes, pods = await _nodes(client), await _pods(client)
        for node in nodes:
            if asked_m(pod) + self.kept(node, pods, pod) <= free_m(node, self.counted(pods)):
                await self.bind(client, pod, node)
                return
        await self.make_room(client, pod, nodes, pods)

    def kept(self, node: Node, pods: list[Pod], pod: Pod) -> int:
        """What is kept there from that pod."""
        return kept_m(node, pods, pod)

    def counted(self, pods: list[Pod]) -> list[Pod]:
        """The pods that take room."""
        return pods

    def stay(self, pods: list[Pod], pod: Pod) -> list[Pod]:
        """The pods that are not deleted for that one."""
        return [each for each in pods if each.priority >= pod.priority]

    async def make_room(self, client: Client, pod: Pod, nodes: list[Node], pods: list[Pod]) -> None:
        """Nominate that pod, and delete the victims; or take its nomination back."""
        stay, before = self.stay(pods, pod), pod.status.nominated_node_name
        for node in nodes:
            name = node.meta.name
            if asked_m(pod) + self.kept(node, pods, pod) <= free_m(node, stay):
                if before != name:
                    await self.nominate(client, pod, name)
                for victim in self.victims(pod, node, pods, stay):
                    await client.delete(victim)
                return
        if before:
            await self.nominate(client, pod, "")

    def victims(self, pod: Pod, node: Node, pods: list[Pod], stay: list[Pod]) -> list[Pod]:
        """The pods of that node that are deleted: no more than it takes."""
        found, left = list[Pod](), [each for each in pods if not each.meta.is_terminating]
        for each in [each for each in left if each not in stay]:
            needs_m = asked_m(pod) + self.kept(node, pods, pod)
            if each.spec.node_name == node.meta.name and needs_m > free_m(node, left):
                found.append(each)
                left.remove(each)
        return found


class GoesAlone(_Locked):
    """Does all of it well, but takes no lock."""

    async def run(self, client: Client) -> None:
        while True:
            with suppress(ApiError):
                await self.place_all(client)
            await client.sleep(2_000)


class GoesAtTimesOfItsOwn(_Locked):
    """Takes no lock, and looks at other times than the others."""

    async def run(self, client: Client) -> None:
        await client.sleep(500 * self.names.index(self.name))
        while True:
            with suppress(ApiError):
                await self.place_all(client)
            await client.sleep(2_000)


class NeverMakesRoom(_Locked):
    """Lets an important pod wait until there is room."""

    async def make_room(self, client: Client, pod: Pod, nodes: list[Node], pods: list[Pod]) -> None:
        return


class DeletesEquals(_Locked):
    """Deletes pods that are as important as the one that waits."""

    def stay(self, pods: list[Pod], pod: Pod) -> list[Pod]:
        return [each for each in pods if each.priority > pod.priority]


class DeletesAllThatIsThere(_Locked):
    """Empties the node, also of pods that are as important as the one that waits."""

    def victims(self, pod: Pod, node: Node, pods: list[Pod], stay: list[Pod]) -> list[Pod]:
        here = [each for each in pods if each.spec.node_name == node.meta.name]
        return [each for each in here if not each.meta.is_terminating]


class DeletesAllThatIsLess(_Locked):
    """Deletes every less important pod of the cluster, wherever it is."""

    def victims(self, pod: Pod, node: Node, pods: list[Pod], stay: list[Pod]) -> list[Pod]:
        lesser = [each for each in pods if each.is_bound and each not in stay]
        return [each for each in lesser if not each.meta.is_terminating]


class DeletesAllVictims(_Locked):
    """Deletes every less important pod of the node, though one of them would do."""

    def victims(self, pod: Pod, node: Node, pods: list[Pod], stay: list[Pod]) -> list[Pod]:
        here = [each for each in pods if each.spec.node_name == node.meta.name]
        lesser = [each for each in here if each not in stay]
        return [each for each in lesser if not each.meta.is_terminating]


class DeletesOneVictim(_Locked):
    """Deletes one pod and thinks that this is enough."""

    async def make_room(self, client: Client, pod: Pod, nodes: list[Node], pods: list[Pod]) -> None:
        if pod.status.nominated_node_name:
            return
        for node in nodes:
            here = [p for p in pods if p.spec.node_name == node.meta.name]
            lesser = [p for p in here if p.priority < pod.priority]
            if lesser:
                await self.nominate(client, pod, node.meta.name)
                await client.delete(min(lesser, key=lambda each: each.priority))
                return


class ForgetsWhatIsKept(_Locked):
    """Makes room, and binds another pod into it."""

    def kept(self, node: Node, pods: list[Pod], pod: Pod) -> int:
        return 0


class CountsNoVictims(_Locked):
    """Binds a pod while its victims still take their room."""

    def counted(self, pods: list[Pod]) -> list[Pod]:
        return [each for each in pods if not each.meta.is_terminating]


class TrustsItsNomination(_Locked):
    """Waits for the node that its pod is nominated to, though that node may be gone."""

    async def make_room(self, client: Client, pod: Pod, nodes: list[Node], pods: list[Pod]) -> None:
        if not pod.status.nominated_node_name:
            await super().make_room(client, pod, nodes, pods)


class NeverTakesItBack(_Locked):
    """Leaves a nomination there that helps no more, so the autoscaler adds no node."""

    async def nominate(self, client: Client, pod: Pod, node: str) -> None:
        if node:
            await super().nominate(client, pod, node)


class ListsTheNodesOnce(_Locked):
    """Lists the nodes when it starts, and never hears of others."""

    async def run(self, client: Client) -> None:
        first: list[Node] = []
        while True:
            with suppress(ApiError):
                first = first or await _nodes(client)
                with suppress(AlreadyExists):
                    await client.create(Note("lock", data=Map(by=self.name)))
                lock = await client.get(Note, "lock")
                if lock.data["by"] == self.name:
                    for pod in filter(self.is_mine, await _pods(client)):
                        pods = await _pods(client)
                        asks = {n: asked_m(pod) + kept_m(n, pods, pod) for n in first}
                        free = [n for n in first if asks[n] <= free_m(n, pods)]
                        if free:
                            await self.bind(client, pod, free[0])
                        else:
                            await self.make_room(client, pod, first, pods)
                    await client.delete(lock)
                    await client.sleep(1_000)
            await client.sleep(500)


class StopsAtTheFirst(_Locked):
    """Waits with all other pods while its most important one fits nowhere."""

    async def place_all(self, client: Client) -> None:
        mine = filter(self.is_mine, await _pods(client))
        for pod in sorted(mine, key=lambda pod: (-pod.priority, pod.meta.name))[:1]:
            await self.place(client, pod)


class ForgetsItsLock(_Locked):
    """Waits for ever for the lock that it took itself, before a crash or a lost answer."""

    async def run(self, client: Client) -> None:
        while True:
            with suppress(ApiError):
                lock = await client.create(Note("lock", data=Map(by=self.name)))
                await self.place_all(client)
                await client.delete(lock)
            await client.sleep(1_500)


class BreaksTheLock(_Locked):
    """Takes the lock away from another scheduler after three seconds."""

    async def run(self, client: Client) -> None:
        waited = 0
        while True:
            with suppress(ApiError):
                with suppress(AlreadyExists):
                    await client.create(Note("lock", data=Map(by=self.name)))
                lock = await client.get(Note, "lock")
                waited = 0 if lock.data["by"] == self.name else waited + 1
                if lock.data["by"] == self.name:
                    await self.place_all(client)
                if lock.data["by"] == self.name or waited > 3:
                    await client.delete(lock, whatever_it_was=True)
            await client.sleep(1_000)


class DiesOfAnyError(_Locked):
    """Does not expect that a request fails."""

    async def run(self, client: Client) -> None:
        while True:
            with suppress(AlreadyExists):
                await client.create(Note("lock", data=Map(by=self.name)))
            with suppress(NotFound):
                lock = await client.get(Note, "lock")
                if lock.data["by"] == self.name:
                    await self.place_all(client)
                    await client.delete(lock)
                    await client.sleep(1_000)
            await client.sleep(500)


class LeadsForItsOwn(_Locked):
    """Elects one scheduler, which places only the pods that name it."""

    async def run(self, client: Client) -> None:
        while True:
            with suppress(ApiError):
                with suppress(AlreadyExists):
                    await client.create(Note("leader", data=Map(name=self.name)))
                if (await client.get(Note, "leader")).data["name"] == self.name:
                    await self.place_all(client)
            await client.sleep(2_000)


class LetsAlphaLead(_Locked):
    """Knows the usual names: alpha places the pods of all."""

    def is_mine(self, pod: Pod) -> bool:
        return self.name == "alpha" and not pod.is_bound

    async def run(self, client: Client) -> None:
        while True:
            with suppress(ApiError):
                await self.place_all(client)
            await client.sleep(2_000)


class SharesOutTheNodes(_Locked):
    """Places its pods only on nodes of its own."""

    async def place(self, client: Client, pod: Pod) -> None:
        with suppress(Unavailable):
            place, nodes = self.names.index(self.name), await _nodes(client)
            mine, pods = nodes[place :: len(self.names)], await _pods(client)
            for node in mine:
                if asked_m(pod) + kept_m(node, pods, pod) <= free_m(node, pods):
                    await self.bind(client, pod, node)
                    return
            await self.make_room(client, pod, mine, pods)
