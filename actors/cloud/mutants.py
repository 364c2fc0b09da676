"""Cloud controllers and machines with one bug each, and the claim that must find it."""

from __future__ import annotations

from functools import partial

import attrs

from actors.cloud.controller import CloudController, CloudControllerLoop
from actors.cloud.proving_grounds.moving_group import moving_group
from actors.shared.machines import CloudInstance
from testbed import Operation
from testbed.objects import Node
from testbed.testing.mutant import Mutant

FOLLOW = "nodes_follow_machines"


class KeepsPods(CloudControllerLoop):
    """Deletes the Node of a machine that is gone, and leaves its pods."""

    async def clear(self, machine: CloudInstance) -> None:
        await self._client.ask(Operation("delete", Node.plural, machine.meta.name))
        await self.tell(machine, "forget")


class KeepsNodes(CloudControllerLoop):
    """Frees the name of a machine that is gone, and leaves its Node."""

    async def clear(self, machine: CloudInstance) -> None:
        await self.tell(machine, "forget")


class KeepsNames(CloudControllerLoop):
    """Never tells the provider that nothing of a machine is left."""

    async def tell(self, machine: CloudInstance, verb: str, body: int | None = None) -> None:
        if verb != "forget":
            await super().tell(machine, verb, body)
        else:
            machine = attrs.evolve(machine, gone_ms=None)
            self._watch.machines[machine.meta.name] = machine


class DrawsNothing(CloudControllerLoop):
    """Leaves it open how a machine comes up."""

    async def draw(self, machine: CloudInstance) -> None:
        return


def _with(loop: type[CloudControllerLoop]) -> type[CloudController]:
    return type("Mutated", (CloudController,), {"loop": loop})


MUTANTS = (
    Mutant("keeps-pods", "pods stay on a machine that is gone",
           partial(moving_group, controller=_with(KeepsPods)), FOLLOW),
    Mutant("keeps-nodes", "a Node stays of a machine that is gone",
           partial(moving_group, controller=_with(KeepsNodes)), FOLLOW),
    Mutant("keeps-names", "the name of a machine is never free again",
           partial(moving_group, controller=_with(KeepsNames)), FOLLOW),
    Mutant("draws-nothing", "a machine never comes up, since nobody says how",
           partial(moving_group, controller=_with(DrawsNothing)), FOLLOW),
)  # fmt: skip
"""Each mutant with the claim that must kill it."""
