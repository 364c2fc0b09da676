"""Deadlock: two tasks of a controller each wait for a signal that the other sets only when it has
been let go; an event in between decides whether they meet."""

from __future__ import annotations

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Client, NotFound, World
from testbed.objects import ConfigMap
from tests.told.frame import Told


@attrs.frozen
class Controller(Actor):
    """A producer that waits for a consumer, unless there is a configuration, and a consumer that
    waits for the producer. With `guard` the producer does not wait."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Two tasks."""
        ready, go = client.signal("consumer is ready"), client.signal("producer has begun")
        producer = client.spawn("producer", self._produce, client, ready, go)
        consumer = client.spawn("consumer", self._consume, client, ready, go)
        await client.join(producer)
        await client.join(consumer)

    async def _produce(self, client: Client, ready: object, go: object) -> None:
        try:
            await client.get(ConfigMap, "config")
        except NotFound:
            if not self.guard:
                await ready.wait()  # type: ignore[attr-defined]
        go.set()  # type: ignore[attr-defined]

    async def _consume(self, client: Client, ready: object, go: object) -> None:
        await go.wait()  # type: ignore[attr-defined]
        ready.set()  # type: ignore[attr-defined]


class Ann(Actor):
    """Writes the configuration."""

    async def run(self, client: Client) -> None:
        """At once."""
        await client.create(ConfigMap("config"))


def deadlock(world: World, *, guard: bool = False) -> None:
    """A configuration comes too late."""
    world.serve(ApiServer)
    world.start(Ann("ann"), Controller("controller", guard))


TRUE = Told(
    deadlock,
    race="""
holds:
  - hold: ann create configmaps/default/config
    until: controller get configmaps/default/config
""",
    actor="controller",
    about=("configmaps/default/config", "controller/producer", "controller/consumer"),
    words=("waits? for", "consumer is ready", "producer has begun", "each other"),
    never=("^ann created .* and that broke it",),
    claim="nobody_is_stuck",
    said=(
        "controller's two tasks wait for each other: controller/producer found no "
        "configmaps/default/config and waits for the consumer, and controller/consumer waits "
        "for the producer."
    ),
)
