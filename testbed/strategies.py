"""The hypothesis door: Runs and fault budgets as `@given` draws them.

    @given(run=runs("lost_update"))
    def test_no_update_is_lost(run):
        run.must_hold()

Hypothesis draws every choice of a Run, and which faults it may see; it shrinks what was drawn to
build the World and what was chosen in it together, toward the small and the calm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
from hypothesis import event
from hypothesis import strategies as st
from hypothesis.control import current_build_context
from hypothesis.strategies import SearchStrategy

from testbed.choosers.drawn import DRAWS_MAX, Drawn
from testbed.errors import ScenarioError
from testbed.fault import Fault
from testbed.fault_kinds import parse_fault
from testbed.run import Recipe, Run, faults_of, play, recipe_of
from testbed.world import World

__all__ = ["fault_budgets", "runs"]

WORDS = ("crash", "lose_reply", "lose_request", "break_watch", "stall")
"""What `fault_budgets` draws from if nothing else is said."""
Drawable = Mapping[str, Any] | SearchStrategy[Mapping[str, Any]] | None
Budget = Sequence[Fault | str] | SearchStrategy[list[Fault]]


@attrs.frozen
class _Draws:
    """What `Drawn` draws from: a strategy's own `draw`, which says nothing of each number."""

    draw: Callable[[SearchStrategy[Any]], Any]


def runs(
    scenario: Recipe | None = None,
    *,
    build: SearchStrategy[Callable[[World], None]] | None = None,
    switches: Drawable = None,
    faults: Budget = (),
    driver: str = "direct",
    draws_max: int = DRAWS_MAX,
) -> SearchStrategy[Run]:
    """Runs of a scenario: a function, a short name or `module:function`; or of one that `build`
    draws. `switches` and `faults` are given, or drawn."""
    if (scenario is None) == (build is None):
        raise ScenarioError(
            "runs(…) was given both a scenario and a build, or neither: expected one of them.\n"
            'Next: write runs("lost_update"), or runs(build=…) with a strategy that draws a '
            "function of a World."
        )
    recipe = None if scenario is None else recipe_of(scenario)

    @st.composite
    def drawn(draw: st.DrawFn) -> Run:
        made = recipe if build is None else draw(build)
        assert made is not None
        given = draw(switches) if isinstance(switches, SearchStrategy) else switches
        allowed = draw(faults) if isinstance(faults, SearchStrategy) else faults_of(faults)
        chooser = Drawn(_Draws(draw), draws_max=draws_max)
        run = play(made, chooser, switches=given, faults=allowed, driver=driver)
        event(f"{run.recipe.name}: {run.verdict.outcome}")
        is_last = getattr(current_build_context(), "is_final", True)
        return attrs.evolve(run, is_last=is_last)

    return drawn()


def fault_budgets(
    *faults: str | Fault, count_max: int = 2, times_max: int = 2
) -> SearchStrategy[list[Fault]]:
    """Lists of Faults a World may allow: mostly none or one, each once or a few times; of those
    named, or else of the common ones against anybody."""
    named = [parse_fault(fault) if isinstance(fault, str) else fault for fault in faults or WORDS]

    def so_often(fault: Fault, times: int) -> Fault:
        return attrs.evolve(fault, times_max=times)

    one = st.builds(so_often, st.sampled_from(named), st.integers(1, times_max))
    return st.one_of(
        st.just([]),
        st.lists(one, min_size=1, max_size=1),
        st.lists(one, max_size=count_max, unique_by=lambda fault: (fault.word, fault.target)),
    )
