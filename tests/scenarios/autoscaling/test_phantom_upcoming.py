"""phantom_upcoming: a node that goes looks like one that comes; unless the provider can tell."""

from __future__ import annotations

import pytest

from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.races.playing import play
from testbed.races.racefile import parse
from testbed.world.scenario import find, play_runs
from testbed.world.world import World

RECIPE = find("phantom_upcoming")


def outcomes(runs: int, chooser: Calm | Uniform) -> list[str]:
    """What that many unguarded Runs come to: which claim is breached, or the outcome."""
    found: list[str] = []

    def look(world: World) -> bool:
        assert world.verdict is not None
        breached = [each.invariant for each in world.verdict.violations]
        found.append(breached[0] if breached else world.verdict.outcome)
        return True

    play_runs(RECIPE, chooser, look, runs_max=runs, driver="direct")
    return found


@pytest.mark.spec("CA-21")
def test_a_pod_that_comes_after_the_drain_gets_its_node() -> None:
    """The calm run holds: it matters when the pod comes."""
    assert outcomes(1, Calm()) == ["held"]


@pytest.mark.spec("CA-21", "INV-36")
def test_a_pod_that_comes_in_the_drain_is_passed_over() -> None:
    """Pass after pass puts it on a node that never comes."""
    assert set(outcomes(12, Uniform(1))) == {"held", "groups_grow_for_who_waits"}


def test_a_pass_that_has_not_heard_that_a_node_is_gone_is_no_breach() -> None:
    """It finds room there. Of 100,000 Runs with guards on, one told that as a breach."""
    race = parse(
        "scenario: phantom_upcoming\nswitches: {guard: on}\nholds:\n"
        "  - hold: delivery of nodes/g-2 to autoscaler\n"
        "    until: quiet\n"
        "  - hold: kubelet-g-2 patch pods/default/moves/status#2\n"
        "    until: answer to autoscaler get pods/default/moves#7\n"
        "  - hold: autoscaler get pods/default/moves#8\n"
        "    until: answer to autoscaler groups nodegroups#6\n",
        "late",
    )
    played = play(race, find("phantom_upcoming"))
    assert played.verdict.is_held
    assert all(fate.matched for fate in played.fates)
