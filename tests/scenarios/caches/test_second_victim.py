"""second_victim: after the restart another pod goes as well, or the first one is waited for."""

from __future__ import annotations

import pytest

from testbed.races.playing import Played, play
from testbed.races.racefile import parse
from testbed.story.cause import CauseShape
from testbed.world.scenario import find
from tests.models.truths import cause_in
from tests.models.worlds.shelved import race_named

RECIPE = find("second_victim")
RACE = race_named("second_victim")
LATE = """
scenario: second_victim
holds:
  - hold: default-scheduler delete pods/default/web-1
    until: default-scheduler@2 list pods
  - hold: delivery of pods/default/web-1 to default-scheduler@2
    until: 3s
faults:
  - crash: default-scheduler
    after: answer to default-scheduler patch pods/default/web-1/status
    restart: 0ms
"""


def decided(played: Played) -> list[str]:
    """When what was decided for the urgent pod."""
    records = (r for r in played.world.table.records if r.name == "cycle")
    return [f"{record.now_ms} {record.facts['said'].partition(':')[0]}" for record in records]


@pytest.mark.spec("SCH-117", "SCH-75")
def test_the_next_life_takes_another_pod_from_another_node() -> None:
    """For the one that is going anyhow, the budget that it has spent is what counts."""
    played = play(RACE, RECIPE, switches={"guard": "off"}, goes_on=True)
    assert decided(played) == [
        "1000 made room for pods/default/urgent on n1, where pods/default/web-1 goes",
        "6000 made room for pods/default/urgent on n2, where pods/default/batch goes",
        "31000 chose n1 for pods/default/urgent",
    ]  # fmt: skip


def test_the_story_begins_with_what_was_half_done() -> None:
    """The delete, and the crash after it."""
    played = play(RACE, RECIPE, switches={"guard": "off"})
    cause = cause_in(played.trace, played.verdict.violations[0])
    assert (cause.shape, cause.did) == (CauseShape.HALF_DONE, "delete pods/default/web-1")
    assert "marked pods/default/web-1 for deletion" in cause.text
    assert "crashed" in cause.text


@pytest.mark.spec("SCH-118", "SCH-72")
def test_a_nomination_that_was_written_first_is_waited_for() -> None:
    """The urgent pod runs in the place of web-1, and batch stays."""
    played = play(RACE, RECIPE, switches={"guard": "on"})
    assert played.verdict.is_held, str(played.verdict)
    assert [said.partition(" for ")[0] for said in decided(played)] == [
        "1000 made room", "6000 found no node", "31000 chose n1",
    ]  # fmt: skip
    left = [entry.key for entry in played.world.store.snapshot("pods/")]
    assert left == [f"pods/default/{name}" for name in ("batch", "urgent", "web-2")]


@pytest.mark.spec("SCH-117", "SCH-120")
def test_a_delete_that_is_under_way_at_the_crash_takes_no_second_pod() -> None:
    """It takes effect in the next life, which hears of the spent budget first. By the budget it
    would take batch, but the urgent pod is nominated: so it deletes web-1 again, in vain."""
    played = play(parse(LATE, "late"), RECIPE, switches={"guard": "on"})
    assert played.verdict.is_held, str(played.verdict)
    assert all(fate.took_place for fate in played.fates)
    assert decided(played) == [
        "1000 made room for pods/default/urgent on n1, where pods/default/web-1 goes",
        "1000 made room for pods/default/urgent on n1, where pods/default/web-1 goes",
        "31000 chose n1 for pods/default/urgent",
    ]  # fmt: skip
    told = [r.said for r in played.world.table.records if r.name == "cycle"]
    assert told[1].endswith("it was nominated there")
