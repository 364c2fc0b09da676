"""bound_after_restart: an old bind that takes effect, or is refused, when its place is taken."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.races.playing import Played, play
from testbed.story.cause import CauseShape
from testbed.world.scenario import find
from tests.models.truths import cause_in
from tests.models.worlds.shelved import race_named

RECIPE = find("bound_after_restart")
RACE = race_named("bound_after_restart")


def bound(played: Played) -> list[str]:
    """When which pod was bound."""
    found = []
    for change in played.world.store.log("pods").changes:
        old: Any = change.before
        new: Any = change.after
        if old is not None and new is not None and new.is_bound and not old.is_bound:
            found.append(f"{new.meta.name} at rv {change.revision}")
    return found


@pytest.mark.spec("SCH-120", "SCH-44", "API-20")
def test_the_old_bind_comes_last_and_takes_effect() -> None:
    """Eleven seconds after it was decided: the urgent pod is there for eight of them."""
    played = play(RACE, RECIPE, switches={"guard": "off"})
    (violation,) = played.verdict.violations
    assert (bound(played), violation.now_ms) == (["urgent at rv 6", "first at rv 10"], 11_000)
    cause = cause_in(played.trace, violation)
    assert cause.shape is CauseShape.DID_IT_HAPPEN
    assert "not knowing of its bind of pods/default/first before it crashed" in cause.text


@pytest.mark.spec("SCH-120", "INV-41")
def test_a_server_that_looks_at_the_node_refuses_it() -> None:
    """Nobody is told, for who asked is dead; and the first pod waits for room."""
    played = play(RACE, RECIPE, switches={"guard": "on"})
    assert played.verdict.is_held, str(played.verdict)
    assert bound(played) == ["urgent at rv 6"]
    first = played.world.store.peek("pods/default/first")
    assert first is not None
    assert not first.value.is_bound  # type: ignore[attr-defined]
