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
from testbed.objects.meta import texts
from testbed.switches import Component, told


@attrs.frozen
class Scheduler(Actor):
    """Gives pods their nodes, and makes room for the important ones.

    The pods it schedules are those whose `schedulerName` is its own name, unless another is said.
    """

    rank: ClassVar[int] = 4
    component: ClassVar[Component] = SCHEDULER
    office: ClassVar[type[SchedulingLoop]] = SchedulingLoop
    """What one life of it does."""

    profile: str = ""
    """Which bundle of switches: `k8s-1.26`, which is what empty means, `k8s-modern`, `seed` or
    `alpha`."""
    switches: Map[str] = attrs.field(factory=Map, converter=texts)
    """What is otherwise than the profile has it: `{"queue": "fifo"}`."""
    pods_of: str = ""
    """Whose pods, if not its own."""
    elects: bool = False
    """Whether it is one of several replicas, of which one schedules at a time: those that name the
    same `pods_of`."""
    filters: tuple[Filter, ...] = FILTERS
    """What may say no to a node, in the order in which they are asked."""
    scores: tuple[Score, ...] = ()
    """What likes one node more than another; none: by the switch `placement`."""
    plugins: tuple[Callable[[], Any], ...] = ()
    """What else has a say (`points.py`): classes, or other ways to make one for each life."""

    @property
    def told(self) -> Mapping[str, str]:
        return told(self.profile, self.switches)

    async def run(self, client: Client) -> None:
        """Until it crashes."""
        pods_of, replica = self.pods_of or self.name, None
        if self.elects:
            replica = Replica(client, pods_of, is_fenced=client.switches.fencing)
            await replica.stand()
        office = self.office(client, pods_of, self.filters, self.scores, self.plugins, replica)
        await office.run()
