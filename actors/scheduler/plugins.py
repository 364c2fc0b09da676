"""Plugins: the extension points after a node was chosen for a pod, or none was found.

A plugin is an object with a `name` and any of the methods below. One is made for each life of a
scheduler, so it may keep state. `Reserve` and `Permit` are called within the scheduling cycle and
cannot await. The others may await the Client; each await is a turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import attrs

from actors.scheduler.decisions.decision import Decision
from testbed import Client
from testbed.objects import Pod

TIMEOUT_MS_MAX = 15 * 60_000
"""The longest a pod waits for a Permit plugin."""


@attrs.frozen
class Rejected:
    """The answer of a plugin that refuses: the pod is forgotten, and tried again later."""

    said: str
    is_error: bool = False
    """Whether it is an error rather than a refusal."""


@attrs.frozen
class Wait:
    """The answer of a Permit plugin that decides later: the pod waits, assumed, until then."""

    timeout_ms: int
    """When this time is over, the pod is rejected."""


class WaitingPod(Protocol):
    """A pod that waits for Permit plugins, as these see it."""

    pod: Pod
    node: str

    def allow(self, plugin: str) -> None:
        """Called by a plugin that waited: it agrees. The pod is bound once all agree."""

    def reject(self, plugin: str, said: str) -> None:
        """Called by a plugin that waited: the pod is not bound."""


@runtime_checkable
class Reserve(Protocol):
    """Reserves something that a pod needs besides room on its node."""

    name: str

    def reserve(self, pod: Pod, node: str) -> Rejected | None:
        """Called after the pod was assumed on the node: reserve what it needs, or refuse."""

    def unreserve(self, pod: Pod, node: str) -> None:
        """Called if the pod is not bound after all: give back what was reserved. It is also called
        if `reserve` has refused, or was not called."""


@runtime_checkable
class Permit(Protocol):
    """Lets a pod be bound, delays it, or refuses."""

    name: str

    def permit(
        self, pod: Pod, node: str, waiting: Mapping[str, WaitingPod]
    ) -> Rejected | Wait | None:
        """Called after all `reserve` calls. None: the pod may be bound.

        `waiting` has the pods that wait already, by uid; a plugin may allow or reject them now.
        """


@runtime_checkable
class PreBind(Protocol):
    """Does what must be done before a pod is bound."""

    name: str

    async def pre_bind(self, client: Client, pod: Pod, node: str) -> Rejected | None:
        """Called in the binding task of the pod, concurrent with later cycles."""


@runtime_checkable
class Bind(Protocol):
    """Binds a pod in its own way; what it raises is handled like any error of a bind."""

    name: str

    async def bind(self, client: Client, pod: Pod, node: str) -> Any:
        """Called in the binding task of the pod."""


@runtime_checkable
class PostFilter(Protocol):
    """Does something for a pod that has no feasible node, when preemption finds no room or is not
    allowed."""

    name: str

    async def post_filter(self, client: Client, decision: Decision) -> str | None:
        """Called within the cycle: the node to nominate the pod to, or None if it cannot help."""
