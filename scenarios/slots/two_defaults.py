"""Two admins each make a PriorityClass the default: both are told that theirs is the only one."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, ApiError, Client, Evidence, Found, World, always
from testbed.objects import PriorityClass

AGREED = "cluster-default"
"""The name of the default class, if the admins have agreed on one."""


@attrs.frozen
class Admin(Actor):
    """Creates a default class of that value, and gives up if that is refused."""

    value: int
    guard: bool = False
    """Whether the class gets the agreed name, which only one object can have."""

    async def run(self, client: Client) -> None:
        name = AGREED if self.guard else f"{self.name}-default"
        try:
            await client.create(PriorityClass(name, value=self.value, global_default=True))
        except ApiError:
            return
        client.record("made the default", value=self.value)


def there_is_one_default(see: Evidence) -> Found | None:
    """There is one default, so that a pod without a class has one value that it can get."""
    classes: list[Any] = [entry.value for entry in see.store.snapshot("priorityclasses/")]
    defaults = sorted((item.value, item.meta.name) for item in classes if item.global_default)
    if len(defaults) < 2:
        return None
    told = " and ".join(f"{name} ({value})" for value, name in defaults)
    text = f"{told} are both the default: a pod that names no class gets {defaults[0][0]}"
    return Found(text, reason="too many")


def two_defaults(world: World, *, guard: bool = False) -> None:
    """Two admins make the default PriorityClass at the same time, and there are two.

    A pod that names no class then gets the one of the lower value. Guarded, both admins use one
    name, which the second create finds taken.

    Cause: admission looks for another default before the class is written, and two creates may both
      look first.
    Look for: the first part of each create comes before the second part of the other.
    Source: kubernetes#59987; the design "Priority in Kubernetes API".
    Tags: check-then-act, silent, priority.
    """
    world.serve(ApiServer)
    world.start(Admin("alpha", 1000, guard), Admin("beta", 10, guard))
    world.claim(always(there_is_one_default, reads=("log:priorityclasses",)))
