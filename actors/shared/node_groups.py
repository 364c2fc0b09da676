"""Node groups: what a cloud provider says of its groups of machines, and how it is asked.

A cloud is an Endpoint, named `cloud` unless a World has several. Programs that size a cluster speak
to it in these words alone, so either side can be replaced.
"""

from __future__ import annotations

from typing import Any

import attrs

from testbed import Client, Operation
from testbed.objects import Map, Node
from testbed.turns.because import Because

CLOUD = "cloud"
"""The name of the Endpoint, unless another is given."""
PLURAL = "nodegroups"
RUNNING, CREATING, DELETING = "running", "creating", "deleting"
OUT_OF_RESOURCES, OTHER_ERROR = "OutOfResourcesErrorClass", "OtherErrorClass"
"""The two classes of errors with which an instance can fail to start."""


@attrs.frozen
class GroupView:
    """One node group as the cloud answers for it."""

    name: str
    min_size: int
    max_size: int
    target: int
    """How many instances are wanted."""
    nodes: tuple[str, ...] = ()
    """The names of its instances; a node has the name of its instance."""
    template: Node | None = None
    """What a new node of it would be; None: this cloud cannot say."""

    def at(self, target: int) -> GroupView:
        """The same group with another target."""
        return attrs.evolve(self, target=target)


@attrs.frozen
class Instance:
    """One machine of a group as the cloud answers for it; it may have a Node object or not."""

    name: str
    state: str = RUNNING
    error_class: str = ""
    """Set if it could not be created."""
    error_code: str = ""
    error_message: str = ""


async def groups(client: Client, cloud: str = CLOUD) -> tuple[GroupView, ...]:
    """All groups, in the order of the provider."""
    return await client.ask(Operation("groups", PLURAL, endpoint=cloud))  # type: ignore[no-any-return]


async def instances(client: Client, group: str, cloud: str = CLOUD) -> tuple[Instance, ...]:
    """The instances of a group, those without a Node object among them."""
    return await client.ask(Operation("instances", PLURAL, group, endpoint=cloud))  # type: ignore[no-any-return]


async def increase(
    client: Client,
    group: str,
    by: int,
    cloud: str = CLOUD,
    *,
    seen: int | None = None,
    because: Because | None = None,
) -> int:
    """Want that many instances more; the new target. An ApiError if the cloud refuses. `seen` is
    the target that the caller knows of: most clouds are told a size, not a difference."""
    return await _resize(client, "increase", group, by, cloud, seen, because)


async def decrease(client: Client, group: str, by: int, cloud: str = CLOUD) -> int:
    """Want that many instances less, of those that have not come yet; the new target."""
    return await _resize(client, "decrease", group, by, cloud)


async def delete_nodes(
    client: Client,
    group: str,
    nodes: tuple[str, ...],
    cloud: str = CLOUD,
    *,
    because: Because | None = None,
) -> int:
    """Delete these instances, and want as many less; the new target."""
    body: Any = nodes
    operation = Operation("delete-nodes", PLURAL, group, body=body, endpoint=cloud)
    return await client.ask(operation, because=because)  # type: ignore[no-any-return]


async def _resize(
    client: Client,
    verb: str,
    group: str,
    by: int,
    cloud: str,
    seen: int | None = None,
    because: Because | None = None,
) -> int:
    options = Map({"by": by} if seen is None else {"by": by, "seen": seen})
    operation = Operation(verb, PLURAL, group, options=options, endpoint=cloud)
    return await client.ask(operation, because=because)  # type: ignore[no-any-return]
