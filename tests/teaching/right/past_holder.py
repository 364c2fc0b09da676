"""Right answers to level 8: three ways to make what an older holder has read out of date."""

from __future__ import annotations

from collections.abc import Iterable

from scenarios.levels.past_holder import Holder
from testbed import ApiError, Client, Conflict
from testbed.objects import Map, Pod


def _most_important(pods: Iterable[Pod]) -> Pod:
    return max((pod for pod in pods if not pod.is_bound), key=lambda pod: pod.priority)


class TouchesInANewTerm(Holder):
    """Touches all waiting pods once in each term; binds what it has read before it read the
    lease."""

    async def run(self, client: Client) -> None:
        self.stand(client)
        touched: int | None = None
        while True:
            pods: list[Pod] = list((await client.list(Pod)).items)
            if not self.free(pods):
                return
            try:
                term = await self.term(client)
                if term is not None and term != touched:
                    for pod in pods:
                        if not pod.is_bound:
                            await self.touch(client, pod, f"term {term}")
                    touched = term
                    continue
                if term is not None and not all(pod.is_bound for pod in pods):
                    pod = _most_important(pods)
                    await self.bind(client, pod, self.free(pods)[0], revision=pod.meta.revision)
            except ApiError:
                client.record("refused")
            await client.sleep(1_000)


class TouchesBeforeEachBind(Holder):
    """Touches all waiting pods before each bind, with the term and a number."""

    async def run(self, client: Client) -> None:
        self.stand(client)
        number = 0
        while True:
            try:
                term = await self.term(client)
                for pod in (await client.list(Pod)).items if term is not None else ():
                    number += 1
                    await self.touch(client, pod, f"{self.name} {client.life} {number}")
                pods: list[Pod] = list((await client.list(Pod)).items)
                if not self.free(pods):
                    return
                if term is not None and await self.term(client) == term:
                    pod = _most_important(pods)
                    await self.bind(client, pod, self.free(pods)[0], revision=pod.meta.revision)
                    continue
            except (ApiError, ValueError):
                client.record("refused")
            await client.sleep(1_000)


class UpdatesWithItsTerm(Holder):
    """Writes its term into each waiting pod by an update of what it has read, and binds only pods
    that have its term in them; a Conflict ends the round."""

    async def run(self, client: Client) -> None:
        self.stand(client)
        while True:
            try:
                if await self.is_done(client):
                    return
            except Conflict:
                client.record("changed meanwhile")
            await client.sleep(500)

    async def is_done(self, client: Client) -> bool:
        """One round; returns whether each node has its pod."""
        pods: list[Pod] = list((await client.list(Pod)).items)
        term = await self.term(client)
        free = self.free(pods)
        waiting = [pod for pod in pods if not pod.is_bound]
        if term is None or not waiting or not free:
            return not free
        mine = [pod for pod in waiting if pod.meta.annotations.get("term") == str(term)]
        for pod in waiting:
            if pod not in mine:
                notes = Map(pod.meta.annotations).having(term=str(term))
                await client.update(pod.with_meta(annotations=notes))
        if len(mine) == len(waiting):
            pod = _most_important(mine)
            await self.bind(client, pod, free[0], revision=pod.meta.revision)
        return False
