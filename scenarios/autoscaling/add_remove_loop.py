"""A node is added for a pod that it does not fit, is removed as unneeded, and added again."""

from __future__ import annotations

import attrs

from actors.apiserver import ApiServer
from actors.autoscaler import Autoscaler, AutoscalerSettings
from actors.cloud import Boot, NodeGroup, join_cloud
from actors.shared.machines import CloudInstance
from testbed import Evidence, World, no_lasso
from testbed.objects import Condition, Map, Node, Pod, PodStatus

GIB = 2**30
UNNEEDED_MS = 120_000
"""How long a node must be unneeded with the guard: long enough to be known, as ten minutes are."""
LAPS_MS = 900_000
"""A pod that fits nowhere is retried for ever, minutes apart. A lap takes 30 s."""
PASSES_MS = tuple(range(10_000, 2 * UNNEEDED_MS, 10_000))
"""With the guard no lap is longer, and a Run ends even if the cloud is dead."""


def when_it_grows(see: Evidence) -> object:
    """That a machine was just asked for; at other times a value that never recurs."""
    new = [c.new.value for c in see.changes if c.old is None and c.new is not None]
    return any(isinstance(item, CloudInstance) for item in new) or see.store.revision


def add_remove_loop(world: World, *, guard: bool = False) -> None:
    """The machines of a group have less room than the provider says (cluster-autoscaler#4125).

    To the autoscaler a new node takes the pod; it comes, and does not. A node that has been Ready
    for a minute is believed more than the provider (CA-16), but unneeded nodes go at once, as some
    have it (gardener#10569): so nothing is ever learnt. Guarded, they go after two minutes. By then
    it is known what the machines are, and that none would help.

    Cause: the provider's template promises more than its machines have, and each node goes before
      it has been Ready for long enough to replace the template.
    Look for: g-1 is deleted as empty, and the next pass wants 1 node in g for pods/default/web
      again.
    Source: gardener#10569, cluster-autoscaler#4125.
    Tags: endless, no-timing, scale-up, scale-down.
    """
    world.serve(ApiServer)
    promised = Node.of("any", cpu_m=4000, memory=8 * GIB)
    group = NodeGroup(
        "g", max_size=1, spare=0, template=promised, boots=(Boot(5_000),),
        actual=Node.of("any", cpu_m=1000, memory=2 * GIB),
    )  # fmt: skip
    join_cloud(world, group)
    # As its scheduler has left it, which could say nothing else of any of these nodes.
    status = PodStatus("Pending", conditions=(Condition("PodScheduled", "False", "Unschedulable"),))
    world.add(attrs.evolve(Pod.of("web", cpu_m=2000, memory=GIB), status=status))
    settings = AutoscalerSettings(
        unneeded_time_ms=UNNEEDED_MS if guard else 0, delay_after_add_ms=0,
        passes_ms=PASSES_MS if guard else (),
    )  # fmt: skip
    told = Map(events="off", status="off")
    world.start(Autoscaler(settings=settings, switches=told))
    world.claim(no_lasso(abstraction=when_it_grows))
    if not guard:
        world.limit(virtual_ms_max=LAPS_MS)
        world.needs_no_race = "the provider says what is not so, however they are timed"
