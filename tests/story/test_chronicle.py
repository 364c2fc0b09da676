"""Chronicle: a lesson is told second by second, by what is seen of the cluster from outside."""

from __future__ import annotations

import pytest

from testbed.choosers.calm import Calm
from testbed.races.playing import play
from testbed.races.racefile import parse
from testbed.story.chronicle import LINES_MAX, WIDTH, chronicle
from testbed.turns.trace import Trace
from testbed.world.scenario import find, known
from testbed.world.shelf import LESSON, Page
from testbed.world.world import World
from tests.shared.golden import Stories

CRASH = """\
scenario: makes_room
faults:
  - crash: default-scheduler
    after: default-scheduler patch pods/default/c/status
    restart: 1s
"""


def told(world: World) -> str:
    """The chronicle of its calm Run."""
    trace = Trace({}, keep=True)
    world.run(Calm(), driver="direct", trace=trace)
    return chronicle(trace)


def test_a_lesson_is_told_as_before(stories: Stories, subtests: pytest.Subtests) -> None:
    """Each in few lines that are not too wide."""
    lessons = [each for each in known() if Page.of(each).kind == LESSON]
    assert len(lessons) > 10
    for scenario in lessons:
        with subtests.test(scenario.name):
            text = told(scenario.world())
            assert max(map(len, text.splitlines())) <= WIDTH
            assert len(text.splitlines()) <= 45
            stories.check(f"lessons/{scenario.name}", text)


def test_what_is_long_is_cut_with_the_number_of_lines() -> None:
    """So a reader knows."""
    text = told(find("who_preempts").world({"guard": "on"}))
    *_, last = text.splitlines()
    assert len(text.splitlines()) == LINES_MAX + 1
    assert last.strip().startswith("… ")
    assert last.endswith(" more lines")


def test_a_fault_is_told() -> None:
    """And that who was struck began again."""
    race = parse(CRASH, "crash")
    text = chronicle(play(race, find("makes_room")).trace)
    assert "default-scheduler crashed." in text
    assert "default-scheduler began again, knowing nothing." in text
