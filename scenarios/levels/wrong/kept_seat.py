"""Wrong answers to level 7: each looks as if it left room to the pod that it was made for."""

from __future__ import annotations

from collections.abc import Iterable

from actors.shared.cpu import asked_m, free_m
from scenarios.levels.kept_seat import Binder
from testbed import ApiError, Cache, Client
from testbed.objects import Node, Pod


async def _pods(client: Client) -> list[Pod]:
    return list((await client.list(Pod)).items)


async def _nodes(client: Client) -> list[Node]:
    return list((await client.list(Node)).items)


def _nominated(pods: Iterable[Pod], pod: Pod) -> list[Pod]:
    """The pods that are nominated and as important as that pod or more, whether bound or not."""
    return [p for p in pods if p.status.nominated_node_name and p.priority >= pod.priority]


def _waiting(pods: Iterable[Pod], pod: Pod) -> list[Pod]:
    """Those of them that wait."""
    return [each for each in _nominated(pods, pod) if not each.is_bound]


def _kept_m(node: Node, pods: Iterable[Pod]) -> int:
    """The cpu of those of these pods that are nominated to that node."""
    return sum(asked_m(p) for p in pods if p.status.nominated_node_name == node.meta.name)


class _Looker(Binder):
    """Looks each second, and binds where `fits` says so; those below each judge wrongly."""

    async def run(self, client: Client) -> None:
        while True:
            try:
                nodes, pods = await _nodes(client), await _pods(client)
                for pod in filter(self.is_mine, pods):
                    for node in nodes:
                        if self.fits(pod, node, pods):
                            await self.bind(client, pod, node)
                            break
            except ApiError:
                pass
            await client.sleep(1_000)

    def fits(self, pod: Pod, node: Node, pods: list[Pod]) -> bool:
        """Whether that pod may be bound to that node now."""
        raise NotImplementedError


class HonoursItsOwn(_Looker):
    """Goes by the nominations of its own pods alone, as a scheduler of Kubernetes does."""

    def fits(self, pod: Pod, node: Node, pods: list[Pod]) -> bool:
        own = [p for p in _waiting(pods, pod) if p.spec.scheduler_name == self.name]
        return asked_m(pod) + _kept_m(node, own) <= free_m(node, pods)


class HonoursAll(_Looker):
    """Lets a more important pod wait behind a less important one."""

    def fits(self, pod: Pod, node: Node, pods: list[Pod]) -> bool:
        waiting = [each for each in pods if not each.is_bound]
        return asked_m(pod) + _kept_m(node, waiting) <= free_m(node, pods)


class HonoursTheMoreImportant(_Looker):
    """Takes the room that is kept for a pod that is just as important."""

    def fits(self, pod: Pod, node: Node, pods: list[Pod]) -> bool:
        more = [each for each in _waiting(pods, pod) if each.priority > pod.priority]
        return asked_m(pod) + _kept_m(node, more) <= free_m(node, pods)


class HonoursTheLessImportant(_Looker):
    """Compares the priorities the wrong way round."""

    def fits(self, pod: Pod, node: Node, pods: list[Pod]) -> bool:
        less = [p for p in pods if not p.is_bound and p.priority <= pod.priority]
        return asked_m(pod) + _kept_m(node, less) <= free_m(node, pods)


class CountsTheBoundTwice(_Looker):
    """Counts a pod that has come to its node once more, since its nomination is still there."""

    def fits(self, pod: Pod, node: Node, pods: list[Pod]) -> bool:
        return asked_m(pod) + _kept_m(node, _nominated(pods, pod)) <= free_m(node, pods)


class SkipsNodesThatWereKept(_Looker):
    """Leaves out a node while a pod shows a nomination to it, though that pod runs there by now."""

    def fits(self, pod: Pod, node: Node, pods: list[Pod]) -> bool:
        is_kept = _kept_m(node, _nominated(pods, pod)) > 0
        return not is_kept and asked_m(pod) <= free_m(node, pods)


class WaitsForAnyNomination(_Looker):
    """Binds nothing at all while a pod is nominated somewhere."""

    def fits(self, pod: Pod, node: Node, pods: list[Pod]) -> bool:
        return not _waiting(pods, pod) and asked_m(pod) <= free_m(node, pods)


class CountsThemOnEachNode(_Looker):
    """Counts a nominated pod on every node, not only on the one that it is nominated to."""

    def fits(self, pod: Pod, node: Node, pods: list[Pod]) -> bool:
        kept_m = sum(map(asked_m, _waiting(pods, pod)))
        return asked_m(pod) + kept_m <= free_m(node, pods)


class TakesVictimsForGone(_Looker):
    """Does not count what terminates, though it takes its room until it is gone."""

    def fits(self, pod: Pod, node: Node, pods: list[Pod]) -> bool:
        stay = [each for each in pods if not each.meta.is_terminating]
        return asked_m(pod) + _kept_m(node, _waiting(pods, pod)) <= free_m(node, stay)


class WaitsForVictims(_Looker):
    """Leaves a node alone while a pod terminates there, and takes it afterwards."""

    def fits(self, pod: Pod, node: Node, pods: list[Pod]) -> bool:
        here = [each for each in pods if each.spec.node_name == node.meta.name]
        is_leaving = any(each.meta.is_terminating for each in here)
        return not is_leaving and asked_m(pod) <= free_m(node, pods)


class KnowsThePod(_Looker):
    """Knows the usual name of the pod that room is made for."""

    def fits(self, pod: Pod, node: Node, pods: list[Pod]) -> bool:
        urgent = [each for each in _waiting(pods, pod) if each.meta.name == "urgent"]
        return asked_m(pod) + _kept_m(node, urgent) <= free_m(node, pods)


class RemembersNominations(Binder):
    """Keeps in mind each nomination that it has seen, also when it has ended."""

    async def run(self, client: Client) -> None:
        seen: dict[str, Pod] = {}
        while True:
            try:
                nodes, pods = await _nodes(client), await _pods(client)
                for pod in filter(self.is_mine, pods):
                    seen.update((each.meta.name, each) for each in _waiting(pods, pod))
                    bound = [each.meta.name for each in pods if each.is_bound]
                    kept = [each for name, each in seen.items() if name not in bound]
                    for node in nodes:
                        if asked_m(pod) + _kept_m(node, kept) <= free_m(node, pods):
                            await self.bind(client, pod, node)
                            break
            except ApiError:
                pass
            await client.sleep(1_000)


class ReadsNominationsOnce(Binder):
    """Reads who is nominated when it starts, and goes by that."""

    async def run(self, client: Client) -> None:
        while True:
            try:
                first = await _pods(client)
                break
            except ApiError:
                await client.sleep(1_000)
        while True:
            try:
                nodes, pods = await _nodes(client), await _pods(client)
                for pod in filter(self.is_mine, pods):
                    for node in nodes:
                        kept_m = _kept_m(node, _waiting(first, pod))
                        if asked_m(pod) + kept_m <= free_m(node, pods):
                            await self.bind(client, pod, node)
                            break
            except ApiError:
                pass
            await client.sleep(1_000)


class WaitsThreeSeconds(Binder):
    """Leaves free room alone for three seconds, so that the other scheduler comes first."""

    async def run(self, client: Client) -> None:
        since: dict[str, int] = {}
        while True:
            try:
                nodes, pods = await _nodes(client), await _pods(client)
                for pod in filter(self.is_mine, pods):
                    free = {n.meta.name for n in nodes if asked_m(pod) <= free_m(n, pods)}
                    for node in nodes:
                        name = node.meta.name
                        since[name] = since.get(name, client.now()) if name in free else 1 << 60
                        if name in free and client.now() - min(since[name], client.now()) >= 3_000:
                            await self.bind(client, pod, node)
                            break
            except ApiError:
                pass
            await client.sleep(1_000)


class LooksAgainWhenBound(Binder):
    """Binds first, looks whether it has taken what was kept, and deletes its pod if so."""

    async def run(self, client: Client) -> None:
        while True:
            nodes, pods = await _nodes(client), await _pods(client)
            for pod in filter(self.is_mine, pods):
                for node in nodes:
                    if asked_m(pod) <= free_m(node, pods):
                        await self.bind(client, pod, node)
                        if free_m(node, await _pods(client)) < _kept_m(node, _waiting(pods, pod)):
                            await client.delete(pod, whatever_it_was=True)
                        break
            await client.sleep(1_000)


class DiesOfALostAnswer(Binder):
    """Counts what is nominated, and does not expect that an answer may be lost."""

    async def run(self, client: Client) -> None:
        while True:
            nodes, pods = await _nodes(client), await _pods(client)
            for pod in filter(self.is_mine, pods):
                for node in nodes:
                    kept_m = _kept_m(node, _waiting(pods, pod))
                    if asked_m(pod) + kept_m <= free_m(node, pods):
                        await self.bind(client, pod, node)
                        break
            await client.sleep(1_000)


class TriesNewPodsOnly(Binder):
    """Tries a pod when it is created, and not again when room comes free later."""

    async def run(self, client: Client) -> None:
        pods, todo = Cache(client, Pod), client.queue("todo", idle=True)
        pods.on(add=todo.put)
        while True:
            pod: Pod = await todo.get()
            try:
                for node in await _nodes(client) if self.is_mine(pod) else ():
                    kept_m = _kept_m(node, _waiting(pods.all(), pod))
                    if asked_m(pod) + kept_m <= free_m(node, pods.all()):
                        await self.bind(client, pod, node)
                        break
            except ApiError:
                await client.sleep(1_000)
                todo.put(pod)
