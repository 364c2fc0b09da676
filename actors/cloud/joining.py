"""Joining: a whole cloud put into a World in one line."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol

import attrs

from actors.cloud.cloud import Cloud
from actors.cloud.controller import CloudController
from actors.cloud.node_group import SLOTS, SUCH_A_NODE, NodeGroup
from actors.cloud.quota import CloudQuota
from actors.shared.machines.boot import AT_ONCE
from actors.shared.machines.cloud_instance import CloudInstance
from actors.shared.machines.registering import node_of
from testbed import Actor, World
from testbed.errors import ScenarioError, shown
from testbed.objects.meta import Meta


class MachineKind(Protocol):
    """What makes the kubelet of a machine: `actors.kubelet.Machine`, or a class below it."""

    runtime: Any
    """What its containers run in: made of the Store and the name of the node."""

    def __call__(self, name: str, node: str, /) -> Actor:
        """The actor of that name, for the node of that name."""


def join_cloud(
    world: World,
    *groups: NodeGroup,
    machine: MachineKind | None = None,
    quota: CloudQuota | None = None,
    cloud: type[Cloud] = Cloud,
    controller: type[CloudController] = CloudController,
) -> None:
    """Put a cloud with these node groups into a World, in this order.

    As many instances as a group wants are there from the start, with Ready nodes `g-1`, `g-2`, ….
    With `machine=Machine` each name that an instance may have gets a kubelet. Without, nodes have
    none: nothing runs there, and a thousand of them cost little. `cloud` and `controller` may be
    classes of your own. Its quota is one for all groups.
    """
    _check_all(groups, quota)
    world.serve(partial(cloud, quota=quota))
    for place, group in enumerate(groups):
        _check(group, has_kubelets=machine is not None)
        world.add(attrs.evolve(group, place=place))
        for number in range(1, group.target + 1):
            _begin_with(world, group, number)
        if machine is not None:
            for node in group.slots:
                world.serve(partial(machine.runtime, node=node))
                world.start(machine(f"kubelet-{node}", node))
    bare = () if machine is not None else tuple([group.name for group in groups])
    world.start(controller(bare=bare))


def _check_all(groups: Sequence[object], quota: object) -> None:
    wrong = [each for each in groups if not isinstance(each, NodeGroup)]
    if wrong or not groups:
        what = shown(wrong[0]) if wrong else "no group"
        name = wrong[0] if wrong and isinstance(wrong[0], str) else "g"
        raise ScenarioError(
            f"join_cloud was given {what}: expected one NodeGroup or several, after the World.\n"
            f"Next: say join_cloud(world, NodeGroup({name!r}, template={SUCH_A_NODE}))."
        )
    if quota is not None and not isinstance(quota, CloudQuota):
        raise ScenarioError(
            f"join_cloud was given quota={shown(quota)}: expected a CloudQuota.\n"
            "Next: say quota=CloudQuota(instances=5)."
        )


def _check(group: NodeGroup, *, has_kubelets: bool) -> None:
    if has_kubelets and group.naming != SLOTS:
        raise ScenarioError(
            f"join_cloud was given the group {group.name!r} with naming={group.naming!r}: expected "
            f"{SLOTS!r}, since each of its machines has a kubelet that is started before the Run."
            "\nNext: leave out `machine`, and its nodes have no kubelets."
        )
    if group.target and group.becomes is None:
        raise ScenarioError(
            f"join_cloud was given the group {group.name!r} with target={group.target} and no "
            "template: expected one, to know its nodes by.\n"
            f"Next: say template={SUCH_A_NODE}."
        )


def _begin_with(world: World, group: NodeGroup, number: int) -> None:
    """An instance that is there from the start, and its Node."""
    name = f"{group.name}-{number}"
    machine = CloudInstance(
        Meta(name, uid=f"{group.name}~{number}"), group=group.name, number=number,
        template=group.becomes,
    )  # fmt: skip
    world.add(machine.coming_up(AT_ONCE))
    assert group.becomes is not None
    world.add(node_of(group.becomes, name, 0))
