"""Ends otherwise: two teams set the owner of one object, and whoever comes last has it."""

from __future__ import annotations

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Client, Conflict, World, confluent
from testbed.objects import ConfigMap, Map
from tests.told.frame import Told


@attrs.frozen
class Team(Actor):
    """Takes the object, if it is free. With `guard` it takes it only as it has seen it; then the
    larger name wins, whoever comes first."""

    guard: bool

    async def run(self, client: Client) -> None:
        """Look, and take."""
        while True:
            found = await client.get(ConfigMap, "domain")
            owner = found.data.get("owner", "")
            if owner >= self.name or (owner and not self.guard):
                return
            mine = attrs.evolve(found, data=Map(owner=self.name))
            try:
                await client.update(mine, whatever_it_was=not self.guard)
                return
            except Conflict:
                continue


def ends_otherwise(world: World, *, guard: bool = False) -> None:
    """Two find it free."""
    world.serve(ApiServer)
    world.add(ConfigMap("domain"))
    world.start(Team("blue", guard), Team("red", guard))
    world.claim(confluent())


TRUE = Told(
    ends_otherwise,
    race="""
holds:
  - hold: blue update configmaps/default/domain
    until: red get configmaps/default/domain
""",
    actor=("red", "blue"),
    about="configmaps/default/domain",
    words=("owner",),
    claim="confluent",
    said=(
        "red updated configmaps/default/domain, believing that data.owner was empty, as it "
        "read at rv 2; false since blue took it at rv 3."
    ),
)
