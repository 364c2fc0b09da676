"""Overspent: a kubelet's eviction is named if the budget of the pod allowed none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from testbed.choosers.calm import Calm
from testbed.client.client import Client
from testbed.invariant import Claim, Evidence, Invariant, always, quiescent
from testbed.objects import LabelSelector, Map, Pod, PodDisruptionBudget, PodDisruptionBudgetSpec
from testbed.story.cause import Cause, CauseShape
from testbed.story.opening import cause_of
from testbed.story.slice import Slice
from testbed.turns.trace import Trace
from tests.each_row import each_row
from tests.shared.stage import world_of

LABELS = Map(app="web")


@attrs.frozen
class Story:
    """A budget is counted, and then a kubelet lets a pod fail."""

    phase: str = "Running"
    allowed: int = 0
    reason: str = "Evicted"
    said: str = "1 of 2 is left"
    claimed: Callable[[Claim], Invariant] = always

    def cause(self) -> Cause:
        """What the story opens with."""
        world = world_of(disruption=self.count, kubelet=self.end)
        pod = Pod.of("web-1", node_name="n1", labels=LABELS)
        world.add(attrs.evolve(pod, status=attrs.evolve(pod.status, phase=self.phase)))
        selector = LabelSelector(LABELS)
        world.add(PodDisruptionBudget("web", spec=PodDisruptionBudgetSpec(2, selector=selector)))

        def nothing_fails(see: Evidence) -> str | None:
            pod: Any = see.store.peek("pods/default/web-1")
            return self.said if pod.value.status.phase == "Failed" else None

        world.claim(self.claimed(nothing_fails))
        trace = Trace({}, keep=True)
        (violation,) = world.run(Calm(), driver="direct", trace=trace).violations
        assert violation.said == self.said
        cause = cause_of(Slice(trace, violation))
        assert cause is not None
        return cause

    async def count(self, client: Client) -> None:
        """Write down what is allowed."""
        budget: Any = await client.get(PodDisruptionBudget, "web")
        counts = attrs.evolve(
            budget.status, disruptions_allowed=self.allowed, expected_pods=2, current_healthy=2
        )
        await client.update(attrs.evolve(budget, status=counts))

    async def end(self, client: Client) -> None:
        """Let the pod fail."""
        await client.sleep(1000)
        pod: Any = await client.get(Pod, "web-1")
        status = attrs.evolve(pod.status, phase="Failed", reason=self.reason)
        await client.update(attrs.evolve(pod, status=status))


def test_who_evicted_is_named_though_the_claim_names_nothing() -> None:
    """With the count by which the budget allowed nothing."""
    cause = Story().cause()
    assert (cause.shape, cause.actor) == (CauseShape.UNREAD, "kubelet")
    assert cause.text == (
        'kubelet set status.reason of pods/default/web-1 to "Evicted" (step 10), though '
        "poddisruptionbudgets/default/web allowed no disruption since disruption updated it at "
        "rv 4 (step 4); an eviction by a kubelet asks no budget."
    )


def test_the_budget_itself_may_be_named() -> None:
    """As by a claim that says which one is overspent."""
    cause = Story(said="poddisruptionbudgets/default/web is overspent").cause()
    assert (cause.shape, cause.actor) == (CauseShape.UNREAD, "kubelet")
    assert "asks no budget" in cause.text


@each_row(
    "story",
    [
        Story(allowed=1),
        Story(phase="Pending", reason="OutOfcpu"),
        Story(reason=""),
        Story(said="nodes/n1 is in trouble, says disruption"),
        Story(said="pods/default/web-1 has failed"),
        Story(claimed=quiescent),
    ],
    ids=[
        "it allowed one",
        "it was refused",
        "it ended by itself",
        "of a node",
        "of the pod",
        "found later",
    ],
)
def test_what_spends_nothing_is_not_blamed_on_it(story: Story) -> None:
    """A disruption was allowed, or it was none; or the claim is of something else."""
    assert "disruption since" not in story.cause().text
