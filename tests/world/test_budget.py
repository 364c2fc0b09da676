"""Budget: what a limit may be."""

from __future__ import annotations

import pytest

from testbed import World
from testbed.errors import ScenarioError
from tests.each_row import each_row


@each_row("name", ["turns_max", "instant_turns_max"])
def test_a_limit_of_no_turns_is_refused(name: str) -> None:
    """A Chooser that is told 0 takes it for no limit."""
    world = World()
    for limit in (0, -1, True, None):
        with pytest.raises(
            ScenarioError, match=rf"limit\({name}=.*: expected a whole number from 1"
        ):
            world.limit(**{name: limit})
    world.limit(**{name: 1}, virtual_ms_max=0, until_ms=0, delay_max_ms=0)
