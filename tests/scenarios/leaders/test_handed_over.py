"""handed_over: the late bind of the first leader is refused; without fencing it is not."""

from __future__ import annotations

from functools import partial

import pytest

from actors.apiserver.mutants import bind_anyhow, with_verb
from scenarios.leaders import handed_over
from testbed import World
from testbed.choosers.calm import Calm
from testbed.turns.trace import Trace
from testbed.world.scenario import find
from tests.shared.scheduling import pod_of

RECIPE = find("handed_over")
UNFENCED = {"scheduler.fencing": "off"}


def broken(world: World) -> list[str]:
    """What the calm Run breaks first."""
    verdict = world.run(Calm(), driver="direct")
    return [f"{each.invariant}: {each.said}" for each in verdict.violations]


@pytest.mark.spec("SCH-6", "SCH-120")
def test_the_bind_of_the_first_leader_comes_late_and_is_refused() -> None:
    """It is sent before the second leads, arrives half a second after that, and a second before the
    binds of the second, which have placed both pods anew."""
    world, trace = RECIPE.world(), Trace({}, keep=True)
    assert world.run(Calm(), driver="direct", trace=trace).is_held
    binds = [
        (step.option.actor, step.now_ms, "Conflict" in str(step.outcome))
        for step in trace.steps
        if str(step.sentence).startswith("serve ") and "create/binding" in str(step.sentence)
    ]
    first, *others = binds
    assert first == ("alpha-1", 2_500, True)
    assert others == [("alpha-2", 3_000, False)] * 2
    said = [(record.now_ms, record.path) for record in world.table.records if record.said]
    assert (1_500, "alpha-1/stop") in said
    assert (2_000, "alpha-2/main") in said
    assert [pod_of(world, name).spec.node_name for name in "ab"] == ["n2", "n1"]


@pytest.mark.spec("SCH-6", "INV-8")
def test_without_fencing_it_puts_two_pods_together() -> None:
    """The second leader has not heard of it when it decides, and the server takes it."""
    said = "pods/default/a and pods/default/b are on n1, and must be apart"
    assert broken(RECIPE.world(UNFENCED)) == [f"no_two_are_together: {said}"]


@pytest.mark.spec("INV-3")
def test_a_server_that_binds_twice_breaks_the_other_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without fencing both leaders bind the same pod, each to another node."""
    server = with_verb("create/binding", partial(bind_anyhow, twice=True))
    monkeypatch.setattr(handed_over, "ApiServer", server)
    (said,) = broken(RECIPE.world(UNFENCED))
    assert said.startswith("lives_go_one_way: pods/default/a ")
