"""An autoscaler and a GitOps controller both write `replicas`, and each is always right."""

from __future__ import annotations

import attrs

from testbed import Actor, ApiError, Cache, Client, Conflict, World, no_lasso
from testbed.objects import Map, Note


@attrs.frozen
class Controller(Actor):
    """Sets `replicas` to what it wants, at its next sync after a change."""

    wants: str
    sync_ms: int
    guard: bool = False
    """Whether it leaves a field alone that another controller manages."""

    async def run(self, client: Client) -> None:
        changed = client.queue("changed", idle=True)

        def remember(*_: Note) -> None:
            if not len(changed):
                changed.put("web")

        notes = Cache(client, Note)
        notes.on(add=remember, update=remember)
        while True:
            await changed.get()
            if self.minds(notes.get("web")):
                await client.sleep(self.sync_ms, "sync")
            web = notes.get("web")
            if web is not None and self.minds(web):
                try:
                    await client.update(web.saying(replicas=self.wants, manager=self.name))
                except Conflict:
                    continue
                except ApiError:
                    remember()

    def minds(self, web: Note | None) -> bool:
        """Whether `replicas` is not as wanted, and this controller may set it."""
        if web is None or web.data["replicas"] == self.wants:
            return False
        return not self.guard or web.data["manager"] in ("", self.name)


def tug_of_war(world: World, *, guard: bool = False, sync_ms: int = 15_000) -> None:
    """An autoscaler and GitOps set one field in turn, for ever.

    Guarded, the field names its manager, and who is not that leaves it alone.

    Cause: two controllers write the same field, and each wants another value of it.
    Look for: `replicas` goes from 5 to 2 and back, and each knew what the other had written.
    Source: the page "Best Practices" of Argo CD, "Leaving Room For Imperativeness".
    Tags: endless, two-views, no-timing.
    """
    world.add(Note("web", data=Map(replicas="3", manager="")))
    world.start(Controller("autoscaler", "5", sync_ms, guard))
    world.start(Controller("gitops", "2", sync_ms, guard))
    world.claim(no_lasso())
    if not guard:
        world.needs_no_race = "each undoes what the other does, however they are timed"
