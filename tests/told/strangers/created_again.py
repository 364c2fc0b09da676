"""Created again: an operator gets no answer to a create, takes that for a no, and creates a second
pod for its resource."""

from __future__ import annotations

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Cache, Client, Evidence, World, quiescent
from testbed.faults.lose_reply import LoseReply
from testbed.objects import ConfigMap, Map, Meta, Pod
from tests.never_rest.frame import WorkQueue
from tests.told.frame import Told


@attrs.frozen
class Operator(Actor):
    """Creates a pod for each resource, and writes its name there. With `guard` its name is that of
    the resource, so that a second one is refused."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Look at a resource when it changes; what fails is tried again."""
        resources, queue = Cache(client, ConfigMap), WorkQueue(client)
        queue.follow(resources)

        async def reconcile(name: str) -> None:
            resource = resources.get(name)
            if resource is None or "pod" in resource.data:
                return
            meta = Meta(name if self.guard else "", generate_name=f"{name}-")
            if self.guard and (await client.list(Pod)).items:
                made = (await client.list(Pod)).items[0]
            else:
                made = await client.create(attrs.evolve(Pod.of("", cpu_m=100), meta=meta))
            data = resource.data.having(pod=made.meta.name)
            await client.patch(resource, {"data": dict(data)})

        await queue.work(reconcile)


class Ann(Actor):
    """Creates a blog, and gives it a title some time later."""

    async def run(self, client: Client) -> None:
        """One after the other."""
        await client.create(ConfigMap("blog", data=Map(title="")))
        await client.sleep(5_000, "think of a title")
        await client.patch(ConfigMap("blog"), {"data": {"title": "On races"}})


def a_blog_has_one_pod(see: Evidence) -> str | None:
    """In the end there is one pod for the blog."""
    pods = see.store.snapshot("pods/")
    return f"configmaps/default/blog has {len(pods)} pods" if len(pods) > 1 else None


def created_again(world: World, *, guard: bool = False) -> None:
    """The answer to a create is lost."""
    world.serve(ApiServer)
    world.start(Operator("operator", guard), Ann("ann"))
    world.claim(quiescent(a_blog_has_one_pod))
    world.allow(LoseReply("operator"))


TRUE = Told(
    created_again,
    race="""
faults:
  - lose_reply: operator create pods/default
""",
    actor="operator",
    about="pods/default/blog-",
    words=("no answer", "answer was lost", "lost", "had taken effect"),
    did=("created", "again", "twice"),
    never=("^ann", "ann updated", "ann patched"),
    said=(
        "operator created pods/default/blog-s5862 as a second pod: it got no answer to its "
        "first create, which had taken effect, and took that for a no."
    ),
)
