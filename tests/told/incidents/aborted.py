"""Aborted: a controller creates a ReplicaSet again, which its informer does not show yet; it is
told AlreadyExists, looks into the same informer, and gives the experiment up
(argoproj/argo-rollouts#4842)."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Cache, Client, Evidence, World, quiescent
from testbed.errors import AlreadyExists
from testbed.objects import ConfigMap, Map, Pod
from tests.never_rest.frame import WorkQueue
from tests.told.frame import Told


@attrs.frozen
class Experiments(Actor):
    """Gives each experiment its canary. With `guard` it asks the API server when one exists that it
    does not know."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Look at an experiment when it changes."""
        experiments, canaries = Cache(client, ConfigMap), Cache(client, Pod)
        await canaries.synced()
        queue = WorkQueue(client)
        queue.follow(experiments)

        async def reconcile(name: str) -> None:
            experiment = experiments.get(name)
            if experiment is None or experiment.data.get("phase") == "Error":
                return
            if canaries.get(f"{name}-canary") is not None:
                return
            try:
                await client.create(Pod.of(f"{name}-canary", cpu_m=100))
            except AlreadyExists:
                there = canaries.get(f"{name}-canary")
                if self.guard:
                    there = await client.get(Pod, f"{name}-canary")
                if there is None:
                    await client.patch(experiment, {"data": {"phase": "Error"}})

        await queue.work(reconcile)


class Ann(Actor):
    """Starts an experiment, and describes it."""

    async def run(self, client: Client) -> None:
        """Two writes."""
        await client.sleep(1_000, "start")
        await client.create(ConfigMap("blue", data=Map(phase="")))
        await client.patch(ConfigMap("blue"), {"data": {"why": "colours"}})


def no_experiment_is_aborted(see: Evidence) -> str | None:
    """Nothing failed, so no experiment is an error."""
    blue: Any = see.store.peek("configmaps/default/blue")
    if blue is not None and blue.value.data.get("phase") == "Error":
        return "RolloutAborted: the canary of blue was not found"
    return None


def aborted(world: World, *, guard: bool = False) -> None:
    """An experiment is looked at twice in short time."""
    world.serve(ApiServer)
    world.start(Experiments("experiments", guard), Ann("ann"))
    world.claim(quiescent(no_experiment_is_aborted))


TRUE = Told(
    aborted,
    race="""
holds:
  - hold: delivery of configmaps/default/blue#2 to experiments
    until: experiments create pods/default/blue-canary
  - hold: delivery of pods/default/blue-canary to experiments
    until: experiments patch configmaps/default/blue
""",
    actor="experiments",
    about=("configmaps/default/blue", "pods/default/blue-canary"),
    words=("blue-canary", "AlreadyExists", "refused"),
    never=("^ann",),
    said=(
        "experiments gave configmaps/default/blue up: its create of pods/default/blue-canary "
        "was refused, AlreadyExists, and its Cache did not show that it had created it "
        "itself."
    ),
)
