"""Scheduler: the program that gives pods their nodes; its settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import attrs

from actors.framework.filter import Filter
from actors.framework.filters import FILTERS
from actors.scheduler.memory.leading import Replica
from actors.scheduler.schedule_one import SchedulingLoop
from actors.scheduler.score import Score
from actors.scheduler.switches import SCHEDULER
from testbed import Actor, Client
from testbed.objects import Map
from testbed.switches import Component, switch_texts, told


@attrs.frozen
class Scheduler(Actor):
    """Gives pods their nodes, and makes room for the important ones.

    It schedules the pods whose `schedulerName` is its own name, or `pods_of` if that is given.
    """

    rank: ClassVar[int] = 4
    component: ClassVar[Component] = SCHEDULER
    loop: ClassVar[type[SchedulingLoop]] = SchedulingLoop
    """What one life of it does."""

    profile: str = ""
    """Its bundle of switches: `k8s-1.26`, which is the default, `k8s-modern`, `seed` or `alpha`."""
    switches: Map[str] = attrs.field(factory=Map, converter=switch_texts)
    """The switches that differ from the profile: `{"queue": "fifo"}`."""
    pods_of: str = ""
    """The `schedulerName` of its pods, if it is not its own name."""
    elects: bool = False
    """Whether it is one of several replicas, of which one schedules at a time: those with the same
    `pods_of`."""
    filters: tuple[Filter, ...] = FILTERS
    """The filters that may refuse a node, in the order in which they are asked."""
    scores: tuple[Score, ...] = ()
    """The scores that rank the feasible nodes; if empty, those of the switch `placement`."""
    plugins: tuple[Callable[[], Any], ...] = ()
    """Plugins for the later extension points (`plugins.py`): classes, or other callables that make
    one for each life."""

    @property
    def told(self) -> Mapping[str, str]:
        return told(self.profile, self.switches)

    async def run(self, client: Client) -> None:
        """Schedule until it crashes."""
        pods_of, replica = self.pods_of or self.name, None
        if self.elects:
            replica = Replica(client, pods_of, is_fenced=client.switches.fencing)
            await replica.stand()
        loop = self.loop(client, pods_of, self.filters, self.scores, self.plugins, replica)
        await loop.run()
