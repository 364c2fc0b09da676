"""Points: where a plugin has a say once a node was chosen for a pod, or none was found.

A plugin is an object with a `name` and any of the methods below; one is made for each life of a
scheduler, so it may remember what it did. `Reserve` and `Permit` are asked within the scheduling
cycle and cannot await; the others may, and every await is the Client's, a turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import attrs

from actors.scheduler.decisions.decision import Decision
from testbed import Client
from testbed.objects import Pod

TIMEOUT_MS_MAX = 15 * 60_000
"""A pod waits no longer than that for whoever has asked it to."""


@attrs.frozen
class Rejected:
    """What a plugin says that will not have it: the pod is forgotten, and tried again later."""

    said: str
    is_error: bool = False
    """Something went wrong; otherwise it is only not to be now."""


@attrs.frozen
class Wait:
    """What a Permit plugin says that will tell later: the pod waits, assumed, until it does."""

    timeout_ms: int
    """After that long the pod is rejected."""


class WaitingPod(Protocol):
    """A pod that waits for its permission, as plugins see it."""

    pod: Pod
    node: str

    def allow(self, plugin: str) -> None:
        """That plugin has no objection any more; it is bound when none has."""

    def reject(self, plugin: str, said: str) -> None:
        """It is not to be bound."""


@runtime_checkable
class Reserve(Protocol):
    """Keeps account of something that a pod takes beside the room on its node."""

    name: str

    def reserve(self, pod: Pod, node: str) -> Rejected | None:
        """Called when the pod was assumed there: take it."""

    def unreserve(self, pod: Pod, node: str) -> None:
        """Called when the pod goes nowhere after all, also if `reserve` has refused, or was never
        asked: give back what was taken."""


@runtime_checkable
class Permit(Protocol):
    """Has the last word before a pod is bound."""

    name: str

    def permit(
        self, pod: Pod, node: str, waiting: Mapping[str, WaitingPod]
    ) -> Rejected | Wait | None:
        """Called when the pod is reserved; `waiting` are those that wait already, by uid, and may
        be allowed or rejected now. None: it may be bound."""


@runtime_checkable
class PreBind(Protocol):
    """Does something that must be done before a pod is bound."""

    name: str

    async def pre_bind(self, client: Client, pod: Pod, node: str) -> Rejected | None:
        """Called in the pod's own task, concurrent with later cycles."""


@runtime_checkable
class Bind(Protocol):
    """Binds a pod in its own way; what it raises is told as any error of a bind."""

    name: str

    async def bind(self, client: Client, pod: Pod, node: str) -> Any:
        """Called in the pod's own task."""


@runtime_checkable
class PostFilter(Protocol):
    """Does something for a pod that fits nowhere, and for which preemption has found no room, or
    must not look for any."""

    name: str

    async def post_filter(self, client: Client, decision: Decision) -> str | None:
        """Called within the cycle: the node to nominate the pod to; None: it can do nothing."""
