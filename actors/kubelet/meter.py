"""Meter: the part of a runtime that knows what its pods use, and what lies on its disk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from actors.kubelet.oom import MEMORY
from actors.kubelet.usage import Usage
from testbed.objects import Map, Pod


@attrs.frozen
class Used:
    """What one pod uses."""

    pod: Pod
    amounts: Map[int] | None
    """By resource, in whole units; None: there are no statistics of it."""


@attrs.frozen
class Stats:
    """The statistics of a node, as its runtime reports them now."""

    pods: Map[Used]
    """By uid, the pods that still use anything."""
    images: int
    """How many bytes of its disk are images that no container uses."""
    change_in_ms: int | None
    """How long until anything of it changes by itself, so that a kubelet need not poll."""

    def total(self, name: str) -> int:
        """How much of a resource all pods use together."""
        known = [each.amounts for each in self.pods.values() if each.amounts is not None]
        return sum([amounts.get(name, 0) for amounts in known])


@attrs.frozen
class Metered:
    """The containers of one pod, as the Meter needs to know them."""

    pod: Pod
    ran_ms: int
    """How long they have run, or ran until they ended."""
    is_running: bool
    ends_in_ms: int | None
    """How long until they end by themselves; None if they never will, or have ended."""
    is_oom: bool = False
    """Whether the kernel has killed them because memory ran out."""


class Meter:
    """What was drawn for each pod, and the images that can be collected."""

    def __init__(self, images: int = 0) -> None:
        self._images = images
        self._drawn: dict[str, Mapping[str, str]] = {}
        self._usages: dict[str, Usage] = {}

    def draw(self, uid: str, drawn: Mapping[str, str]) -> None:
        """Remember which of its usages a pod will have, by the last part of the annotation."""
        self._drawn[uid] = Map(drawn)
        self._usages.pop(uid, None)

    def read_anew(self, uid: str) -> None:
        """Read the annotations of a pod again, which may have changed; what was drawn stays."""
        self._usages.pop(uid, None)

    def collect(self) -> None:
        """Delete the images that no container uses."""
        self._images = 0

    def forget(self, uid: str) -> None:
        """Forget what was drawn for a pod: nothing is left of it, or it is drawn again."""
        self._drawn.pop(uid, None)
        self._usages.pop(uid, None)

    def stats(self, containers: Iterable[Metered]) -> Stats:
        """The statistics now, of all pods that still use anything. After its containers have
        ended a pod uses what it used at the end, until the node has taken all of it back; but no
        memory if the kernel has killed them for that."""
        pods: dict[str, Used] = {}
        ahead: list[int] = []
        for each in containers:
            usage = self.usage_of(each.pod)
            amounts = usage.at(each.ran_ms)
            if each.is_oom and amounts is not None:
                amounts = Map({**amounts, MEMORY: 0})
            pods[each.pod.meta.uid] = Used(each.pod, amounts)
            if each.is_running:
                found = (usage.changes_in_ms(each.ran_ms), each.ends_in_ms)
                ahead += [in_ms for in_ms in found if in_ms is not None]
        return Stats(Map(pods), self._images, min(ahead, default=None))

    def digest(self, ran: Iterable[tuple[Pod, int]]) -> object:
        """What these pods use, and what they will use. `ran` says how long each has run."""
        usages = [self.usage_of(pod).ahead(ran_ms) for pod, ran_ms in ran]
        return self._images, usages

    def usage_of(self, pod: Pod) -> Usage:
        """The usage of a pod."""
        uid = pod.meta.uid
        if uid not in self._usages:
            self._usages[uid] = Usage.of(pod, self._drawn.get(uid))
        return self._usages[uid]
