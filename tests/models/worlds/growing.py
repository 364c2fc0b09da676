"""Growing: a bare cloud, pods that no scheduler could place, and an autoscaler of which each pass
is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import attrs

from actors.apiserver import ApiServer
from actors.autoscaler import Autoscaler, AutoscalerSettings
from actors.autoscaler.autoscaler import AutoscalerLoop
from actors.autoscaler.pass_record import PassRecord
from actors.cloud import Boot, NodeGroup, join_cloud
from testbed import Calm, Client, World
from testbed.objects import Condition, Map, Node, Object, Owner, Pod
from testbed.objects.pod import PodStatus
from tests.shared.stage import Puppet

SLOW = Boot(register_ms=None)
"""A machine that never comes up."""
UNSCHEDULABLE = Condition("PodScheduled", "False", "Unschedulable", since_ms=0)


class KeepingLoop(AutoscalerLoop):
    """Keeps the record of each pass."""

    kept: ClassVar[list[PassRecord]] = []

    async def make_pass(self) -> None:
        """Make one, and keep what came of it."""
        await super().make_pass()
        assert self.last is not None
        self.kept.append(self.last)


@attrs.frozen
class KeepingAutoscaler(Autoscaler):
    """An autoscaler with that loop."""

    loop: ClassVar[type[AutoscalerLoop]] = KeepingLoop


def group(name: str = "g", *, cpu_m: int = 4000, **settings: Any) -> NodeGroup:
    """A group of such nodes; new ones never come up, unless `boots` says how."""
    template = Node.of("any", cpu_m=cpu_m, memory=2**33, labels={"pool": name})
    settings.setdefault("boots", (SLOW,))
    return NodeGroup(name, template=template, **settings)


def waiting(name: str, cpu_m: int = 3000, *, owner: str = "", node: str = "", **spec: Any) -> Pod:
    """A pod that a scheduler found no node for; nominated to `node`, if that is given."""
    pod = Pod.of(name, cpu_m=cpu_m, **spec)
    status = PodStatus(conditions=(UNSCHEDULABLE,), nominated_node_name=node)
    owners = (Owner("apps/v1", "ReplicaSet", owner, owner, controller=True),) if owner else ()
    return attrs.evolve(pod, status=status).with_meta(owners=owners)


def passes(
    *groups: NodeGroup,
    having: Sequence[Object] = (),
    at_s: Sequence[int] = (10,),
    do: Any = None,
    settings: dict[str, Any] | None = None,
    **switches: Any,
) -> tuple[list[PassRecord], World]:
    """What each pass came to, and the World at the end."""
    world = World("growing")
    world.serve(ApiServer)
    join_cloud(world, *groups)
    world.add(*having)
    given = AutoscalerSettings(passes_ms=tuple(1000 * s for s in at_s), **(settings or {}))
    told = Map({"expander": "least-waste", **switches})
    world.start(KeepingAutoscaler(settings=given, switches=told))
    if do is not None:
        world.start(Puppet("ann", do))
    world.limit(virtual_ms_max=1000 * at_s[-1] + 1, turns_max=200_000)
    KeepingLoop.kept.clear()
    verdict = world.run(Calm(), driver="direct")
    assert not verdict.violations, str(verdict)
    return list(KeepingLoop.kept), world


def fates(record: PassRecord) -> dict[str, str]:
    """What became of each pod."""
    return {key.rpartition("/")[2]: fate.fate for key, fate in record.pods.items()}


def target(world: World, name: str = "g") -> int:
    """How many nodes a group wants in the end."""
    entry = world.store.peek(f"nodegroups/{name}")
    return entry.value.target  # type: ignore[union-attr, no-any-return]


async def patched(client: Client, item: Object, tree: dict[str, Any], after_s: int) -> None:
    """Patch an object after some seconds."""
    await client.sleep(1000 * after_s, "wait")
    await client.patch(item, tree)
