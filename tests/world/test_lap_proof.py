"""A suspected lap in a World of its own: how it comes to where the lap begins, and what it looks at
there."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.choosers.uniform import Uniform
from testbed.invariants.lasso import no_lasso as claim
from testbed.invariants.lasso.moment import moment, outline
from testbed.turns.option import HoldBack
from testbed.world import lap_proof
from testbed.world.lap_proof import Following
from testbed.world.scenario import find, play_runs
from testbed.world.world import World

PING_PONGS = ("tug_of_war", "hostile_schedulers")


def one_run(name: str) -> None:
    """A Run of a scenario in which a ping-pong is found."""
    play_runs(find(name), Uniform(1), lambda _: True, runs_max=1, driver="direct")


class Eager(Following):
    """Holds back from the first turn on all that it passes over."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._held_from = 0


@pytest.mark.parametrize("name", PING_PONGS)
def test_what_is_passed_over_before_a_lap_is_held_when_it_begins(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the lap has the same choices as if each had been held back at its time, and most of the
    choices before it are saved."""
    leads: dict[type[Following], list[Following]] = {Following: [], Eager: []}
    run = World.run

    def note_lead(world: World, chooser: Any, **settings: Any) -> Any:
        leads[type(chooser._lead)].append(chooser._lead)
        return run(world, chooser, **settings)

    monkeypatch.setattr(World, "run", note_lead)
    one_run(name)
    monkeypatch.setattr(lap_proof, "Following", Eager)
    one_run(name)
    assert len(leads[Following]) == len(leads[Eager]) > 0
    for late, eager in zip(leads[Following], leads[Eager], strict=True):
        assert late.is_over
        assert list(late.lap) == list(eager.lap)
        assert any(isinstance(choice, HoldBack) for choice in late._made)
        assert late._evidence.laps_from < eager._evidence.laps_from


@pytest.mark.parametrize("name", PING_PONGS)
def test_equal_moments_have_equal_outlines(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And most that differ have different ones: else an outline would be good for nothing."""
    seen: dict[str, list[object]] = {}

    def note_moment(evidence: Any, *given: Any, **settings: Any) -> Any:
        now = moment(evidence, *given, **settings)
        seen.setdefault(now.digest, []).append(outline(evidence))
        return now

    monkeypatch.setattr(claim, "moment", note_moment)
    one_run(name)
    assert any(len(outlines) > 1 for outlines in seen.values())
    for outlines in seen.values():
        assert all(each == outlines[0] for each in outlines)
    several = [outlines[0] for outlines in seen.values()]
    assert any(each != several[0] for each in several)
