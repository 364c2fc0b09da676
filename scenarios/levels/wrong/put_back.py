"""Wrong answers to level 9: each looks as if it left alone what would come back."""

from __future__ import annotations

from actors.shared.cpu import asked_m, free_m
from scenarios.levels.put_back import Tidier, duplicates, owner_of
from testbed import Client
from testbed.objects import Node, Pod, room_of


async def _pods(client: Client) -> list[Pod]:
    """All pods."""
    return list((await client.list(Pod)).items)


async def _nodes(client: Client) -> list[Node]:
    """All nodes."""
    return list((await client.list(Node)).items)


def _has_kin(node: Node, pod: Pod, pods: list[Pod]) -> bool:
    """Whether a pod of the same owner is on that node."""
    here = [each for each in pods if each.spec.node_name == node.meta.name]
    return any(owner_of(each) == owner_of(pod) for each in here)


def _suits(node: Node, pod: Pod, pods: list[Pod]) -> bool:
    """Whether the pod could go to that node, and would be alone there."""
    is_open = not node.spec.unschedulable and not _has_kin(node, pod, pods)
    return is_open and free_m(node, pods) >= asked_m(pod)


class EvictsEachDuplicate(Tidier):
    """Does what the careless one does."""

    async def run(self, client: Client) -> None:
        while True:
            for pod in duplicates(await _pods(client)):
                await self.evict(client, pod)
            await client.sleep(self.pass_ms)


class CountsTheNodes(Tidier):
    """Evicts if there are enough open nodes to spread the pods, as RemoveDuplicates does: whether
    they have room it does not ask."""

    async def run(self, client: Client) -> None:
        while True:
            pods, nodes = await _pods(client), await _nodes(client)
            places = [node for node in nodes if not node.spec.unschedulable]
            for pod in duplicates(pods):
                if sum(owner_of(each) == owner_of(pod) for each in pods) <= len(places):
                    await self.evict(client, pod)
            await client.sleep(self.pass_ms)


class AsksForAnyRoom(Tidier):
    """Asks whether the pod would fit anywhere, and takes its own node for an answer."""

    async def run(self, client: Client) -> None:
        while True:
            pods, nodes = await _pods(client), await _nodes(client)
            for pod in duplicates(pods):
                if any(free_m(node, pods) >= asked_m(pod) for node in nodes):
                    await self.evict(client, pod)
            await client.sleep(self.pass_ms)


class ForgetsTheRoom(Tidier):
    """Looks for an open node without a pod of the owner, be it full or not."""

    async def run(self, client: Client) -> None:
        while True:
            pods, nodes = await _pods(client), await _nodes(client)
            for pod in duplicates(pods):
                others = [node for node in nodes if not node.spec.unschedulable]
                if any(not _has_kin(node, pod, pods) for node in others):
                    await self.evict(client, pod)
            await client.sleep(self.pass_ms)


class ForgetsTheCordon(Tidier):
    """Looks for room on a node without a pod of the owner, and not whether it is open."""

    async def run(self, client: Client) -> None:
        while True:
            pods, nodes = await _pods(client), await _nodes(client)
            for pod in duplicates(pods):
                others = [node for node in nodes if not _has_kin(node, pod, pods)]
                if any(free_m(node, pods) >= asked_m(pod) for node in others):
                    await self.evict(client, pod)
            await client.sleep(self.pass_ms)


class ForgetsItsKin(Tidier):
    """Looks for room on another open node, even if the pod would be a duplicate there, too."""

    async def run(self, client: Client) -> None:
        while True:
            pods, nodes = await _pods(client), await _nodes(client)
            for pod in duplicates(pods):
                others = [node for node in nodes if node.meta.name != pod.spec.node_name]
                places = [node for node in others if not node.spec.unschedulable]
                if any(free_m(node, pods) >= asked_m(pod) for node in places):
                    await self.evict(client, pod)
            await client.sleep(self.pass_ms)


class LooksAtTheWholeNode(Tidier):
    """Compares what the pod asks for with all that a node has, not with what is left of it."""

    async def run(self, client: Client) -> None:
        while True:
            pods, nodes = await _pods(client), await _nodes(client)
            for pod in duplicates(pods):
                others = [node for node in nodes if not _has_kin(node, pod, pods)]
                places = [node for node in others if not node.spec.unschedulable]
                if any(room_of(node)["cpu"] >= asked_m(pod) for node in places):
                    await self.evict(client, pod)
            await client.sleep(self.pass_ms)


class CountsWhatItManages(Tidier):
    """Counts only pods that have an owner, since these are all it may move."""

    async def run(self, client: Client) -> None:
        while True:
            pods, nodes = await _pods(client), await _nodes(client)
            owned = [pod for pod in pods if owner_of(pod)]
            for pod in duplicates(owned):
                if any(_suits(node, pod, owned) for node in nodes):
                    await self.evict(client, pod)
            await client.sleep(self.pass_ms)


class LeavesSomeRoom(Tidier):
    """Wants room for one pod more than the one that it evicts."""

    async def run(self, client: Client) -> None:
        while True:
            pods, nodes = await _pods(client), await _nodes(client)
            for pod in duplicates(pods):
                places = [node for node in nodes if _suits(node, pod, pods)]
                if any(free_m(node, pods) > 2 * asked_m(pod) for node in places):
                    await self.evict(client, pod)
            await client.sleep(self.pass_ms)


class LooksAtTheNextNode(Tidier):
    """Asks the first other node only."""

    async def run(self, client: Client) -> None:
        while True:
            pods, nodes = await _pods(client), await _nodes(client)
            for pod in duplicates(pods):
                others = [node for node in nodes if node.meta.name != pod.spec.node_name]
                if others and _suits(others[0], pod, pods):
                    await self.evict(client, pod)
            await client.sleep(self.pass_ms)


class NeverEvicts(Tidier):
    """Does nothing, and so nothing comes back."""

    async def run(self, client: Client) -> None:
        while True:
            await client.sleep(self.pass_ms)


class TriesEachOwnerOnce(Tidier):
    """Evicts one pod of each owner, and takes what comes back for the best that can be had."""

    async def run(self, client: Client) -> None:
        tried = set[str]()
        while True:
            for pod in duplicates(await _pods(client)):
                if owner_of(pod) not in tried:
                    tried.add(owner_of(pod))
                    await self.evict(client, pod)
            await client.sleep(self.pass_ms)


class GivesUpAfterThree(Tidier):
    """Evicts three times at most, whatever comes of it."""

    async def run(self, client: Client) -> None:
        left = 3
        while True:
            for pod in duplicates(await _pods(client)):
                if left:
                    left -= 1
                    await self.evict(client, pod)
            await client.sleep(self.pass_ms)


class BacksOff(Tidier):
    """Waits twice as long after each pass that evicted something: the loop only gets slower."""

    async def run(self, client: Client) -> None:
        wait_ms = self.pass_ms
        while True:
            found = duplicates(await _pods(client))
            for pod in found:
                await self.evict(client, pod)
            wait_ms = 2 * wait_ms if found else self.pass_ms
            await client.sleep(wait_ms)


class RemembersThePods(Tidier):
    """Evicts no pod twice, by its name: but what comes back has a name of its own."""

    async def run(self, client: Client) -> None:
        evicted = set[str]()
        while True:
            for pod in duplicates(await _pods(client)):
                if pod.meta.name not in evicted:
                    evicted.add(pod.meta.name)
                    await self.evict(client, pod)
            await client.sleep(self.pass_ms)


class EvictsTheWholeFamily(Tidier):
    """If one of the pods could move, evicts all of them, so that the scheduler spreads them."""

    async def run(self, client: Client) -> None:
        while True:
            pods, nodes = await _pods(client), await _nodes(client)
            for pod in duplicates(pods):
                if any(_suits(node, pod, pods) for node in nodes):
                    for each in pods:
                        if owner_of(each) == owner_of(pod):
                            await self.evict(client, each)
            await client.sleep(self.pass_ms)


class MakesRoom(Tidier):
    """Evicts what fills the other node, so that the duplicate can go there."""

    async def run(self, client: Client) -> None:
        while True:
            pods = await _pods(client)
            for pod in duplicates(pods):
                for each in pods:
                    if not owner_of(each) and asked_m(each) > asked_m(pod):
                        await self.evict(client, each)
                await self.evict(client, pod)
            await client.sleep(self.pass_ms)


class PassesRarely(Tidier):
    """Makes a pass every five minutes, as the descheduler does by default."""

    async def run(self, client: Client) -> None:
        while True:
            await client.sleep(300_000)
            pods, nodes = await _pods(client), await _nodes(client)
            for pod in duplicates(pods):
                if any(_suits(node, pod, pods) for node in nodes):
                    await self.evict(client, pod)


class LooksAtTheStart(Tidier):
    """Finds out at the start where there is room, and goes by that."""

    async def run(self, client: Client) -> None:
        pods, nodes = await _pods(client), await _nodes(client)
        while True:
            for pod in duplicates(await _pods(client)):
                if any(_suits(node, pod, pods) for node in nodes):
                    await self.evict(client, pod)
            await client.sleep(self.pass_ms)


class KnowsNodesByHeart(Tidier):
    """Knows the nodes by heart."""

    async def run(self, client: Client) -> None:
        while True:
            pods, nodes = await _pods(client), await _nodes(client)
            places = [node for node in nodes if node.meta.name in ("n1", "n2", "n3")]
            for pod in duplicates(pods):
                if any(_suits(node, pod, pods) for node in places):
                    await self.evict(client, pod)
            await client.sleep(self.pass_ms)
