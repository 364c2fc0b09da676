"""Wrote twice: two authors write one letter each; the answer to one of them is lost, so she writes
hers again."""

from __future__ import annotations

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, Client, Evidence, Unavailable, World, always
from testbed.errors import AlreadyExists
from testbed.faults.lose_reply import LoseReply
from testbed.objects import ConfigMap, Meta
from tests.told.frame import Told


@attrs.frozen
class Author(Actor):
    """Writes one letter, some time after the start. With `guard` it has a name of its own."""

    guard: bool
    after_ms: int

    async def run(self, client: Client) -> None:
        """Until it has been taken."""
        await client.sleep(self.after_ms, "think")
        name = self.name if self.guard else ""
        meta = Meta(name, generate_name=f"{self.name}-", labels={"kind": "letter"})
        while True:
            try:
                await client.create(ConfigMap(meta))
                break
            except Unavailable:
                await client.sleep(500, "again")
            except AlreadyExists:
                break
        client.record("wrote", who=self.name)


def one_letter_each(see: Evidence) -> str | None:
    """Once both have written there are two letters."""
    wrote = {each.facts["who"] for each in see.records if each.name == "wrote"}
    letters = see.store.snapshot("configmaps/")
    if len(wrote) == 2 and len(letters) > 2:
        return f"there are {len(letters)} letters of 2 authors"
    return None


def wrote_twice(world: World, *, guard: bool = False) -> None:
    """No answer is taken for a no."""
    world.serve(ApiServer)
    world.start(Author("anna", guard, 1_000), Author("bert", guard, 5_000))
    world.claim(always(one_letter_each))
    world.allow(LoseReply("anna"))


TRUE = Told(
    wrote_twice,
    race="""
faults:
  - lose_reply: anna create configmaps/default
""",
    actor="anna",
    about="configmaps/default/anna-",
    words=("no answer", "answer was lost", "lost", "had taken effect"),
    never=("bert",),
    said=(
        "anna created configmaps/default/anna-d8w2r as a second letter: her first create got "
        "no answer, but had taken effect."
    ),
)

ALSO = (
    TRUE.also(
        "bert",
        """
faults:
  - lose_reply: bert create configmaps/default
""",
        "bert created configmaps/default/bert-d8w2r as a second letter: his first create got no "
        "answer, but had taken effect.",
        actor="bert",
        about="configmaps/default/bert-",
        never=("anna",),
    ),
)
