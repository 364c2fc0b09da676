"""CloudView: what the autoscaler knows of the cloud, and how it changes it.

The groups with their targets are read at the start of each pass. The instances of a group are
kept, and read again only while a request for the group is open, when something was deleted there,
or after two minutes.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from actors.shared import node_groups
from actors.shared.node_groups import GroupView, Instance
from testbed import Client
from testbed.turns.because import Because

REFRESH_MS = 120_000
"""How long instances are believed."""


class CloudView:
    """The groups as the cloud last answered for them, and their instances as last read."""

    def __init__(self, client: Client, cloud: str) -> None:
        self._client = client
        self._cloud = cloud
        self._began_ms = client.elapsed()
        self._groups: dict[str, GroupView] = {}
        self._group_of: dict[str, str] = {}
        self._instances: dict[str, tuple[Instance, ...]] = {}
        self._read_ms: dict[str, int] = {}
        self._ended = 0
        """How many calls have ended that may have changed a group."""

    @property
    def groups(self) -> tuple[GroupView, ...]:
        """All groups, in the order of the provider."""
        return tuple(self._groups.values())

    @property
    def instances(self) -> dict[str, tuple[Instance, ...]]:
        """By group, its instances as last read."""
        return {name: self._instances.get(name, ()) for name in self._groups}

    def group(self, name: str) -> GroupView | None:
        """The group of that name, or None."""
        return self._groups.get(name)

    def group_of(self, node: str) -> GroupView | None:
        """The group that a node belongs to; None: a node that is not autoscaled."""
        return self._groups.get(self._group_of.get(node, ""))

    async def refresh(self) -> None:
        """Read the groups; again, if a call that may have changed them has ended meanwhile: the
        answer may be older than that, and nothing else tells of the change any more."""
        ended = -1
        while ended != self._ended:
            ended = self._ended
            answer = await node_groups.groups(self._client, self._cloud)
        self._groups = {group.name: group for group in answer}
        self._group_of = {node: group.name for group in answer for node in group.nodes}

    async def read_instances(self, now_ms: int, scaling_up: set[str]) -> None:
        """Read the instances of groups that are due."""
        tick_ms = now_ms - (now_ms - self._began_ms) % REFRESH_MS
        for name in self._groups:
            read_ms = self._read_ms.get(name)
            if read_ms is None or read_ms < tick_ms or name in scaling_up:
                self._instances[name] = await node_groups.instances(self._client, name, self._cloud)
                self._read_ms[name] = now_ms

    def forget_instances(self, group: str) -> None:
        """Read the instances of this group next time."""
        self._read_ms.pop(group, None)

    async def increase(self, group: GroupView, by: int, because: Because | None = None) -> None:
        """Want that many nodes more; an ApiError if the cloud refuses."""
        call = node_groups.increase(
            self._client, group.name, by, self._cloud, seen=group.target, because=because
        )
        await self._change(group.name, call)

    async def decrease(self, group: GroupView, by: int) -> None:
        """Want that many nodes less, without deleting any; an ApiError if the cloud refuses."""
        await self._change(
            group.name, node_groups.decrease(self._client, group.name, by, self._cloud)
        )

    async def delete_nodes(
        self, group: str, nodes: tuple[str, ...], because: Because | None = None
    ) -> None:
        """Delete these instances; an ApiError if the cloud refuses."""
        call = node_groups.delete_nodes(self._client, group, nodes, self._cloud, because=because)
        await self._change(group, call)

    def digest(self, now_ms: int) -> object:
        """What it knows, with times as distances from now."""
        read = [(name, now_ms - at_ms) for name, at_ms in self._read_ms.items()]
        return self._groups, self._instances, read, (now_ms - self._began_ms) % REFRESH_MS

    async def _change(self, name: str, call: Coroutine[Any, Any, int]) -> None:
        """Make a call that answers with the new target of that group."""
        try:
            target = await call
        finally:
            self._ended += 1
        if (group := self._groups.get(name)) is not None:
            self._groups[name] = group.at(target)
