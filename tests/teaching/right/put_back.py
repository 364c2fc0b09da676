"""Right answers to level 9: three ways to evict only what goes elsewhere."""

from __future__ import annotations

from collections.abc import Iterable

from actors.shared.cpu import asked_m, free_m
from scenarios.levels.put_back import Tidier, duplicates, owner_of
from testbed import Client
from testbed.objects import Node, Pod


class AsksWhereItCouldGo(Tidier):
    """Evicts a duplicate only if a node that is open has room for it, and no pod of its owner."""

    async def run(self, client: Client) -> None:
        while True:
            pods = (await client.list(Pod)).items
            nodes = (await client.list(Node)).items
            for pod in duplicates(pods):
                if any(self.suits(node, pod, pods) for node in nodes):
                    await self.evict(client, pod)
            await client.sleep(self.pass_ms)

    def suits(self, node: Node, pod: Pod, pods: Iterable[Pod]) -> bool:
        """Whether the pod could go there, and would be no duplicate."""
        here = [each for each in pods if each.spec.node_name == node.meta.name]
        is_alone = all(owner_of(each) != owner_of(pod) for each in here)
        has_room = free_m(node, pods) >= asked_m(pod)
        return is_alone and has_room and not node.spec.unschedulable


class TakesPlacesOneByOne(Tidier):
    """Gives each place away once in a pass: no two duplicates are evicted for one place."""

    async def run(self, client: Client) -> None:
        while True:
            pods = (await client.list(Pod)).items
            nodes = (await client.list(Node)).items
            free = {node.meta.name: free_m(node, pods) for node in nodes if is_open(node)}
            taken = {(owner_of(pod), pod.spec.node_name) for pod in pods}
            for pod in duplicates(pods):
                for name, left_m in sorted(free.items()):
                    if left_m >= asked_m(pod) and (owner_of(pod), name) not in taken:
                        free[name] -= asked_m(pod)
                        taken.add((owner_of(pod), name))
                        await self.evict(client, pod)
                        break
            await client.sleep(self.pass_ms)


class EvictsOneInAPass(Tidier):
    """Moves at most one pod, and lets the cluster settle."""

    async def run(self, client: Client) -> None:
        while True:
            pods = (await client.list(Pod)).items
            nodes = (await client.list(Node)).items
            for pod in duplicates(pods):
                mine = {each.spec.node_name for each in pods if owner_of(each) == owner_of(pod)}
                others = [node for node in nodes if node.meta.name not in mine and is_open(node)]
                if max((free_m(node, pods) for node in others), default=0) >= asked_m(pod):
                    await self.evict(client, pod)
                    break
            await client.sleep(self.pass_ms)


def is_open(node: Node) -> bool:
    """Whether a node takes pods at all."""
    return not node.spec.unschedulable
