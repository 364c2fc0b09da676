"""blind_scheduler: bound to a full node again and again, since nothing ever tells; a race ends."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.races.playing import play
from testbed.races.racefile import parse
from testbed.world.scenario import find
from testbed.world.world import World

RECIPE = find("blind_scheduler")


def fates(world: World) -> list[tuple[str, str]]:
    """Of each pod of web that is bound, in the order of its bind: its node, and what it is."""
    found: dict[str, tuple[str, str]] = {}
    for change in world.store.log("pods").changes:
        pod: Any = change.new.value if change.new is not None else None
        if pod is not None and pod.key.startswith("pods/default/web-") and pod.spec.node_name:
            found[pod.key] = (pod.spec.node_name, pod.status.reason or pod.status.phase)
    return list(found.values())


@pytest.mark.spec("SCH-2", "KUB-8")
def test_it_binds_to_the_full_node_as_fast_as_pods_are_created() -> None:
    """Nobody is late. Each pod of the ReplicaSet is rejected, all within one instant, and none ever
    comes to the node that has room."""
    world = RECIPE.world({"guard": "off"})
    world.goes_on = True
    verdict = world.run(Calm(), driver="direct")
    (violation,) = verdict.violations
    assert violation.said == (
        "alpha bound pods/default/web-l86l7 to n1, which pods/default/batch has filled since "
        "before it was created"
    )
    *rejected, _ = fates(world)
    assert (set(rejected), len(rejected)) == ({("n1", "OutOfcpu")}, 83)
    assert (verdict.end.partition(":")[0], verdict.virtual_ms) == ("turns_max", 2000)


@pytest.mark.spec("SCH-2")
def test_told_of_all_pods_it_goes_to_the_other_node_at_once() -> None:
    """Whatever the order of things: web runs in the end, and so does batch, if it was first."""
    for chooser in (Calm(), *map(Uniform, range(4))):
        world = RECIPE.world({"guard": "on"})
        assert world.run(chooser, driver="direct").is_held
        assert fates(world)[-1] == ("n2", "Running")


@pytest.mark.spec("SCH-110")
def test_news_that_is_only_late_is_no_breach_and_costs_one_pod() -> None:
    """A race of the same two: it is rejected once, and then alpha has heard of batch."""
    text = (
        "scenario: blind_scheduler\nholds:\n"
        "  - hold: beta bind pods/default/batch\n"
        "    until: delivery of pods/default/web-* to alpha\n"
        "  - hold: delivery of pods/default/batch#2 to alpha\n"
        "    until: alpha bind pods/default/web-*\n"
    )
    played = play(parse(text, "race"), RECIPE, switches={"guard": "on"})
    assert played.verdict.is_held, str(played.verdict)
    assert fates(played.world) == [("n1", "OutOfcpu"), ("n2", "Running")]
