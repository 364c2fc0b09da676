"""Half created: an operator dies between the create of a pod and the note of its name; its next
life creates another."""

from __future__ import annotations

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Client, Evidence, World, quiescent
from testbed.errors import AlreadyExists
from testbed.faults.crash import Crash
from testbed.objects import ConfigMap, Map, Meta, Pod
from tests.told.frame import Told


@attrs.frozen
class Operator(Actor):
    """Creates a pod for the blog, and notes its name there. With `guard` the name follows from that
    of the blog."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Once in each life."""
        blog = await client.get(ConfigMap, "blog")
        if "pod" in blog.data:
            return
        meta = Meta("blog-0" if self.guard else "", generate_name="blog-")
        name = "blog-0"
        try:
            made = await client.create(attrs.evolve(Pod.of("", cpu_m=100), meta=meta))
            name = made.meta.name
        except AlreadyExists:
            pass
        await client.patch(blog, {"data": {"pod": name}})


class Watcher(Actor):
    """Reads the blog now and then."""

    async def run(self, client: Client) -> None:
        """A few times."""
        for _ in range(3):
            await client.sleep(2_000, "read")
            await client.get(ConfigMap, "blog")


def every_pod_is_known(see: Evidence) -> str | None:
    """In the end there is no pod of which the blog does not know."""
    names = [entry.key for entry in see.store.snapshot("pods/")]
    return f"{len(names)} pods, and one blog" if len(names) > 1 else None


def half_created(world: World, *, guard: bool = False) -> None:
    """A crash comes between two writes."""
    world.serve(ApiServer)
    world.add(ConfigMap("blog", data=Map(title="")))
    world.start(Operator("operator", guard), Watcher("reader"))
    world.claim(quiescent(every_pod_is_known))
    world.allow(Crash("operator", restart_after_ms=2_000))


TRUE = Told(
    half_created,
    race="""
faults:
  - crash: operator
    after: operator create pods/default
    restart: 2s
""",
    actor="operator",
    about="pods/default/blog-",
    words=("crash",),
    did=("next life", "again", "second", "created"),
    never=("reader",),
    said=(
        "operator crashed when its create of pods/default/blog-ck5sz was on its way; its next"
        " life, knowing nothing of that, created a second one."
    ),
)
