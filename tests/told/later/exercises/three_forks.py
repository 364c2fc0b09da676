"""Three forks: three philosophers each take the fork to the left, then the one to the right, and
wait for what a neighbour holds."""

from __future__ import annotations

import attrs

from testbed import Actor, Client, Conflict, Evidence, World, quiescent
from testbed.objects import Note
from tests.told.frame import Told


@attrs.frozen
class Philosopher(Actor):
    """Takes both forks, eats, and gives them back. With `guard` always the lower number first."""

    left: int
    right: int
    guard: bool

    async def run(self, client: Client) -> None:
        """Once."""
        order = sorted((self.left, self.right)) if self.guard else (self.left, self.right)
        taken = [await self._take(client, f"fork-{number}") for number in order]
        await client.sleep(1_000, "eat")
        client.record("has eaten")
        for fork in taken:
            await client.update(fork.saying(owner=""))

    async def _take(self, client: Client, name: str) -> Note:
        while True:
            fork = await client.get(Note, name)
            if not fork.data["owner"]:
                try:
                    return await client.update(fork.saying(owner=self.name))
                except Conflict:
                    continue
            await client.sleep(1_000, "think")


def all_have_eaten(see: Evidence) -> str | None:
    """In the end nobody is hungry."""
    ate = sum(each.name == "has eaten" for each in see.records)
    return f"{ate} of 3 have eaten" if ate < 3 else None


def three_forks(world: World, *, guard: bool = False) -> None:
    """Each has one fork."""
    world.add(*(Note(f"fork-{number}").saying(owner="") for number in range(3)))
    for number, name in enumerate(("plato", "quine", "russell")):
        world.start(Philosopher(name, number, (number + 1) % 3, guard))
    world.claim(quiescent(all_have_eaten))
    world.limit(until_ms=30_000)


TRUE = Told(
    three_forks,
    race="""
holds:
  - hold: plato update notes/default/fork-1
    until: russell update notes/default/fork-2
  - hold: quine update notes/default/fork-2
    until: russell update notes/default/fork-2
""",
    actor=("plato", "quine", "russell"),
    about="notes/default/fork-",
    words=("waits? for", "holds?", "each other", "another", "has what"),
    never=("recorded",),
    said=(
        "plato holds notes/default/fork-0 and waits for fork-1, which quine holds; quine waits for "
        "fork-2, which russell holds; russell waits for fork-0."
    ),
)

ALSO = (
    TRUE.also(
        "sought",
        """
holds:
  - hold: quine update notes/default/fork-1
    until: russell update notes/default/fork-2
  - hold: plato update notes/default/fork-0
    until: quine update notes/default/fork-1
""",
        "plato holds notes/default/fork-0 and waits for fork-1, which quine holds; quine waits "
        "for fork-2, which russell holds; russell waits for fork-0.",
    ),
)
