"""By plan: a planner writes down which pods are to be, and a scheduler creates what stands there;
the plan was made by an old informer."""

from __future__ import annotations

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Cache, Client, Evidence, World, always
from testbed.errors import AlreadyExists
from testbed.objects import ConfigMap, Map, Pod
from tests.told.frame import Told


@attrs.frozen
class Planner(Actor):
    """Sees to it that web has a pod: if there is none, it plans one more. With `guard` it asks the
    API server whether there is one, or a plan for one."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Look every five seconds; a plan is made once for each letter."""
        pods = Cache(client, Pod)
        await pods.synced()
        for letter in "ab":
            await client.sleep(5_000, "plan")
            known = [pod.key for pod in pods.all()]
            if self.guard:
                there = (await client.list(Pod)).items + (await client.list(ConfigMap)).items
                known = [each.key for each in there]
            if not known:
                await client.create(ConfigMap(f"plan-{letter}", data=Map(pod=f"web-{letter}")))


class Executor(Actor):
    """Creates what is planned."""

    async def run(self, client: Client) -> None:
        """As soon as it hears of a plan."""
        plans, queue = Cache(client, ConfigMap), client.queue("plans", idle=True)
        plans.on(add=queue.put)
        while True:
            plan = await queue.get()
            try:
                await client.create(Pod.of(plan.data["pod"], cpu_m=100))
            except AlreadyExists:
                continue


def web_has_one_pod(see: Evidence) -> str | None:
    """There is never more than one."""
    pods = [entry.key for entry in see.store.snapshot("pods/")]
    return f"web has {' and '.join(pods)}" if len(pods) > 1 else None


def by_plan(world: World, *, guard: bool = False) -> None:
    """A second pod is planned, since the first was not seen."""
    world.serve(ApiServer)
    world.start(Planner("planner", guard), Executor("scheduler"))
    world.claim(always(web_has_one_pod))


TRUE = Told(
    by_plan,
    race="""
holds:
  - hold: delivery of pods/default/web-a to planner
    until: quiet
""",
    actor="planner",
    made_so="scheduler",
    about=("plan-b", "web-b"),
    words=("web-a",),
    never=("^scheduler",),
    said=(
        "planner planned a second pod in configmaps/default/plan-b, not knowing of "
        "pods/default/web-a, created at rv 3; so scheduler created pods/default/web-b."
    ),
)

ALSO = (
    TRUE.also(
        "not-yet-made",
        """
holds:
  - hold: scheduler create pods/default/web-a
    until: planner create configmaps/default/plan-b
""",
        "planner planned a second pod in configmaps/default/plan-b, since there was no "
        "pods/default/web-a: scheduler's create of that, by the first plan, was late.",
    ),
)
