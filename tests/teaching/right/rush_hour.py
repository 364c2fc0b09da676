"""Right answers to level 10: four ways to agree with the other schedulers."""

from __future__ import annotations

from contextlib import suppress

from actors.shared.cpu import asked_m, free_m, kept_m
from scenarios.levels.rush_hour import RushScheduler
from testbed import ApiError, Client, NotFound
from testbed.errors import AlreadyExists
from testbed.objects import Map, Node, Note, Pod, room_of


async def _place_all(self: RushScheduler, client: Client, *, others: bool = False) -> None:
    """Bind or make room for each pod of its own that waits, or of all schedulers."""
    pods = [p for p in (await client.list(Pod)).items if self.is_mine(p) or others]
    for pod in sorted(pods, key=lambda pod: (-pod.priority, pod.meta.name)):
        if not pod.is_bound:
            await _place(self, client, pod)


async def _place(self: RushScheduler, client: Client, pod: Pod) -> None:
    """Bind that pod, or make room for it."""
    nodes, pods = (await client.list(Node)).items, (await client.list(Pod)).items
    asks = {node.meta.name: asked_m(pod) + kept_m(node, pods, pod) for node in nodes}
    for node in nodes:
        if asks[node.meta.name] <= free_m(node, pods):
            return await self.bind(client, pod, node)
    stay = [each for each in pods if each.priority >= pod.priority]
    fit = [node.meta.name for node in nodes if asks[node.meta.name] <= free_m(node, stay)]
    nominated = pod.status.nominated_node_name
    if nominated not in fit:
        if not (fit or nominated):
            return None
        nominated = fit[0] if fit else ""
        await self.nominate(client, pod, nominated)
    left = [each for each in pods if not each.meta.is_terminating]
    for node in [node for node in nodes if node.meta.name == nominated]:
        for victim in [each for each in left if each.spec.node_name == nominated]:
            if victim not in stay and asks[nominated] > free_m(node, left):
                left.remove(victim)
                await client.delete(victim)
    return None


class OneDecidesForAll(RushScheduler):
    """The first scheduler that says so decides for the pods of all."""

    async def run(self, client: Client) -> None:
        while True:
            with suppress(ApiError):
                with suppress(AlreadyExists):
                    await client.create(Note("leader", data=Map(name=self.name)))
                if (await client.get(Note, "leader")).data["name"] == self.name:
                    await _place_all(self, client, others=True)
            await client.sleep(2_000)


class TakesTheLock(RushScheduler):
    """Decides while it has the lock, which it knows again after a crash."""

    async def run(self, client: Client) -> None:
        while True:
            with suppress(ApiError):
                with suppress(AlreadyExists):
                    await client.create(Note("lock", data=Map(by=self.name)))
                lock = await client.get(Note, "lock")
                if lock.data["by"] == self.name:
                    await _place_all(self, client)
                    await client.delete(lock)
                    await client.sleep(1_000)
            await client.sleep(500)


class PassesTheTurn(RushScheduler):
    """Decides when it is its turn, and passes the turn to the next scheduler."""

    async def run(self, client: Client) -> None:
        then = self.names[(self.names.index(self.name) + 1) % len(self.names)]
        while True:
            with suppress(ApiError):
                try:
                    turn = await client.get(Note, "turn")
                except NotFound:
                    turn = await client.create(Note("turn", data=Map(of=self.names[0])))
                if turn.data["of"] == self.name:
                    await _place_all(self, client)
                    await client.update(turn.saying(of=then))
            await client.sleep(1_000)


class ClaimsItsNode(RushScheduler):
    """Writes its pods into an annotation of the node, by an update that is refused if the node has
    changed, and counts the pods that are claimed there."""

    async def run(self, client: Client) -> None:
        while True:
            with suppress(ApiError):
                mine = filter(self.is_mine, (await client.list(Pod)).items)
                for pod in sorted(mine, key=lambda pod: (-pod.priority, pod.meta.name)):
                    await self.place(client, pod)
            await client.sleep(1_000)

    async def place(self, client: Client, pod: Pod) -> None:
        """Bind that pod, or make room for it, on the node that is claimed or can be."""
        nodes: list[Node] = list((await client.list(Node)).items)
        pods: list[Pod] = list((await client.list(Pod)).items)
        claims = {n.meta.name: n.meta.annotations.get("claims", "").split() for n in nodes}
        own = [node for node in nodes if pod.meta.name in claims[node.meta.name]]
        for makes_room in (False, True):
            for node in own or nodes:
                name = node.meta.name
                stay = [each for each in pods if _takes_room(each, name, claims[name])]
                stay = [each for each in stay if each.meta.name != pod.meta.name]
                if makes_room:
                    stay = [p for p in stay if p.priority >= pod.priority or not p.is_bound]
                if asked_m(pod) + sum(map(asked_m, stay)) > room_of(node)["cpu"]:
                    continue
                if not own:
                    text = " ".join([*claims[name], pod.meta.name])
                    more = node.meta.annotations.having(claims=text)
                    await client.update(node.with_meta(annotations=more))
                if not makes_room:
                    await self.bind(client, pod, node)
                    return
                await self.nominate(client, pod, name)
                spare_m = room_of(node)["cpu"] - asked_m(pod) - sum(map(asked_m, stay))
                for victim in [p for p in pods if p.spec.node_name == name and p not in stay]:
                    if asked_m(victim) <= spare_m:
                        spare_m -= asked_m(victim)
                    elif not victim.meta.is_terminating:
                        await client.delete(victim)
                return
        if pod.status.nominated_node_name:
            await self.nominate(client, pod, "")


def _takes_room(pod: Pod, node: str, claimed: list[str]) -> bool:
    """Whether that pod is on the node, or is claimed there and waits."""
    return pod.spec.node_name == node or (pod.meta.name in claimed and not pod.is_bound)
