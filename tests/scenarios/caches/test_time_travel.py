"""time_travel: a kubelet that goes back in time runs what is gone, and one that asks does not."""

from __future__ import annotations

import pytest

from testbed.choosers.urw import URW
from testbed.invariant import Verdict
from testbed.world.scenario import find, play_runs
from testbed.world.world import World


def verdicts(guard: bool, runs: int) -> list[Verdict]:
    """What that many Runs of URW show."""
    seen: list[Verdict] = []

    def look(world: World) -> bool:
        assert world.verdict is not None
        seen.append(world.verdict)
        return True

    switches = {"guard": "on" if guard else "off"}
    play_runs(find("time_travel"), URW(1), look, runs_max=runs, switches=switches, driver="direct")
    return seen


@pytest.mark.spec("API-50", "API-54", "INV-5")
def test_a_kubelet_that_restarts_at_a_server_that_is_behind_runs_a_pod_twice() -> None:
    """It lists at revision 0 what that server has read, which is older than what it knew."""
    found = [v for v in verdicts(False, 40) if not v.is_held]
    assert found
    assert {str(v.violations[0].invariant) for v in found} == {"no_name_runs_twice"}


@pytest.mark.spec("API-39", "API-51")
def test_a_kubelet_that_asks_the_store_itself_does_not() -> None:
    """A list without a revision is never of the past, whichever server answers."""
    assert all(verdict.is_held for verdict in verdicts(True, 150))
