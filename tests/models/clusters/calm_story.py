"""Calm story: the calm Run of a scenario, and what is to be seen of it from outside."""

from __future__ import annotations

from testbed.choosers.calm import Calm
from testbed.turns.trace import Trace
from testbed.world.scenario import find
from testbed.world.world import World
from tests.models.visible import visible


def calm_story(name: str, switches: dict[str, str] | None = None) -> tuple[str, list[str]]:
    """What the claims of a scenario found wrong in its calm Run, empty if nothing; and its events,
    each with its second: `31 remove b`."""
    return story_of(find(name).world(switches))


def story_of(world: World) -> tuple[str, list[str]]:
    """The same for a World that is assembled."""
    verdict = world.run(Calm(), driver="direct", trace=Trace({}, keep=True))
    assert verdict.is_held or verdict.is_violated, str(verdict)
    return "; ".join(each.said for each in verdict.violations), visible(world)
