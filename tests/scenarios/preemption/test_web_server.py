"""web_server: by QoS class first, the most important pod is preempted for the least."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.choosers.calm import Calm
from testbed.turns.trace import Trace
from testbed.world.scenario import find
from tests.models.truths import cause_in

RECIPE = find("web_server")


@pytest.mark.spec("CTL-56")
def test_by_class_first_the_web_server_goes_and_cannot_come_back() -> None:
    """The seed's example, in the calm run: the batch pod gets its place."""
    world = RECIPE.world({"guard": "off"})
    world.goes_on = True
    verdict = world.run(Calm(), driver="direct")
    said = "web, of priority 1000, is preempted; the others are batch: 1"
    assert verdict.violations[0].said == said
    pods: dict[str, Any] = {e.key: e.value for e in world.store.snapshot("pods/")}
    assert [pod.meta.name for pod in pods.values()] == ["batch"]
    assert pods["pods/default/batch"].status.phase == "Running"


def test_its_story_blames_the_scheduler() -> None:
    """And not the user, who has never read the web server: a user goes by nothing that it reads."""
    world = RECIPE.world({"guard": "off"})
    trace = Trace({}, keep=True)
    (violation,) = world.run(Calm(), driver="direct", trace=trace).violations
    assert cause_in(trace, violation).actor == "default-scheduler"
