"""Joining: what cannot be a node group, or a cloud, is refused where it is said."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from actors.apiserver import ApiServer
from actors.cloud import Boot, Cloud, NodeGroup, join_cloud
from actors.kubelet import Machine
from actors.shared.node_groups import increase
from testbed import Calm, Client, Operation, World
from testbed.errors import Invalid, ScenarioError
from testbed.objects import Map, Node
from tests.each_row import each_row
from tests.shared.stage import Puppet

TEMPLATE = Node.of("any", cpu_m=4000)
GROUP = NodeGroup("g", target=1, template=TEMPLATE)


@each_row(
    ("given", "said"),
    [
        ({"min_size": -1}, "NodeGroup.min_size is -1: expected a whole number from 0."),
        ({"max_size": -3}, "NodeGroup.max_size is -3: expected a whole number from 0."),
        ({"target": -2}, "NodeGroup.target is -2: "),
        ({"stock": -1}, "NodeGroup.stock is -1: expected a whole number from 0, or None."),
        ({"delete_ms": -1}, "NodeGroup.delete_ms is -1: "),
        ({"spare": -1}, "NodeGroup.spare is -1: "),
        ({"increase_errors": -2}, "NodeGroup.increase_errors is -2: "),
        ({"delete_errors": -2}, "NodeGroup.delete_errors is -2: "),
        (
            {"min_size": 5, "max_size": 2},
            "NodeGroup.min_size is 5 and max_size is 2: expected no more than 2.\n"
            "Next: say min_size=2, or max_size=5.",
        ),
        (
            {"boots": ()},
            "NodeGroup.boots of 'g' is (): expected a tuple of at least one Boot.\n"
            "Next: say boots=(Boot(),).",
        ),
        ({"boots": Boot()}, "NodeGroup.boots of 'g' is Boot(…): "),
        ({"boots": (60_000,)}, "NodeGroup.boots of 'g' is (60000,): "),
        ({"naming": "slot"}, "NodeGroup.naming of 'g' is 'slot': expected 'slots' or 'rising'."),
        (
            {"template": Node.of("any", cpu_m=-4000)},
            "NodeGroup.template's cpu of 'g' is '-4': expected a Node that has at least 0 of "
            'everything.\nNext: say template=Node.of("any", cpu_m=4000).',
        ),
        ({"actual": Node.of("any", memory=-1)}, "NodeGroup.actual's memory of 'g' is '-1': "),
        ({"template": "large"}, "NodeGroup.template of 'g' is 'large': expected a Node"),
    ],
)
def test_a_group_that_makes_no_sense_is_refused(given: dict[str, Any], said: str) -> None:
    """It was taken without a word, or died deep within a Run."""
    with pytest.raises(ScenarioError) as refused:
        NodeGroup("g", **given)
    assert str(refused.value).startswith(said)
    assert "\nNext: say " in str(refused.value)


@each_row(
    ("groups", "settings", "said"),
    [
        (("g",), {}, "join_cloud was given 'g': expected one NodeGroup or several"),
        (
            (GROUP, None), {},
            "join_cloud was given None: expected one NodeGroup or several, after the World.\n"
            "Next: say join_cloud(world, NodeGroup('g', template=Node.of(\"any\", cpu_m=4000))).",
        ),
        ((), {}, "join_cloud was given no group: expected one NodeGroup or several"),
        ((GROUP,), {"quota": 5}, "join_cloud was given quota=5: expected a CloudQuota.\nNext: say"),
        ((attrs.evolve(GROUP, naming="rising"),), {"machine": Machine}, "join_cloud was given the"),
        ((NodeGroup("g", target=1),), {}, "join_cloud was given the group 'g' with target=1"),
    ],
)  # fmt: skip
def test_a_cloud_that_cannot_be_joined_says_so(
    groups: tuple[Any, ...], settings: dict[str, Any], said: str
) -> None:
    """Kubelets need slots, and nodes that are there a template; a cloud needs a group."""
    with pytest.raises(ScenarioError) as refused:
        join_cloud(World("w"), *groups, **settings)
    assert str(refused.value).startswith(said)


async def adjust(client: Client, min_size: int) -> None:
    """What an operator does."""
    body = Map(min_size=min_size)
    await client.ask(Operation("adjust", "nodegroups", "g", body=body, endpoint="cloud"))


def test_an_operator_is_refused_what_a_scenario_could_not_say() -> None:
    """By the provider's API: its Run goes on."""
    world = World("cloud")
    world.serve(ApiServer)

    async def do(client: Client) -> None:
        with pytest.raises(Invalid, match="min_size is 11 and max_size is 10"):
            await adjust(client, 11)
        await adjust(client, 10)

    join_cloud(world, GROUP)
    world.start(Puppet("ann", do))
    assert world.run(Calm()).is_held
    assert world.store.peek("nodegroups/g").value.min_size == 10  # type: ignore[union-attr]


@each_row(
    ("boots", "said"), [((), "()"), (None, "None"), ([Boot()], "list(…)"), (Boot(), "Boot(…)")]
)
def test_a_cloud_of_ones_own_that_says_no_boot_is_told(boots: Any, said: str) -> None:
    """By its class and its method, and not as a bug of ours."""
    own = type("Mine", (Cloud,), {"boots_for": lambda self, group, number, now_ms: boots})
    world = World("cloud")
    world.serve(ApiServer)
    join_cloud(world, GROUP, cloud=own)
    world.start(Puppet("ann", lambda client: increase(client, "g", 1)))
    with pytest.raises(ScenarioError) as refused:
        world.run(Calm())
    assert f"Mine.boots_for returned {said} for 'g': expected a tuple of at" in str(refused.value)
