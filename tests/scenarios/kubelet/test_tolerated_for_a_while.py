"""tolerated_for_a_while: bound, evicted after ten seconds, and so on; or kept on another node."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.races.playing import play
from testbed.story.cause import CauseShape
from testbed.turns.trace import Trace
from testbed.world.scenario import find
from testbed.world.world import World
from tests.models.truths import cause_in
from tests.models.worlds.shelved import race_named

RECIPE = find("tolerated_for_a_while")
RACE = race_named("tolerated_for_a_while")


def stays(world: World) -> list[tuple[str, int | None]]:
    """The node of each pod that was bound, in turn, and how many milliseconds after its creation it
    was deleted; None: it was not."""
    found: dict[str, tuple[str, int | None]] = {}
    for change in world.store.log("pods").changes:
        pod: Any = change.new.value if change.new is not None else None
        if pod is not None and pod.spec.node_name:
            gone_ms = pod.meta.deleted_ms
            lasted_ms = None if gone_ms is None else gone_ms - pod.meta.created_ms
            found[pod.key] = (pod.spec.node_name, lasted_ms)
    return list(found.values())


@pytest.mark.spec("CTL-34")
def test_each_pod_is_there_for_ten_seconds_and_the_next_one_comes_there_again() -> None:
    """As the issue tells it: nobody is late, and the lap is proved to have no end."""
    played = play(RACE, RECIPE, switches={"guard": "off"})
    (violation,) = played.verdict.violations
    assert "for ever, a lap of 27 writes in 30,000 ms, played 3 more times" in violation.said
    assert stays(played.world) == [("n1", 10_000)] * 5


def test_the_story_names_the_taint_manager_and_the_scheduler() -> None:
    """Of all that is written in a lap, these two undo each other's work."""
    trace = Trace({}, keep=True)
    verdict = RECIPE.world().run(Calm(), driver="direct", trace=trace)
    cause = cause_in(trace, verdict.violations[0])
    assert (cause.shape, cause.actor) == (CauseShape.DISAGREE, "taint-eviction")
    assert cause.text.startswith(
        "taint-eviction removes pods that default-scheduler binds to n1, and replicasets"
    )


@pytest.mark.spec("CTL-34", "SCH-22")
def test_a_second_taint_that_is_for_the_scheduler_ends_it() -> None:
    """The one pod that there is comes to the other node, and stays there."""
    for chooser in (Calm(), *map(Uniform, range(5))):
        world = RECIPE.world({"guard": "on"})
        verdict = world.run(chooser, driver="direct")
        assert verdict.is_held, str(verdict)
        assert stays(world) == [("n2", None)]
