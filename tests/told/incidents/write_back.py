"""Write-back: a controller puts the answer to its update into its own cache, over a newer version
that its informer has put there, and goes by that for ever (argoproj/argo-rollouts#4073)."""

from __future__ import annotations

from typing import Any

import attrs

from testbed import Actor, Cache, Client, Conflict, Evidence, World, quiescent
from testbed.objects import Note
from tests.told.frame import Told

RETRIES = 15


@attrs.frozen
class Rollouts(Actor):
    """Keeps `observed` of a rollout as its `size`. It writes what it gets back into its cache; with
    `guard` it does not."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Once for each change; a Conflict is tried again after a while, by the cache."""
        known: dict[str, Note] = {}
        rollouts, queue = Cache(client, Note), client.queue("rollouts", idle=True)

        def told(new: Note) -> None:
            known[new.meta.name] = new
            queue.put(new.meta.name)

        rollouts.on(add=told, update=lambda old, new: told(new))
        while True:
            name = await queue.get()
            for _ in range(RETRIES):
                rollout = known[name]
                if rollout.data["observed"] == rollout.data["size"]:
                    break
                try:
                    done = await client.update(rollout.saying(observed=rollout.data["size"]))
                    if not self.guard:
                        known[name] = done
                    break
                except Conflict:
                    await client.sleep(1_000, "back off")


class Ann(Actor):
    """Scales twice."""

    async def run(self, client: Client) -> None:
        """As `kubectl scale` does: it patches, whatever it was."""
        for size in ("2", "3"):
            await client.sleep(1_000, "scale")
            while True:
                found = await client.get(Note, "web")
                try:
                    await client.update(found.saying(size=size))
                    break
                except Conflict:
                    continue


def the_last_size_is_observed(see: Evidence) -> str | None:
    """In the end the rollout has observed what the user wants."""
    web: Any = see.store.peek("notes/default/web")
    size, observed = web.value.data["size"], web.value.data["observed"]
    return f"web wants {size}, and {observed} is observed" if size != observed else None


def write_back(world: World, *, guard: bool = False) -> None:
    """An answer comes later than the news of a newer write."""
    world.add(Note("web").saying(size="1", observed="1"))
    world.start(Rollouts("rollouts", guard), Ann("ann"))
    world.claim(quiescent(the_last_size_is_observed))


TRUE = Told(
    write_back,
    race="""
holds:
  - hold: answer to rollouts update notes/default/web
    until: delivery of notes/default/web#3 to rollouts
""",
    actor="rollouts",
    about="notes/default/web",
    words=("Conflict", "refused", "answer", "older", "late"),
    never=("^ann",),
    said=(
        "rollouts put the late answer to its own update of notes/default/web over newer news "
        "of it, and so never acted on the size that ann had set."
    ),
)
