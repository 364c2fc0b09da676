"""Old owner: an operator makes a pod for a Deployment of which it has not heard that it was made
anew; the pod names an owner that is gone, so the garbage collector deletes it, as it should."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, ClassVar

import attrs

from actors.apiserver import ApiServer
from actors.controllers.garbage import GarbageCollector
from testbed import Actor, ApiError, Cache, Client, Evidence, World
from testbed.invariant import COMMIT, Invariant
from testbed.objects import Deployment, DeploymentSpec, Map, Owner, Pod
from testbed.turns.trace import Step
from tests.told.frame import Told


@attrs.frozen
class Operator(Actor):
    """Makes the pod of the Deployment when it is missing. With `guard` it asks for the Deployment
    right before."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Look every two seconds."""
        deployments, pods = Cache(client, Deployment), Cache(client, Pod)
        await deployments.synced()
        await pods.synced()
        while True:
            await client.sleep(2_000, "look")
            with suppress(ApiError):
                found = deployments.get("db")
                if self.guard:
                    found = await client.get(Deployment, "db")
                if found is not None and pods.get("db-0") is None:
                    owner = Owner("apps/v1", "Deployment", "db", found.meta.uid, True)
                    await client.create(Pod.of("db-0", cpu_m=100).with_meta(owners=(owner,)))


class Ann(Actor):
    """Makes the Deployment anew."""

    async def run(self, client: Client) -> None:
        """After five seconds."""
        await client.sleep(5_000, "replace")
        await client.delete(Deployment("db"), whatever_it_was=True, options=Map())
        await client.create(database())


class EndsOncePerDelete(Invariant):
    """The pod is deleted no more often than its Deployment was."""

    name = "ends_once_per_delete"
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT})

    def __init__(self) -> None:
        self.ends = {"pods": 0, "deployments": 0}

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        """Something was written."""
        for change in evidence.changes:
            gone: Any = change.before
            if change.after is None and gone is not None and gone.plural in self.ends:
                self.ends[gone.plural] += 1
        if self.ends["pods"] > self.ends["deployments"]:
            return f"the pod of db ended {self.ends['pods']} times"
        return None


def database() -> Deployment:
    """The Deployment."""
    return Deployment("db", spec=DeploymentSpec(1))


def old_owner(world: World, *, guard: bool = False) -> None:
    """A collector carries out what a reference says."""
    world.serve(ApiServer)
    world.add(database())
    world.start(Operator("operator", guard), Ann("ann"))
    world.start(GarbageCollector(kinds=(Deployment, Pod)))
    world.claim(EndsOncePerDelete())
    world.limit(until_ms=20_000)


TRUE = Told(
    old_owner,
    race="""
faults:
  - lag: deployments to operator
    at: 4s
    by: 4s
    for: 4s
""",
    actor="operator",
    made_so="ann",
    about="pods/default/db-0",
    did=("created",),
    words=("deployments/default/db", "owner", "uid"),
    never=("^garbage-collector", "^ann"),
    said=(
        "operator created pods/default/db-0 with an owner that was gone, believing that the old "
        "deployments/default/db was there, as it listed at rv 2; ann had deleted it at rv 5, so "
        "garbage-collector deleted the pod."
    ),
)
