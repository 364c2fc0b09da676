"""CloudQuota: what a provider grants over all groups of a cluster, and what it says if it has none.

A quota refuses the call. A stock-out lets the call through, and the machine reports the error.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from actors.cloud.node_group import NodeGroup
from actors.shared.machines.boot import Boot
from actors.shared.machines.cloud_instance import CloudInstance
from actors.shared.settings import at_least
from testbed.errors import Forbidden
from testbed.objects.node import room_of

STOCK_OUT = Boot(
    register_ms=None, error_ms=0, error_code="ZONE_RESOURCE_POOL_EXHAUSTED",
    error_message="the zone has no such machine left",
)  # fmt: skip
"""How a machine comes up that the provider does not have: it says so at once."""


@attrs.frozen
class CloudQuota:
    """What a provider grants over all groups; None: no limit."""

    instances: int | None = attrs.field(default=None, validator=at_least(0))
    """How many instances."""
    cpu_m: int | None = attrs.field(default=None, validator=at_least(0))
    """How much cpu, by the templates of their groups."""

    def check(
        self,
        group: NodeGroup,
        by: int,
        groups: Iterable[NodeGroup],
        machines: Iterable[CloudInstance],
        now_ms: int,
    ) -> None:
        """Forbidden if that many more instances of the group are more than is granted."""
        if self.instances is None and self.cpu_m is None:
            return
        there = {each.name: 0 for each in groups}
        for machine in machines:
            if not machine.is_gone(now_ms):
                there[machine.group] = there.get(machine.group, 0) + 1
        there[group.name] += by
        count = sum(there.values())
        if self.instances is not None and count > self.instances:
            raise Forbidden(f"quota exceeded: {count} instances, {self.instances} are granted")
        cpu_m = sum(there[each.name] * _cpu_m(each) for each in groups)
        if self.cpu_m is not None and cpu_m > self.cpu_m:
            raise Forbidden(f"quota exceeded: {cpu_m}m cpu, {self.cpu_m}m is granted")


def _cpu_m(group: NodeGroup) -> int:
    return 0 if group.template is None else room_of(group.template).get("cpu", 0)
