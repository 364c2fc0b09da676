"""drained_in_turn: the second drain waits for its turn; where nothing is compared, it does not."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from actors.apiserver.call import Call
from actors.apiserver.mutants import WritesNoBudget, evict_by, with_verb
from actors.apiserver.verbs import evict as evicting
from scenarios.budgets import drained_in_turn
from testbed import World
from testbed.choosers.calm import Calm
from testbed.races.playing import play
from testbed.races.racefile import parse
from testbed.store.endpoint import Handler
from testbed.turns.trace import Trace
from testbed.world.scenario import find

RECIPE = find("drained_in_turn")
EVICT = "create/eviction"
AT_ONCE = """
scenario: drained_in_turn
holds:
  - hold: drain-n2 evict.2 pods/default/web-2
    until: drain-n1 evict pods/default/web-1
"""
"""Both evictions have read the budget when the first takes a disruption from it."""


def take_blindly(call: Call, pod: Any, budget: Any) -> Handler:
    """Writes the budget without a look at its revision."""
    call.put(evicting._reduced(call, pod, budget))
    return call
    yield


def broken(world: World) -> list[str]:
    """The claims that the calm Run breaks, each once, in order."""
    world.goes_on = True
    verdict = world.run(Calm(), driver="direct")
    return list(dict.fromkeys(violation.invariant for violation in verdict.violations))


@pytest.mark.spec("API-36", "API-37")
def test_the_second_drain_is_refused_until_there_is_another_pod() -> None:
    """The first node is drained at once; the other when the new pod is ready, five seconds after
    the budget has refused."""
    world, trace = RECIPE.world(), Trace({}, keep=True)
    assert world.run(Calm(), driver="direct", trace=trace).is_held
    records = [(each.now_ms, each.facts["node"]) for each in world.table.records
               if each.name == "drained"]  # fmt: skip
    assert records == [(1_000, "n2"), (6_000, "n1")]
    refused = [step for step in trace.steps if "TooManyRequests" in str(step.outcome)]
    assert {step.option.actor for step in refused} == {"drain-n1"}
    pods: list[Any] = [entry.value for entry in world.store.snapshot("pods/")]
    assert [(pod.spec.node_name, pod.is_ready) for pod in pods] == [("n3", True)] * 2


@pytest.mark.spec("API-37", "CTL-23")
def test_two_evictions_that_compare_nothing_take_one_disruption_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In the same race in which the second reads the budget again, and is refused."""
    race = parse(AT_ONCE, "at once")
    assert play(race, RECIPE).verdict.is_held
    monkeypatch.setattr(evicting, "_take", take_blindly)
    assert [each.invariant for each in play(race, RECIPE).verdict.violations] == [
        "evictions_keep_to_budgets"
    ]


def test_drains_that_delete_ask_nobody() -> None:
    """With `--disable-eviction` both pods go at once."""
    assert broken(RECIPE.world({"disable_eviction": "on"})) == ["the_application_stays_up"]


@pytest.mark.spec("INV-33")
def test_an_eviction_that_writes_no_budget_breaks_the_other_claim(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Even where the application stays up."""
    server = with_verb(EVICT, partial(evict_by, WritesNoBudget))
    monkeypatch.setattr(drained_in_turn, "ApiServer", server)
    assert broken(RECIPE.world()) == ["evictions_keep_to_budgets"]
