"""restart_readmission: a kubelet comes back, and a pod that has run all the while is failed."""

from __future__ import annotations

import pytest

from testbed.choosers.struck import Struck
from testbed.world.scenario import find
from tests.shared.strike import at_every_turn

RECIPE = find("restart_readmission")


def outcomes(guard: str) -> set[str]:
    """What the calm run comes to, with a crash at one of its turns."""
    seen: set[str] = set()

    def play(chooser: Struck) -> None:
        verdict = RECIPE.world({"guard": guard}).run(chooser, driver="direct")
        seen.update(violation.said for violation in verdict.violations)
        seen.update(() if verdict.is_violated else [verdict.outcome])

    assert sum(c.has_struck for c in at_every_turn("crash kubelet-n1", play, stride=9)) > 10
    return seen


@pytest.mark.spec("KUB-3", "KUB-43")
def test_a_kubelet_that_counts_what_is_over_fails_what_runs() -> None:
    """If it crashes while the service runs; the two jobs have completed long since."""
    assert outcomes("off") == {
        "held",
        "pods/default/web was Running and has Failed: Pod was rejected: Node didn't have enough "
        "resource: cpu, requested: 400, used: 800, capacity: 1000",
    }


@pytest.mark.spec("KUB-3", "KUB-43")
def test_a_kubelet_that_does_not_fails_nothing() -> None:
    """Wherever it crashes."""
    assert outcomes("on") == {"held"}
