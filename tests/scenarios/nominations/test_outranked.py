"""outranked: the room of a nominated pod goes to a more important one."""

from __future__ import annotations

import pytest

from tests.models.clusters.calm_story import calm_story


@pytest.mark.spec("SCH-75", "SCH-100")
def test_f_takes_over_the_room_and_the_nomination() -> None:
    """A and B are told to go twice, and get no more time; C waits, and is nominated nowhere."""
    wrong, seen = calm_story("outranked")
    assert wrong == ""
    assert seen[3:] == [
        "1 delete a until 61", "1 delete b until 31", "1 nominate c n1",
        "11 create f", "11 delete a until 61", "11 delete b until 31",
        "11 nominate c -", "11 nominate f n1",
        "31 remove b", "61 remove a", "61 bind f n1", "61 phase f Running",
    ]  # fmt: skip


def test_without_preemption_nobody_gets_the_room() -> None:
    """Which breaks the claim."""
    wrong, _ = calm_story("outranked", {"scheduler.disable_preemption": "on"})
    assert wrong == "pods/default/f, the most important pod, is not on n1"
