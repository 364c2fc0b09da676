"""Right answers to level 7: three ways to leave the room to the pod that it was made for."""

from __future__ import annotations

from collections.abc import Iterable

from actors.shared.cpu import asked_m, free_m
from scenarios.levels.kept_seat import Binder
from testbed import ApiError, Cache, Client
from testbed.objects import Node, Pod


def _kept_for(node: Node, pods: Iterable[Pod], pod: Pod) -> list[Pod]:
    """The pods that wait for room on that node, and are as important as that pod or more."""
    return [
        each
        for each in pods
        if each.status.nominated_node_name == node.meta.name
        and not each.is_bound
        and each.priority >= pod.priority
    ]


class CountsTheNominated(Binder):
    """Counts a pod that is nominated to a node as if it were there."""

    async def run(self, client: Client) -> None:
        while True:
            try:
                nodes = (await client.list(Node)).items
                pods = (await client.list(Pod)).items
                for pod in filter(self.is_mine, pods):
                    for node in nodes:
                        kept_m = sum(map(asked_m, _kept_for(node, pods, pod)))
                        if asked_m(pod) + kept_m <= free_m(node, pods):
                            await self.bind(client, pod, node)
                            break
            except ApiError:
                pass
            await client.sleep(1_000)


class SkipsKeptNodes(Binder):
    """Leaves out each node that is kept for a pod, as long as that pod waits; it is done when its
    pods are bound."""

    async def run(self, client: Client) -> None:
        while True:
            await client.sleep(700)
            try:
                pods = (await client.list(Pod)).items
                nodes = (await client.list(Node)).items
                for pod in filter(self.is_mine, pods):
                    free = [node for node in nodes if not _kept_for(node, pods, pod)]
                    fit = [node for node in free if asked_m(pod) <= free_m(node, pods)]
                    if fit:
                        await self.bind(client, pod, fit[0])
            except ApiError:
                continue


class HearsOfEachChange(Binder):
    """Looks when its Cache of pods has changed, and a second after an error."""

    async def run(self, client: Client) -> None:
        pods, news = Cache(client, Pod), client.queue("news", idle=True)
        pods.on(add=news.put, update=lambda _, new: news.put(new), delete=news.put)
        while True:
            await news.get()
            while not await self.has_looked(client, pods):
                await client.sleep(1_000)

    async def has_looked(self, client: Client, cache: Cache[Pod]) -> bool:
        """Whether it has bound what it can."""
        try:
            for node in (await client.list(Node)).items:
                for pod in filter(self.is_mine, cache.all()):
                    there = [
                        *cache.all(),
                        *(_placed(p, node) for p in _kept_for(node, cache.all(), pod)),
                    ]
                    if asked_m(pod) <= free_m(node, there):
                        await self.bind(client, pod, node)
                        return True
        except ApiError:
            return False
        return True


def _placed(pod: Pod, node: Node) -> Pod:
    """The pod as it will be on that node."""
    return Pod.of(pod.meta.name, cpu_m=asked_m(pod), node_name=node.meta.name)
