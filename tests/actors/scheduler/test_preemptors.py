"""What is claimed of schedulers holds whichever program preempts, and finds one that errs."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from actors.framework.snapshot import Snapshot
from actors.scheduler.decisions.decision import Decision
from actors.scheduler.mutants import deciding, with_parts
from actors.scheduler.proving_ground import contended_nodes
from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.objects import Map
from testbed.turns.verdict import Verdict
from testbed.world.world import World
from tests.each_row import each_row


def played(preemptor: str, chooser: Any, build: Any = contended_nodes, **more: str) -> Verdict:
    """A Run of the proving ground under that setting."""
    world = World("preemptors")
    build(world, switches=Map(preemptor=preemptor, **more))
    return world.run(chooser, driver="direct")


@pytest.mark.spec("CTL-50", "CTL-54", "INV-10", "INV-15")
@each_row("preemptor", ["rescheduler", "kubelet", "none"])
def test_every_claim_holds_whichever_program_preempts(preemptor: str) -> None:
    """Also of pods that are bound in place of others."""
    for chooser in (Calm(), Uniform(1), Uniform(2)):
        verdict = played(preemptor, chooser)
        assert verdict.is_held, str(verdict)


@pytest.mark.spec("CTL-56", "INV-10")
def test_every_claim_holds_by_class_first() -> None:
    """The order of importance is another, and victims are judged by it."""
    for chooser in (Calm(), Uniform(1)):
        verdict = played("scheduler", chooser, victim_primary="qos")
        assert verdict.is_held, str(verdict)


def crowding(decision: Decision, snapshot: Snapshot) -> Decision:
    """The pod goes to the first node in place of others, whatever is there."""
    if decision.node or not decision.refusals:
        return decision
    return attrs.evolve(decision, node=snapshot.names[0], displaces=True, nominate=None)


@pytest.mark.spec("CTL-54", "INV-15")
def test_a_pod_that_goes_in_place_of_its_betters_is_found() -> None:
    """Only pods of lower priority may be ignored."""
    verdict = played("kubelet", Calm(), with_parts(deciding(after=crowding)))
    assert [each.invariant for each in verdict.violations] == ["pods_go_where_they_fit"]
