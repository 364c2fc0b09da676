"""Old minimum: a gang grows; its new minimum and its new pods come by two watches, and a scheduler
binds a part of the gang by the old minimum (volcano-sh/volcano#6010)."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from actors.shared.verbs import bind
from testbed import Actor, ApiError, Cache, Client, Evidence, World, quiescent
from testbed.objects import ConfigMap, Map, Pod
from tests.told.frame import Told

PLACES = 3


@attrs.frozen
class GangScheduler(Actor):
    """Binds a gang when it has its minimum of pods, and there are places for them. With `guard` it
    asks the API server for the minimum."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Look whenever a pod comes."""
        pods, groups = Cache(client, Pod), Cache(client, ConfigMap)
        await groups.synced()
        wake = client.queue("pods", idle=True)
        pods.on(add=wake.put)
        groups.on(update=lambda old, new: wake.put(new))
        taken: set[str] = set()
        while True:
            await wake.get()
            group = groups.get("gang")
            if self.guard:
                group = await client.get(ConfigMap, "gang")
            waiting = [pod for pod in pods.all() if pod.key not in taken]
            if group is None or len(waiting) + len(taken) < int(group.data["min"]):
                continue
            if len(taken) + int(group.data["min"]) > PLACES:
                continue
            for pod in waiting[: PLACES - len(taken)]:
                taken.add(pod.key)
                try:
                    await bind(client, pod, f"n{len(taken)}")
                except ApiError:
                    continue


class JobController(Actor):
    """Scales the job to four: first the minimum, then the pods."""

    async def run(self, client: Client) -> None:
        """After a second."""
        await client.sleep(1_000, "scale")
        await client.patch(ConfigMap("gang"), {"data": {"min": "4"}})
        for number in range(4):
            await client.create(Pod.of(f"w-{number}", cpu_m=500))


def all_or_none(see: Evidence) -> str | None:
    """In the end all four pods have nodes, or none."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    bound = [pod.meta.name for pod in pods if pod.is_bound]
    return f"a part of the gang has nodes: {', '.join(bound)}" if 0 < len(bound) < 4 else None


def old_minimum(world: World, *, guard: bool = False) -> None:
    """A gang of two grows to four where there are three places."""
    world.serve(ApiServer)
    world.add(ConfigMap("gang", data=Map(min="2")))
    world.start(GangScheduler("scheduler", guard), JobController("job-controller"))
    world.claim(quiescent(all_or_none))


TRUE = Told(
    old_minimum,
    race="""
holds:
  - hold: delivery of configmaps/default/gang to scheduler
    until: scheduler bind pods/default/w-0
""",
    actor="scheduler",
    made_so="job-controller",
    about="pods/default/w-",
    did=("bound",),
    words=(r"data\.min", "configmaps/default/gang"),
    never=("^job-controller",),
    said=(
        "scheduler bound pods/default/w-0 to n1, believing that data.min of "
        "configmaps/default/gang was 2, as it listed at rv 2; false since job-controller set "
        "it to 4 at rv 3."
    ),
)
