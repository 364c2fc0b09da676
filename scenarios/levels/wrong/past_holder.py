"""Wrong answers to level 8: each looks as if a past holder could do no harm."""

from __future__ import annotations

from collections.abc import Iterable

from scenarios.levels.past_holder import Holder
from testbed import ApiError, Client
from testbed.errors import TimedOut
from testbed.objects import Pod


async def _listed(client: Client) -> list[Pod]:
    """All pods."""
    return list((await client.list(Pod)).items)


def _best(pods: Iterable[Pod]) -> Pod | None:
    """The most important pod that waits; None if none does."""
    waiting = [pod for pod in pods if not pod.is_bound]
    return max(waiting, key=lambda pod: pod.priority, default=None)


class _Decides(Holder):
    """Looks each second, as it should; those below each decide in a way that is wrong."""

    async def run(self, client: Client) -> None:
        self.stand(client)
        while True:
            pods = await _listed(client)
            free, best = self.free(pods), _best(pods)
            if not free:
                return
            try:
                if best is not None:
                    await self.decide(client, pods, best, free[0])
            except ApiError:
                client.record("refused")
            await client.sleep(1_000)

    async def decide(self, client: Client, pods: list[Pod], best: Pod, node: str) -> None:
        """Bind the most important of these pods that waits to that node, if it may."""
        if await self.term(client) is not None:
            await self.bind(client, best, node)


class TrustsTheLease(_Decides):
    """Does what the careless one does."""


class IgnoresTheLease(_Decides):
    """Binds the first pod that waits, important or not."""

    async def decide(self, client: Client, pods: list[Pod], best: Pod, node: str) -> None:
        await self.bind(client, best, node)


class ReadsTheLeaseTwice(_Decides):
    """Reads the lease a second time to be sure, right before the bind."""

    async def decide(self, client: Client, pods: list[Pod], best: Pod, node: str) -> None:
        term = await self.term(client)
        if term is not None and await self.term(client) == term:
            await self.bind(client, best, node)


class LooksAtItsClock(Holder):
    """Does not bind if too much time has passed since it asked for the lease. What it has sent by
    then is on its way all the same."""

    async def run(self, client: Client) -> None:
        self.stand(client)
        while True:
            pods = await _listed(client)
            free, best = self.free(pods), _best(pods)
            if not free:
                return
            try:
                asked_ms = client.elapsed()
                term = await self.term(client)
                is_sure = term is not None and client.elapsed() < asked_ms + 5_000
                if is_sure and best is not None:
                    await self.bind(client, best, free[0])
            except ApiError:
                client.record("refused")
            await client.sleep(1_000)


class GivesTheBindATime(Holder):
    """Waits for each bind a second at most: but a request that is given up may still land."""

    async def run(self, client: Client) -> None:
        self.stand(client)
        while True:
            pods = await _listed(client)
            free, best = self.free(pods), _best(pods)
            if not free:
                return
            try:
                if await self.term(client) is not None and best is not None:
                    await self.bind(client, best, free[0], timeout_ms=1_000)
            except TimedOut:
                client.record("too late")
            except ApiError:
                client.record("refused")
            await client.sleep(1_000)


class NamesTheRevision(_Decides):
    """Binds by the revision it has read, and leaves the pods as they are in a new term: so the
    revision is still right."""

    async def decide(self, client: Client, pods: list[Pod], best: Pod, node: str) -> None:
        if await self.term(client) is not None:
            await self.bind(client, best, node, revision=best.meta.revision)


class TouchesAndNamesNothing(Holder):
    """Touches all pods in a new term, and binds without a revision: nothing can be refused."""

    async def run(self, client: Client) -> None:
        self.stand(client)
        touched: int | None = None
        while True:
            pods = await _listed(client)
            free, best = self.free(pods), _best(pods)
            if not free:
                return
            try:
                term = await self.term(client)
                if term is not None and term != touched:
                    for pod in pods:
                        await self.touch(client, pod, f"term {term}")
                    touched = term
                elif term is not None and best is not None:
                    await self.bind(client, best, free[0])
            except ApiError:
                client.record("refused")
            await client.sleep(1_000)


class TouchesItsChoice(Holder):
    """Touches the pod that it is about to bind, and no other: but the past holder has chosen
    another one."""

    async def run(self, client: Client) -> None:
        self.stand(client)
        touched = set[str]()
        while True:
            pods = await _listed(client)
            free, best = self.free(pods), _best(pods)
            if not free:
                return
            try:
                term = await self.term(client)
                if term is not None and best is not None:
                    if f"{best.meta.name} {term}" not in touched:
                        touched.add(f"{best.meta.name} {term}")
                        await self.touch(client, best, f"term {term}")
                        continue
                    await self.bind(client, best, free[0], revision=best.meta.revision)
            except ApiError:
                client.record("refused")
            await client.sleep(1_000)


class TouchesWithOneText(Holder):
    """Touches all pods in a new term, with the same text as the holder before: that changes
    nothing."""

    async def run(self, client: Client) -> None:
        self.stand(client)
        touched: int | None = None
        while True:
            pods = await _listed(client)
            free, best = self.free(pods), _best(pods)
            if not free:
                return
            try:
                term = await self.term(client)
                if term is not None and term != touched:
                    for pod in pods:
                        await self.touch(client, pod, "touched")
                    touched = term
                elif term is not None and best is not None:
                    await self.bind(client, best, free[0], revision=best.meta.revision)
            except ApiError:
                client.record("refused")
            await client.sleep(1_000)


class TouchesAfterwards(Holder):
    """Binds first, and then touches the others, so that no late bind of them lands."""

    async def run(self, client: Client) -> None:
        self.stand(client)
        while True:
            pods = await _listed(client)
            free, best = self.free(pods), _best(pods)
            if not free:
                return
            try:
                term = await self.term(client)
                if term is not None and best is not None:
                    await self.bind(client, best, free[0])
                    for pod in pods:
                        await self.touch(client, pod, f"term {term}")
            except ApiError:
                client.record("refused")
            await client.sleep(1_000)


class ReadsItsTermOnce(Holder):
    """Waits until it is the holder, and then takes itself for the holder for ever."""

    async def run(self, client: Client) -> None:
        self.stand(client)
        while await self.term(client) is None:
            await client.sleep(1_000)
        while True:
            pods = await _listed(client)
            free, best = self.free(pods), _best(pods)
            if not free:
                return
            try:
                if best is not None:
                    await self.bind(client, best, free[0])
            except ApiError:
                client.record("refused")
            await client.sleep(1_000)


class WaitsInANewTerm(Holder):
    """Waits four seconds in a new term, so that what the past holder has sent can land before."""

    async def run(self, client: Client) -> None:
        self.stand(client)
        waited: int | None = None
        while True:
            try:
                term = await self.term(client)
                if term is not None and term != waited:
                    await client.sleep(4_000)
                    waited = term
                    continue
                pods = await _listed(client)
                free, best = self.free(pods), _best(pods)
                if not free:
                    return
                if term is not None and best is not None:
                    await self.bind(client, best, free[0], revision=best.meta.revision)
            except ApiError:
                client.record("refused")
            await client.sleep(1_000)


class EndsWhenItIsRefused(Holder):
    """Leaves for good as soon as it is not the holder, or is refused: the other one will do it."""

    async def run(self, client: Client) -> None:
        self.stand(client)
        await client.sleep(1_000)
        while True:
            pods = await _listed(client)
            free, best = self.free(pods), _best(pods)
            if not free or await self.term(client) is None:
                return
            if best is not None:
                try:
                    await self.bind(client, best, free[0], revision=best.meta.revision)
                except ApiError:
                    return
            await client.sleep(1_000)


class TouchesWhatItKnows(Holder):
    """Touches pod a in a new term: it knows that this is the one that waits."""

    async def run(self, client: Client) -> None:
        self.stand(client)
        touched: int | None = None
        while True:
            pods = await _listed(client)
            free, best = self.free(pods), _best(pods)
            if not free:
                return
            try:
                term = await self.term(client)
                if term is not None and term != touched:
                    for pod in pods:
                        if pod.meta.name in ("a", "b", "c"):
                            await self.touch(client, pod, f"term {term}")
                    touched = term
                elif term is not None and best is not None:
                    await self.bind(client, best, free[0], revision=best.meta.revision)
            except ApiError:
                client.record("refused")
            await client.sleep(1_000)


class BindsTheOldest(Holder):
    """Binds the pods in the order in which they came: so both replicas choose the same pod, and the
    second bind of it is refused. But the most important one should go first."""

    async def run(self, client: Client) -> None:
        self.stand(client)
        while True:
            pods = await _listed(client)
            free = self.free(pods)
            waiting = [pod for pod in pods if not pod.is_bound]
            if not free:
                return
            try:
                if await self.term(client) is not None and waiting:
                    oldest = min(waiting, key=lambda pod: pod.meta.created_ms or 0)
                    await self.bind(client, oldest, free[0])
            except ApiError:
                client.record("refused")
            await client.sleep(1_000)


class DecidesBeforeItTouches(Holder):
    """Touches all pods in each round, and binds to a node that was free before: a late bind may
    have landed there just before the touch."""

    async def run(self, client: Client) -> None:
        self.stand(client)
        number = 0
        while True:
            free = self.free(await _listed(client))
            if not free:
                return
            try:
                if await self.term(client) is not None:
                    for pod in await _listed(client):
                        number += 1
                        await self.touch(client, pod, f"{self.name} {number}")
                    best = _best(await _listed(client))
                    if best is not None and await self.term(client) is not None:
                        await self.bind(client, best, free[0], revision=best.meta.revision)
            except ApiError:
                client.record("refused")
            await client.sleep(1_000)


class ListsAfterTheLease(Holder):
    """Reads the lease first and the pods afterwards: so it may know of the touch, and not of the
    new holder."""

    async def run(self, client: Client) -> None:
        self.stand(client)
        touched: int | None = None
        while True:
            try:
                term = await self.term(client)
                pods = await _listed(client)
                free, best = self.free(pods), _best(pods)
                if not free:
                    return
                if term is not None and term != touched:
                    for pod in pods:
                        await self.touch(client, pod, f"term {term}")
                    touched = term
                elif term is not None and best is not None:
                    await self.bind(client, best, free[0], revision=best.meta.revision)
            except ApiError:
                client.record("refused")
            await client.sleep(1_000)


class ReadsItsTermBefore(Holder):
    """Reads the lease, touches what waits, lists it again and binds: it does not ask once more for
    its term, and may have listed after the touch of the next holder."""

    async def run(self, client: Client) -> None:
        self.stand(client)
        while pods := await _listed(client):
            if not self.free(pods):
                return
            try:
                term = await self.term(client)
                for pod in pods if term is not None else ():
                    if not pod.is_bound:
                        await self.touch(client, pod, f"term {term}")
                pods = await _listed(client)
                free, best = self.free(pods), _best(pods)
                if term is not None and free and best is not None:
                    await self.bind(client, best, free[0], revision=best.meta.revision)
                    continue
            except ApiError:
                client.record("refused")
            await client.sleep(1_000)
