"""Trying: what a Run raises is no breach, unless it says that no Run can be believed."""

from __future__ import annotations

from typing import Any

import pytest

from testbed import Client, Evidence, World, always
from testbed.choosers.calm import Calm
from testbed.errors import HarnessBug, ReplayDiverged, ScenarioError
from testbed.objects import Note
from testbed.races.race import Race
from testbed.races.trying import Limits, Trying
from testbed.turns.verdict import Violation
from testbed.world.scenario import of
from tests.each_row import each_row
from tests.shared.stage import Puppet, note


def trying_with(raised: Exception) -> Trying:
    """Of a scenario with a claim that raises this."""

    def claim(see: Evidence) -> str | None:
        raise raised

    async def write(client: Client) -> None:
        await client.create(Note("m"))

    def build(world: World) -> None:
        world.add(note("n"))
        world.start(Puppet("alpha", write))
        world.claim(always(claim))

    recipe = of(build)
    violation = Violation("claim", "it is wrong", 1, 0)
    return Trying(recipe, {}, violation, Limits(100))


WAYS: list[Any] = [
    lambda trying: trying.verdict(Race("r")),
    lambda trying: trying.kept(Race("r")),
    lambda trying: trying.run(Race("r"), Calm()),
]


@each_row("way", WAYS)
@each_row("raised", [KeyError("gone"), ScenarioError("gone")])
def test_what_the_scenario_raises_is_no_breach(way: Any, raised: Exception) -> None:
    """What it needs may have been left out."""
    assert way(trying_with(raised)) is None


@each_row("way", WAYS)
@each_row("raised", [HarnessBug("broken"), ReplayDiverged("otherwise")])
def test_that_no_run_can_be_believed_ends_the_shrink(way: Any, raised: Exception) -> None:
    """A bug of the testbed, and a Run that the World alone does not decide."""
    with pytest.raises(type(raised)):
        way(trying_with(raised))
