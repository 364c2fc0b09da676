"""Nonsense: the text of a claim says nothing of what is wrong; the story has to find it out."""

from __future__ import annotations

from typing import Any

from testbed import Evidence, World, quiescent
from tests.never_rest.polling import polling
from tests.told.frame import Told


def all_is_well(see: Evidence) -> str | None:
    """The last size that the user has set stands."""
    web: Any = see.store.peek("notes/default/web")
    return "colourless green ideas sleep furiously" if web.value.data["size"] != "3" else None


def nonsense(world: World, *, guard: bool = False) -> None:
    """An operator that polls writes an old size back."""
    polling(world, guard=guard)
    world.claim(quiescent(all_is_well))


TRUE = Told(
    nonsense,
    race="""
holds:
  - hold: user update notes/default/web#2
    until: operator get notes/default/web#2
""",
    actor="operator",
    made_so="user",
    about="notes/default/web",
    words=(r"data\.size", "size"),
    never=("^user",),
    claim="all_is_well",
    said=(
        "operator updated notes/default/web, believing that its data.size was 2, as it read "
        "at rv 3; false since user set it to 3 at rv 4."
    ),
)
