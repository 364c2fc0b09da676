"""Utilization: how much of a node its pods request: the larger of the shares of cpu and memory."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import attrs

from actors.autoscaler.scale_down.overtime import is_long_terminating
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import MEMORY
from actors.shared.critical import is_mirror
from actors.shared.daemon_pods import is_daemon_pod
from testbed.objects import Pod, Quantity
from testbed.objects.quantity import CPU


@attrs.frozen
class Share:
    """What is requested of a resource, and how much there is of it; both in thousandths.

    There may be none of it, or less than none, if what daemon pods request is taken off. Then it
    compares as Go compares the quotient: 1 of 0 is infinite, 0 of 0 is neither more nor less than
    anything.
    """

    requested: int
    room: int

    def is_at_least(self, per_mille: int) -> bool:
        """Whether it is that many thousandths, or more."""
        if self.room == 0:
            return self.requested > 0
        top, bottom = self._upright()
        return 1000 * top >= per_mille * bottom

    def exceeds(self, other: Share) -> bool:
        """Whether it is a greater share than the other."""
        if self.room == 0 or other.room == 0:
            is_infinite = self.room == 0 and self.requested > 0
            return is_infinite and (other.room != 0 or other.requested < 0)
        top, bottom = self._upright()
        other_top, other_bottom = other._upright()
        return top * other_bottom > other_top * bottom

    @property
    def fraction(self) -> Fraction:
        """The same as a number; 0 if there is none of the resource."""
        return Fraction(self.requested, self.room) if self.room else Fraction()

    def __str__(self) -> str:
        if self.room == 0:
            return "NaN" if self.requested == 0 else "+Inf"
        return repr(self.requested / self.room).removesuffix(".0")

    def _upright(self) -> tuple[int, int]:
        return (self.requested, self.room) if self.room > 0 else (-self.requested, -self.room)


NOTHING = Share(0, 1)


@attrs.frozen
class Utilization:
    """The two shares of a node."""

    cpu: Share = NOTHING
    memory: Share = NOTHING
    resource: str = ""
    """Which of the two is greater, `cpu` or `memory`; empty if they could not be computed."""

    @property
    def highest(self) -> Share:
        """The greater of the two."""
        return self.cpu if self.resource == CPU else self.memory

    def __str__(self) -> str:
        """As the Event of a drain words it: cpu, memory, GPUs, the greatest one and its share."""
        return f"{{{self.cpu} {self.memory} 0 {self.resource} {self.highest}}}"


UNKNOWN = Utilization()
"""Of a node that does not say how much it has. It counts as not utilised at all."""


def utilization_of(
    info: NodeInfo,
    now_ms: int,
    *,
    ignore_daemons: bool = False,
    ignore_mirrors: bool = False,
) -> Utilization | None:
    """The utilization of a node by the pods on it (CA-25); None if the node does not say how much
    it has. Pods that should have terminated long ago do not count. Those of DaemonSets and mirror
    pods do, unless they are ignored; then the node counts as smaller by what they request."""
    counted: list[Pod] = []
    ignored: list[Pod] = []
    for pod in (each.pod for each in info.pods):
        if (ignore_daemons and is_daemon_pod(pod)) or (ignore_mirrors and is_mirror(pod)):
            ignored.append(pod)
        elif not is_long_terminating(pod, now_ms):
            counted.append(pod)
    cpu, memory = (_share(info, name, counted, ignored) for name in (CPU, MEMORY))
    if cpu is None or memory is None:
        return None
    return Utilization(cpu, memory, CPU if cpu.exceeds(memory) else MEMORY)


def _share(
    info: NodeInfo, resource: str, counted: Sequence[Pod], ignored: Sequence[Pod]
) -> Share | None:
    has = info.node.status.allocatable.get(resource) if info.node is not None else None
    if not has:
        return None
    return Share(_requested(counted, resource), has.milli - _requested(ignored, resource))


def _requested(pods: Sequence[Pod], resource: str) -> int:
    """What the containers request, in thousandths. Init containers and overhead do not count here,
    though they do for the scheduler."""
    nano = 0
    for pod in pods:
        for container in pod.spec.containers:
            amount = container.resources.requests.get(resource)
            if amount is not None:
                nano += amount.nano
    return Quantity(nano).milli if nano else 0
