"""Searches of Worlds with latencies: as whole as without; what is late only waits for time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from testbed.chooser import Chooser
from testbed.choosers.bounded import Bounded
from testbed.choosers.complete import Complete
from testbed.choosers.uniform import Uniform
from testbed.world.scenario import Scenario, of, play_runs
from testbed.world.world import World
from tests.models.worlds.small_worlds import Brute, Small, Watched, outcome_of

Late = tuple[str, str, str, int]
"""What, of which actor, which part of it, and how long."""


def slow(small: Small, latencies: tuple[Late, ...]) -> Scenario:
    """That World, with latencies."""

    def build(world: World) -> None:
        small.build(world)
        for what, actor, part, ms in latencies:
            given: dict[str, Any] = {part: ms}
            world.latency(what, actor=actor, **given)

    return of(build, "slow")


def found(scenario: Scenario, chooser: Chooser, runs_max: int) -> tuple[int, set[object]]:
    """How many Runs it plays, and how they end."""
    watched, outcomes = Watched(chooser), set()

    def look(world: World) -> bool:
        outcomes.add(outcome_of(world))
        return True

    runs = play_runs(scenario, watched, look, runs_max=runs_max, driver="direct")
    return runs, outcomes


ACTIONS = st.sampled_from(
    (("get", "x"), ("update", "x"), ("swap", "x"), ("create", "y"), ("sleep", 5), ("cache",))
)
LATE = st.one_of(
    st.tuples(
        st.sampled_from(("* notes", "update notes", "get notes", "create notes/*")),
        st.sampled_from("*ab"),
        st.sampled_from(("serve_ms", "answer_ms")),
        st.sampled_from((0, 5, 10)),
    ),
    st.tuples(
        st.just("watch notes"),
        st.sampled_from("*ab"),
        st.just("deliver_ms"),
        st.sampled_from((5, 9)),
    ),
)
SMALL = st.builds(
    Small,
    st.lists(st.lists(ACTIONS, min_size=1, max_size=3).map(tuple), min_size=2, max_size=2).map(
        tuple
    ),
    turns_max=st.just(60),
)


def check(small: Small, latencies: tuple[Late, ...]) -> None:
    """Complete comes to every end that brute force comes to, as far as that gets."""
    scenario, chooser = slow(small, latencies), Complete(keeps=False)
    _, seen = found(scenario, chooser, 300)
    if not chooser.is_complete:
        return
    runs, every = found(scenario, Brute(), 600)
    assert every <= seen
    if runs < 600:
        assert seen == every
    else:
        assert found(scenario, Uniform(1), 100)[1] <= seen


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(SMALL, st.lists(LATE, max_size=3).map(tuple))
def test_complete_sees_all_of_a_slow_world(small: Small, latencies: tuple[Late, ...]) -> None:
    """Two actors, a few operations, and up to three latencies."""
    check(small, latencies)


@pytest.mark.long
@settings(max_examples=1_500, deadline=None, suppress_health_check=list(HealthCheck))
@given(SMALL, st.lists(LATE, max_size=3).map(tuple))
def test_complete_sees_all_of_many_slow_worlds(small: Small, latencies: tuple[Late, ...]) -> None:
    """The same, for some minutes."""
    check(small, latencies)


def test_latencies_take_orders_away_and_bounded_plays_what_is_left() -> None:
    """Ten milliseconds apart nothing races; and what a hold may still do is played once each."""
    small = Small(((("swap", "x"),), (("swap", "x"),)))
    apart: tuple[Late, ...] = (("* notes", "a", "serve_ms", 1), ("* notes", "b", "serve_ms", 10))
    both, calm = Complete(), Complete()
    found(slow(small, ()), both, 300)
    found(slow(small, apart), calm, 300)
    assert (both.is_complete, calm.is_complete) == (True, True)
    assert calm.classes == 1 < both.classes
    runs, ends = found(slow(small, apart), Bounded(), 2_000)
    assert runs < 2_000
    assert found(slow(small, ()), Brute(), 2_000)[1] <= ends
