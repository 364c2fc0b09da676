"""grown_once: one node is asked for, and it stays; an autoscaler that forgets breaks either."""

from __future__ import annotations

import pytest

from actors.autoscaler import Autoscaler
from actors.autoscaler.growth_mutants import LosesPlaces, forgetful, growing_with
from scenarios.autoscaling import grown_once
from testbed import World
from testbed.choosers.calm import Calm
from testbed.world.scenario import find

RECIPE = find("grown_once")


def said(world: World) -> list[str]:
    """What the calm Run breaks."""
    verdict = world.run(Calm(), driver="direct")
    return [f"{each.invariant}: {each.said}, {each.now_ms} ms" for each in verdict.violations]


def losing(memory: object, actor: Autoscaler) -> None:
    """Change nothing else."""


@pytest.mark.spec("CA-13", "CA-21")
def test_the_node_is_counted_before_it_is_there_and_kept_while_it_is_empty() -> None:
    """It is asked for at 10 s. The second pass counts it as upcoming; the next two find it empty,
    the last of them two seconds before the binds arrive."""
    world = RECIPE.world()
    assert said(world) == []
    told = {
        (record.now_ms, record.name): record.said
        for record in world.table.records
        if record.path.startswith("autoscaler")
    }
    assert [key for key in told if key[1] == "wants nodes"] == [(10_000, "wants nodes")]
    no_node = "asks for no node"
    assert "seems to be on its way" in told[20_000, no_node]
    assert "it fits on g-1" in told[30_000, no_node]
    bound = {record.now_ms for record in world.table.records if record.name == "bound"}
    assert bound == {42_000}


@pytest.mark.spec("CA-21")
def test_an_autoscaler_that_forgets_what_is_upcoming_asks_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In its second pass."""
    monkeypatch.setattr(grown_once, "Autoscaler", forgetful())
    told = "one_node_is_enough: g wants 2 nodes for two pods that fit one"
    assert said(RECIPE.world()) == [f"{told}, 20000 ms"]


@pytest.mark.spec("CA-13")
def test_an_autoscaler_that_forgets_who_waits_deletes_the_node(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It takes the empty node for one that nobody needs."""
    monkeypatch.setattr(grown_once, "Autoscaler", growing_with(losing, passing=LosesPlaces))
    (told,) = said(RECIPE.world())
    assert told.startswith("no_needed_node_goes: g-1 is deleted, and pods/default/")
