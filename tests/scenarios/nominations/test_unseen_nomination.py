"""unseen_nomination: room given away, and a reservation that helps nobody; or kept from memory."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.races.playing import Played, play
from testbed.races.racefile import parse
from testbed.world.scenario import find
from testbed.world.world import World
from tests.models.worlds.shelved import race_named

RECIPE = find("unseen_nomination")


def replayed(**switches: str) -> Played:
    """The race to its end, as its file has it."""
    return play(race_named("unseen_nomination"), RECIPE, switches=switches, goes_on=True)


def cycles(world: World) -> list[tuple[str, str]]:
    """Which pod was tried in each cycle, and the node it was bound or nominated to."""
    facts = [record.facts for record in world.table.records if record.name == "cycle"]
    return [(each["pod"].rpartition("/")[2], each.get("node") or each["nominated"])
            for each in facts]  # fmt: skip


def node_of(world: World, name: str) -> str:
    """Where a pod is bound in the end; empty: nowhere."""
    entry: Any = world.store.peek(f"pods/default/{name}")
    node: str = entry.value.spec.node_name
    return node


@pytest.mark.spec("SCH-48", "SCH-59")
def test_what_is_left_of_the_room_is_of_use_to_nobody() -> None:
    """As the issue tells it: one small pod is in; the large one does not fit; and its nomination
    has kept away the next small one, which nothing tries again, with three cores free."""
    played = replayed(guard="off")
    (violation,) = played.verdict.violations
    assert violation.said == (
        "room was made on n1 for pods/default/large, and pods/default/small-1 has taken it"
    )
    world = played.world
    assert cycles(world) == [("large", "n1"), ("small-1", "n1"), ("small-2", ""), ("large", "")]
    assert [node_of(world, name) for name in ("large", "small-1", "small-2")] == ["", "n1", ""]


@pytest.mark.spec("SCH-48", "SCH-101")
def test_counted_at_once_the_nomination_keeps_the_room() -> None:
    """Under the same race, and whatever the order: the large pod is bound, and no small one."""
    worlds = [replayed(guard="on").world]
    for chooser in (Calm(), *map(Uniform, range(5))):
        worlds.append(RECIPE.world({"guard": "on"}))
        assert worlds[-1].run(chooser, driver="direct").is_held
    for world in worlds:
        ends = [node_of(world, name) for name in ("large", "small-1", "small-2")]
        assert ends == ["n1", "", ""]


@pytest.mark.spec("SCH-99")
def test_room_that_could_not_be_made_may_be_taken() -> None:
    """If the answer to its delete is lost, the scheduler does not know that the victim is gone, and
    nominates nobody. Then no claim fires, although a small pod is bound."""
    text = (
        "scenario: unseen_nomination\nfaults:\n"
        "  - lose_reply: default-scheduler delete pods/default/victim\n"
    )
    played = play(parse(text, "race"), RECIPE, switches={"guard": "on"})
    assert played.verdict.is_held, str(played.verdict)
    assert cycles(played.world)[:2] == [("large", "n1"), ("small-1", "n1")]
