"""The claims hold on a node whose memory runs out, whatever else happens to it."""

from __future__ import annotations

import attrs
import pytest

from actors.kubelet.invariants import NodesStayWithinMemory
from actors.kubelet.proving_grounds.full_node import full_node
from testbed.choosers.calm import Calm
from testbed.client.client import Client
from testbed.objects import Map, Node
from testbed.turns.trace import Trace
from tests.shared.nodes import at, bound, breaches, calm, failing, node_world, pod_of, runtime

pytestmark = pytest.mark.spec("KUB-40")


GROUND = failing(full_node)


def test_the_calm_run_kills_pods_of_each_kind() -> None:
    """Of best effort, over its request, over its limit; never the guaranteed one, which grows."""
    world = GROUND.world()
    verdict = world.run(Calm(), driver="direct", trace=Trace({}, keep=True))
    assert verdict.is_held, str(verdict)
    kills = runtime(world).ooms(world.evidence.now_ms).kills
    assert {kill.pod.meta.name for kill in kills if kill.is_system} == {"best-effort", "greedy"}
    assert {kill.pod.meta.name for kill in kills if not kill.is_system} == {"leaky"}


def test_what_is_claimed_of_a_full_node_holds() -> None:
    """Usages are drawn; the kubelet crashes, is cut off, and cannot reach its runtime."""
    assert breaches(GROUND, 24, 1) == []


@pytest.mark.long
def test_what_is_claimed_of_a_full_node_holds_in_four_thousand_runs() -> None:
    """The same, for longer."""
    assert breaches(GROUND, 4000, 2) == []


def test_a_node_may_say_that_it_has_less_memory() -> None:
    """What was there is there still: it is judged by that."""

    async def shrink(client: Client) -> None:
        node = await client.get(Node, "n1")
        small = attrs.evolve(node, status=Node.of("n1", cpu_m=1000, memory=500).status)
        await client.update(small, subresource="status")
        await client.create(bound("b", 1))

    pod = bound("a", 1).with_meta(annotations=Map({"usage.testbed/memory": "800"}))
    world = node_world(pod, user=at((1000, shrink)), switches={"oom_model": "score"})
    world.claim(NodesStayWithinMemory())
    calm(world)
    assert [pod_of(world, name).status.phase for name in "ab"] == ["Running", "Running"]
